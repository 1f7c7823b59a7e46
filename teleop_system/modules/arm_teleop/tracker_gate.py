# SPDX-License-Identifier: Apache-2.0
"""The gate of one tracker, quick for the samples that nearly all are."""

from math import sqrt

from typing_extensions import override

from teleop_system.interfaces import Pose6D
from teleop_system.modules.arm_teleop.spatial import ORIGIN, Quaternion, Vector
from teleop_system.modules.pose_gate import FRESH, CauseLog, GateLimits, PoseGate, Sample
from teleop_system.runtime.causes import Rule, Severity

LEAP = 0.1
"""Way in [m] from one sample to the next that is worth a second look."""
FARTHEST = 1e3
"""Coordinates in [m] beyond this belong to no tracked body."""


class TrackerGate(PoseGate):
    """A `PoseGate` that also tells what it let pass as plain floats.

    A sample that plainly meets every limit, coming in time and near the last, takes a short way;
    all others are judged as ever. A body that jumped is believed once another sample has confirmed
    where it is, and a body beyond all bounds never.

    Attributes:
        position: Of the newest sample that passed in [m].
        orientation: Its orientation, of unit length.
        stamp: Time at which it was measured in [s].
        leaps: Whether the body moved further than `LEAP` in this tick.
    """

    def __init__(self, name: str, limits: GateLimits) -> None:
        super().__init__(name, limits)
        self._near = min(LEAP, limits.distance) ** 2
        self.reset()

    @override
    def reset(self) -> None:
        super().reset()
        self.position: Vector = ORIGIN[0]
        self.orientation: Quaternion = ORIGIN[1]
        self.stamp = 0.0
        self.leaps = False
        self._is_sure = False

    @override
    def check(self, pose: Pose6D | None, now: float, log: CauseLog) -> Sample:
        last, limits = self._last, self._limits
        if self._is_sure and pose is not None and last is not None and pose.valid:
            stamp = pose.timestamp
            if last.timestamp < stamp <= now + limits.ahead and now - stamp <= limits.stale_after:
                x, y, z = pose.position.tolist()
                ox, oy, oz = self.position
                dx, dy, dz = x - ox, y - oy, z - oz
                a, b, c, d = pose.orientation.tolist()
                squared = a * a + b * b + c * c + d * d
                if dx * dx + dy * dy + dz * dz <= self._near and 0.999 < squared < 1.001:
                    e, f, g, h = self.orientation
                    k = 1.0 / sqrt(squared)
                    if abs(a * e + b * f + c * g + d * h) * k >= self._similar:
                        self._last = pose
                        self.stamp = stamp
                        self.position = (x, y, z)
                        self.orientation = (a * k, b * k, c * k, d * k)
                        self.leaps = False
                        return FRESH
        return self._judge(pose, now, log)

    def _judge(self, pose: Pose6D | None, now: float, log: CauseLog) -> Sample:
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
        self.stamp = pose.timestamp
        self.position = (x, y, z)
        self.orientation = (a * k, b * k, c * k, d * k)
