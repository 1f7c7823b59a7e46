# SPDX-License-Identifier: Apache-2.0
"""The gate of a tracker."""

import math

import numpy as np
from typing_extensions import override

from teleop_system.interfaces import Pose6D
from teleop_system.interfaces.causes import Rule
from teleop_system.modules.gate.sample_gate import BAD, JUMPED, NEW, SampleGate, Verdict
from teleop_system.safety.cause_log import CauseLog
from teleop_system.utils.poses import PoseTuple

UNIT_TOLERANCE = 1e-3
"""How far a quaternion's length may be from one; single precision stays far below."""
LARGEST_COORDINATE = 1e3
"""Coordinates of a tracked body stay below this in [m]; later arithmetic relies on it."""


class PoseGate(SampleGate[Pose6D]):
    """Checks the poses of one tracker: unit quaternion, sane coordinates, no jump.

    Attributes:
        pose: The newest sample that passed, its quaternion of unit length; None without one.
    """

    @override
    def reset(self) -> None:
        super().reset()
        self.pose: PoseTuple | None = None

    @override
    def _judge(self, sample: Pose6D, log: CauseLog) -> Verdict:
        px, py, pz = sample.position.tolist()
        x, y, z, w = sample.orientation.tolist()
        length = math.sqrt(x * x + y * y + z * z + w * w)
        if abs(length - 1.0) > UNIT_TOLERANCE:
            log.add(Rule.NON_UNIT, self._name, length, 1.0, self._severity)
            return BAD
        largest = max(px, py, pz, -px, -py, -pz)
        if largest >= LARGEST_COORDINATE:
            log.add(Rule.INPUT_JUMP, self._name, largest, LARGEST_COORDINATE, self._severity)
            return BAD
        before, k = self.pose, 1.0 / length
        self.pose = now = (px, py, pz), (x * k, y * k, z * k, w * k)
        if before is None or self.sample is None:
            return NEW
        return self._compare(before, now, sample.timestamp - self.sample.timestamp, log)

    def _compare(
        self, before: PoseTuple, now: PoseTuple, elapsed: float, log: CauseLog
    ) -> Verdict:
        """Return whether a body moves from one pose to the other in the elapsed time [s]."""
        config = self._config
        moved, limit = math.dist(before[0], now[0]), config.distance + config.speed * elapsed
        if moved > limit:
            log.add(Rule.INPUT_JUMP, self._name, moved, limit, self._severity)
        (ax, ay, az, aw), (bx, by, bz, bw) = before[1], now[1]
        turned = 2.0 * math.acos(min(1.0, abs(ax * bx + ay * by + az * bz + aw * bw)))
        turn_limit = config.turn + config.turn_speed * elapsed
        if turned > turn_limit:
            # The unit of the rule is [m]: the path of a point 1 m away from the tracker.
            log.add(Rule.INPUT_JUMP, f"{self._name} rotation", turned, turn_limit, self._severity)
        return JUMPED if moved > limit or turned > turn_limit else NEW

    @override
    def _are_equal(self, sample: Pose6D, other: Pose6D) -> bool:
        return np.array_equal(sample.position, other.position) and np.array_equal(
            sample.orientation, other.orientation
        )
