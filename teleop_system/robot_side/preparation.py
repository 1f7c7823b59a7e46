# SPDX-License-Identifier: Apache-2.0
"""What the robot does by itself before an operator may engage: homing and self-test.

These are commands like any other: the safety manager limits them.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import ConfigError
from teleop_system.robot_side.engagement_table import EngagementState
from teleop_system.robots import RobotDescription
from teleop_system.safety import PartCommand, RobotParts
from teleop_system.utils.minimum_jerk import PEAK_SPEED, minimum_jerk

Array = NDArray[np.float64]

TEST_SHARE = 0.3
"""How far the self-test moves a hand, as a share of its range from open to closed."""
TEST_TOLERANCE = 0.1
"""How near a hand has to come, as the same share."""
HOMING_SPEED = 0.6
"""Greatest speed of a joint while homing in [rad/s] or [m/s]."""
SHORTEST_HOMING = 1.0
"""Shortest time of homing in [s], however short the distance."""
PAUSE = 0.1
"""Time without homing commands in [s] after which homing starts again from the present pose."""


class Preparation:
    """Homing and self-test.

    Args:
        robot: The robot.
        parts: Its parts.
        home: Name of the home pose.
        tolerance: Distance of a joint from home that counts as reached in [rad] or [m].
        with_motion: Whether the self-test moves the hands.

    Attributes:
        passed: Whether the self-test has passed.
    """

    def __init__(
        self,
        robot: RobotDescription,
        parts: RobotParts,
        home: str,
        *,
        tolerance: float,
        with_motion: bool = True,
    ) -> None:
        pose = robot.pose(home)
        missing = [joint for joint in parts.joints if joint not in pose]
        if missing:
            raise ConfigError(f"pose {home!r} lacks {', '.join(missing)}")
        self._parts = parts
        self._home = np.array([pose[joint] for joint in parts.joints])
        self._tolerance = tolerance
        self._test_pose, self._test_tolerance = _test_pose(robot, parts, self._home)
        self._moves = with_motion and bool((self._test_tolerance < np.inf).any())
        self._has_moved = False
        self.passed = False
        self._start = self._home
        self._began = self._last = -np.inf

    def restart(self) -> None:
        """Start the self-test again."""
        self._has_moved = False
        self.passed = False

    def is_home(self, positions: Array) -> bool:
        """Return whether all joints are in the home pose, given their positions."""
        return bool((np.abs(positions - self._home) <= self._tolerance).all())

    def commands(
        self, state: EngagementState, positions: Array, now: float
    ) -> dict[str, PartCommand]:
        """Return the command of every part in a state; empty in most states.

        Args:
            state: State of the engagement.
            positions: Measured positions in [rad] or [m], shape (N,).
            now: Time in [s].
        """
        if state is EngagementState.HOMING:
            return self._to_all_parts(self._homing(positions, now), now)
        if state is not EngagementState.SELF_TEST:
            return {}
        goal = self._home
        if self._moves and not self._has_moved:
            goal = self._test_pose
            errors = np.abs(positions - goal)
            self._has_moved = bool((errors <= self._test_tolerance).all())
        elif self.is_home(positions):
            self.passed = True
        return self._to_all_parts(goal, now)

    def _homing(self, positions: Array, now: float) -> Array:
        """Return the joint positions of a minimum-jerk motion home that ends for all at once.

        If every joint moved at its own pace, the quick ones would arrive first: a torso with its
        hip bent and its knee straight leans over further than its drives can hold.
        """
        if not 0.0 <= now - self._last <= PAUSE:
            self._start, self._began = positions.copy(), now
        self._last = now
        distance = self._home - self._start
        longest = float(np.abs(distance).max())
        duration = max(SHORTEST_HOMING, PEAK_SPEED * longest / HOMING_SPEED)
        share = min((now - self._began) / duration, 1.0)
        smooth = minimum_jerk(share)
        return np.asarray(self._start + smooth * distance)

    def _to_all_parts(self, goal: Array, now: float) -> dict[str, PartCommand]:
        return {name: PartCommand(goal[part.columns], now) for name, part in self._parts.items()}


def _test_pose(robot: RobotDescription, parts: RobotParts, home: Array) -> tuple[Array, Array]:
    """Return the pose of the self-test and the tolerance of each joint."""
    pose, tolerance = home.copy(), np.full(home.size, np.inf)
    indices: Mapping[str, int] = {joint: index for index, joint in enumerate(parts.joints)}
    for hand in robot.hands.values():
        for joint, opened, closed in zip(hand.joints, hand.open, hand.closed, strict=True):
            index = indices[joint]
            far_end = max((opened, closed), key=lambda end: abs(end - home[index]))
            span = abs(closed - opened)
            if span > 0.0:
                pose[index] += TEST_SHARE * (far_end - home[index])
                tolerance[index] = TEST_TOLERANCE * span
    return pose, tolerance
