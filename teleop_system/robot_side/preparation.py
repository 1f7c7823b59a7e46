# SPDX-License-Identifier: Apache-2.0
"""What the robot does by itself before an operator may take control: go home, try its hands.

The motion takes the way of any other: these are wishes, and the safety manager has the last word.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import ConfigError
from teleop_system.robot_side.engagement_table import EngagementState
from teleop_system.robots import RobotDescription
from teleop_system.safety import PartCommand, RobotParts

Array = NDArray[np.float64]

TRIED_SHARE = 0.3
"""How far the self-test moves a hand, as a share of its way from open to closed."""
REACHED_SHARE = 0.1
"""How near a hand has to come, as the same share."""
HOMING_SPEED = 0.6
"""Greatest speed of a joint on its way home in [rad/s] or [m/s]."""
SHORTEST_HOMING = 1.0
"""Least time for the way home in [s], however short it is."""
PEAK_SPEED = 1.875
"""Greatest speed of a minimum-jerk motion over its mean speed."""
PAUSE = 0.1
"""Time without a wish in [s] after which the way home begins anew, from wherever that is."""


class Preparation:
    """Homing and self-test.

    Args:
        robot: The robot.
        parts: Its parts.
        home: Name of the home pose.
        tolerance: Distance of a joint from home that counts as there in [rad] or [m].
        with_motion: Whether the self-test moves the hands.
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
            raise ConfigError(f"pose {home!r} says nothing about {', '.join(missing)}")
        self._parts = parts
        self._home = np.array([pose[joint] for joint in parts.joints])
        self._tolerance = tolerance
        self._tried, self._near = _trial(robot, parts, self._home)
        self._moves = with_motion and bool((self._near < np.inf).any())
        self._has_tried = False
        self.passed = False
        self._start = self._home
        self._began = self._last = -np.inf

    def restart(self) -> None:
        """Begin the self-test anew."""
        self._has_tried = False
        self.passed = False

    def is_home(self, positions: Array) -> bool:
        """Tell whether all joints are where they should be, given their positions."""
        return bool((np.abs(positions - self._home) <= self._tolerance).all())

    def wishes(
        self, state: EngagementState, positions: Array, now: float
    ) -> dict[str, PartCommand]:
        """Return where the parts should go by themselves in a state; nowhere in most.

        Args:
            state: Where the engagement stands.
            positions: Measured positions in [rad] or [m], shape (N,).
            now: Time in [s].
        """
        if state is EngagementState.HOMING:
            return self._commands(self._on_the_way(positions, now), now)
        if state is not EngagementState.SELF_TEST:
            return {}
        goal = self._home
        if self._moves and not self._has_tried:
            goal = self._tried
            self._has_tried = bool((np.abs(positions - goal) <= self._near).all())
        elif self.is_home(positions):
            self.passed = True
        return self._commands(goal, now)

    def _on_the_way(self, positions: Array, now: float) -> Array:
        """Return where the joints should be on a straight way home that all end together.

        Each for itself, the quick ones would arrive first, and a torso that has bent its hip but
        not yet its knee leans over further than its drives can hold.
        """
        if not 0.0 <= now - self._last <= PAUSE:
            self._start, self._began = positions.copy(), now
        self._last = now
        way = self._home - self._start
        duration = max(SHORTEST_HOMING, PEAK_SPEED * float(np.abs(way).max()) / HOMING_SPEED)
        share = min((now - self._began) / duration, 1.0)
        on_the_way: Array = self._start + share**3 * (10.0 - share * (15.0 - 6.0 * share)) * way
        return on_the_way

    def _commands(self, goal: Array, now: float) -> dict[str, PartCommand]:
        return {name: PartCommand(goal[part.columns], now) for name, part in self._parts.items()}


def _trial(robot: RobotDescription, parts: RobotParts, home: Array) -> tuple[Array, Array]:
    """Return the pose of the self-test and how near its joints have to come."""
    tried, near = home.copy(), np.full(home.size, np.inf)
    by_joint: Mapping[str, int] = {joint: place for place, joint in enumerate(parts.joints)}
    for hand in robot.hands.values():
        for joint, opened, closed in zip(hand.joints, hand.open, hand.closed, strict=True):
            place = by_joint[joint]
            far = max((opened, closed), key=lambda end: abs(end - home[place]))
            way = abs(closed - opened)
            if way > 0.0:
                tried[place] += TRIED_SHARE * (far - home[place])
                near[place] = REACHED_SHARE * way
    return tried, near
