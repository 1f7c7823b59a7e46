# SPDX-License-Identifier: Apache-2.0
"""The gate of a tracker."""

import math

import numpy as np
from typing_extensions import override

from teleop_system.interfaces import Pose6D
from teleop_system.interfaces.causes import Rule
from teleop_system.modules.gate.sample_gate import SampleGate
from teleop_system.safety.cause_log import CauseLog

UNIT_TOLERANCE = 1e-3
"""How far a quaternion's length may be from one; single precision stays far below."""
LARGEST_COORDINATE = 1e3
"""Coordinates of a tracked body stay below this in [m]; later arithmetic relies on it."""


class PoseGate(SampleGate[Pose6D]):
    """Checks the poses of one tracker: unit quaternion, sane coordinates, no jump."""

    @override
    def _is_plausible(self, sample: Pose6D, log: CauseLog) -> bool:
        x, y, z, w = sample.orientation.tolist()
        length = math.sqrt(x * x + y * y + z * z + w * w)
        if abs(length - 1.0) > UNIT_TOLERANCE:
            log.add(Rule.NON_UNIT, self._name, length, 1.0, self._severity)
            return False
        position = sample.position.tolist()
        largest = max(max(position), -min(position))
        if largest >= LARGEST_COORDINATE:
            log.add(Rule.INPUT_JUMP, self._name, largest, LARGEST_COORDINATE, self._severity)
            return False
        return True

    @override
    def _has_jumped(self, last: Pose6D | None, sample: Pose6D, log: CauseLog) -> bool:
        if last is None:
            return False
        config, elapsed = self._config, sample.timestamp - last.timestamp
        moved = math.dist(sample.position.tolist(), last.position.tolist())
        distance = config.distance + config.speed * elapsed
        if moved > distance:
            log.add(Rule.INPUT_JUMP, self._name, moved, distance, self._severity)
        turned = _angle_between(last, sample)
        angle = config.turn + config.turn_speed * elapsed
        if turned > angle:
            # The unit of the rule is [m]: the path of a point 1 m away from the tracker.
            log.add(Rule.INPUT_JUMP, f"{self._name} rotation", turned, angle, self._severity)
        return moved > distance or turned > angle

    @override
    def _are_equal(self, sample: Pose6D, other: Pose6D) -> bool:
        return np.array_equal(sample.position, other.position) and np.array_equal(
            sample.orientation, other.orientation
        )


def _angle_between(a: Pose6D, b: Pose6D) -> float:
    """Return the angle between two orientations in [rad]."""
    ax, ay, az, aw = a.orientation.tolist()
    bx, by, bz, bw = b.orientation.tolist()
    return 2.0 * math.acos(min(1.0, abs(ax * bx + ay * by + az * bz + aw * bw)))
