# SPDX-License-Identifier: Apache-2.0
"""The gate of one tracker that a limb follows."""

from math import sqrt

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from teleop_system.interfaces import Pose6D
from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.modules.arm_teleop.limbs import limb_kernels as kernels
from teleop_system.modules.arm_teleop.spatial import ORIGIN, Quaternion, Vector
from teleop_system.modules.pose_gate import GateLimits, PoseGate, Sample
from teleop_system.safety.cause_log import CauseLog

Array = NDArray[np.float64]
Samples = list[Pose6D | None]

LEAP = 0.1
"""Way in [m] from one sample to the next that is worth a second look."""
FARTHEST = 1e3
"""Coordinates in [m] beyond this belong to no tracked body."""


class TrackerGate(PoseGate):
    """A `PoseGate` that keeps what it let pass as numbers.

    A body that jumped is believed once another sample has confirmed where it is, and a body beyond
    all bounds never.

    Args:
        name: The tracker, as causes should call it.
        limits: What a sample has to meet.
        row: Where the numbers are kept; see `limb_kernels`.
        slot: Where the sample itself is kept: a list, and the place in it. Whoever has seen that a
            sample passes may write both.

    Attributes:
        leaps: Whether the body moved further than `LEAP` when it was last looked at closely.
    """

    def __init__(
        self,
        name: str,
        limits: GateLimits,
        row: Array | None = None,
        slot: tuple[Samples, int] | None = None,
    ) -> None:
        own: tuple[Samples, int] = ([None], 0)
        self._samples, self._place = own if slot is None else slot
        super().__init__(name, limits)
        self._row = np.zeros(kernels.SIZE) if row is None else row
        self.reset()

    @property
    def _last(self) -> Pose6D | None:
        return self._samples[self._place]

    @_last.setter
    def _last(self, pose: Pose6D | None) -> None:
        self._samples[self._place] = pose

    @property
    def glance(self) -> Array:
        """What `limb_kernels.glance` goes by, shape (5,)."""
        limits = self._limits
        near = min(LEAP, limits.distance) ** 2
        return np.array([limits.ahead, limits.stale_after, near, self._similar, FARTHEST])

    @property
    def position(self) -> Vector:
        """Position of the newest sample that passed in [m]."""
        x, y, z = self._row[:3].tolist()
        return x, y, z

    @property
    def orientation(self) -> Quaternion:
        """Its orientation, of unit length."""
        x, y, z, w = self._row[3:7].tolist()
        return x, y, z, w

    @property
    def stamp(self) -> float:
        """Time at which it was measured in [s]."""
        return float(self._row[kernels.STAMP])

    @override
    def reset(self) -> None:
        super().reset()
        self._row[: kernels.FOLLOWED] = (*ORIGIN[0], *ORIGIN[1], 0.0)
        self.leaps = False
        self._is_sure = False

    @override
    def check(self, pose: Pose6D | None, now: float, log: CauseLog) -> Sample:
        last, self.leaps = self._last, False
        sample = super().check(pose, now, log)
        if sample is Sample.JUMPED:
            self._is_sure, self.leaps = False, True
        elif self._last is not last and self._last is not None:
            self._take(self._last, log)
        elif sample is Sample.BAD and self.age(now) <= self._limits.stale_after:
            sample = Sample.WAITING  # A few lost samples are bridged by the last good one.
        if not self._is_sure and sample in (Sample.FRESH, Sample.WAITING):
            return Sample.JUMPED  # Only another sample can tell whether the body is there.
        return sample

    def _take(self, pose: Pose6D, log: CauseLog) -> None:
        x, y, z = pose.position.tolist()
        a, b, c, d = pose.orientation.tolist()
        ox, oy, oz = self.position
        k = 1.0 / sqrt(a * a + b * b + c * c + d * d)
        farthest = max(abs(x), abs(y), abs(z))
        self._is_sure = farthest < FARTHEST
        if not self._is_sure:
            # The arithmetic of whatever comes after need not cope with such numbers.
            log.add(Rule.INPUT_JUMP, self._name, farthest, FARTHEST, Severity.HOLD)
            return
        self.leaps = (x - ox) ** 2 + (y - oy) ** 2 + (z - oz) ** 2 > LEAP**2
        numbers = (x, y, z, a * k, b * k, c * k, d * k, pose.timestamp)
        self._row[: kernels.FOLLOWED] = numbers
