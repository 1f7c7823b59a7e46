# SPDX-License-Identifier: Apache-2.0
"""Which wishes a robot could fulfil: at all, and with the time that it has.

Neither the controllers nor what the robot did have a part in this; the wishes and the robot's
description alone decide.

- *Out of reach*: a solver follows the wishes for as long as it takes, within the limits of the
  joints and with the distances that links have to keep from each other. Where it stays further
  than `TOLERANCE` from a wish, no posture that it can get to puts the hand there.
- *Too fast*: an ideal robot, which knows the whole recording in advance and obeys at once, comes
  as near to what is within reach as the description's limits on speed, acceleration and jerk let
  it. Where even that one is further than `TOLERANCE` from a wish, the wish is too fast.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from teleop_system.modules.arm_teleop.body import POSTURE
from teleop_system.robots import RobotDescription
from teleop_system.session.arm_module import solver_for
from teleop_system.settings import SolverSettings
from teleop_system.solvers.planning.motion_planner import MotionPlanner
from teleop_system.solvers.planning.slow_motion import Course, slow_motion

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

STRIDE = 4
"""Ticks between two wishes that are looked at."""
TOLERANCE = 0.01
"""Distance in [m] within which a hand is where it should be."""


@dataclass(frozen=True, slots=True, eq=False)
class HandReach:
    """How near a robot can come to the wishes for one hand; each of shape (T,).

    Attributes:
        slow: Distance in [m] without limits on time.
        ideal: Distance in [m] of the ideal robot.
    """

    slow: Array
    ideal: Array

    @property
    def there(self) -> Mask:
        """Whether the wish is within reach."""
        return self.slow <= TOLERANCE

    @property
    def in_time(self) -> Mask:
        """Whether the ideal robot is there."""
        return self.ideal <= TOLERANCE


class Reachability:
    """Judges wishes for a robot.

    Args:
        robot: The robot.
        solver: Settings of the session's solver.
        begin: Joint positions at the beginning in [rad] or [m], by name.
    """

    def __init__(
        self, robot: RobotDescription, solver: SolverSettings, begin: Mapping[str, float]
    ) -> None:
        self._solver = solver_for(robot, solver)
        self._planner = MotionPlanner(robot, solver.chains)
        self._begin = begin
        self._posture = robot.poses.get(POSTURE, begin)

    def judge(
        self, wishes: Mapping[str, Course], arms: list[str], step: float
    ) -> dict[str, HandReach]:
        """Return how near the robot could come to the wishes for each arm.

        Args:
            wishes: Of all chains, in the base frame, tick by tick.
            arms: Chains to judge.
            step: Time of a tick in [s].
        """
        names = self._solver.get_joint_names()
        self._solver.set_posture_target(_vector(self._posture, names))
        count = len(wishes[arms[0]])
        ticks = np.arange(0, count + STRIDE, STRIDE)
        near = np.minimum(ticks, count - 1)
        looked_at = {
            name: Course(course.positions[near], course.orientations[near])
            for name, course in wishes.items()
        }
        postures = slow_motion(self._solver, looked_at, _vector(self._begin, names))
        postures = postures[:, [names.index(joint) for joint in self._planner.joints]]
        motion = self._planner.plan(postures, STRIDE * step)
        places = self._planner.places(CubicSpline(ticks, motion)(np.arange(count)))
        reached = self._planner.places(postures)
        found = {}
        for arm in arms:
            slow = np.linalg.norm(reached[arm].positions - looked_at[arm].positions, axis=1)
            ideal = np.linalg.norm(places[arm].positions - wishes[arm].positions, axis=1)
            found[arm] = HandReach(np.interp(np.arange(count), ticks, slow), ideal)
        return found


def _vector(positions: Mapping[str, float], joints: list[str]) -> Array:
    return np.array([positions.get(joint, 0.0) for joint in joints])
