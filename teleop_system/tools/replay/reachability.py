# SPDX-License-Identifier: Apache-2.0
"""Which targets a robot could reach: at all, and in time.

The judgement uses only the targets and the robot description, neither the controllers nor what
the robot did.

- *Out of reach*: a solver follows the targets without a time limit, within joint limits and link
  distances. A target is out of reach if the solver stays farther than `TOLERANCE` from it.
- *Too fast*: an ideal robot knows the whole recording in advance, has no delay, and comes as close
  to the reachable poses as the limits on speed, acceleration and jerk allow. A target is too fast
  if even this robot is farther than `TOLERANCE` from it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from teleop_system.modules.arm_teleop.joint_motion import POSTURE
from teleop_system.robots import RobotDescription
from teleop_system.session.arm_module import solver_for
from teleop_system.settings import SolverSettings
from teleop_system.solvers.planning.motion_planner import MotionPlanner
from teleop_system.solvers.planning.postures import PoseSequence, reachable_postures

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

STRIDE = 4
"""Number of ticks between two examined targets."""
TOLERANCE = 0.01
"""Distance in [m] at which a hand has reached its target."""


@dataclass(frozen=True, slots=True, eq=False)
class HandReach:
    """How close a robot can come to the targets of one hand; arrays of shape (T,).

    Attributes:
        static: Distance in [m] without a time limit.
        ideal: Distance in [m] of the ideal robot.
    """

    static: Array
    ideal: Array

    @property
    def is_reachable(self) -> Mask:
        """Whether the target is within reach."""
        return self.static <= TOLERANCE

    @property
    def is_in_time(self) -> Mask:
        """Whether the ideal robot reaches the target."""
        return self.ideal <= TOLERANCE


class Reachability:
    """Judges the targets of a robot.

    Args:
        robot: The robot.
        solver: Settings of the session's solver.
        begin: Initial joint positions in [rad] or [m], by name.
    """

    def __init__(
        self, robot: RobotDescription, solver: SolverSettings, begin: Mapping[str, float]
    ) -> None:
        self._solver = solver_for(robot, solver)
        self._planner = MotionPlanner(robot, solver.chains)
        self._begin = begin
        self._posture = robot.poses.get(POSTURE, begin)

    def judge(
        self, targets: Mapping[str, PoseSequence], arms: list[str], step: float
    ) -> dict[str, HandReach]:
        """Return how close the robot could come to the targets of each arm.

        Args:
            targets: Targets of all chains in the base frame, one per tick.
            arms: Chains to judge.
            step: Duration of a tick in [s].
        """
        names = self._solver.get_joint_names()
        self._solver.set_posture_target(_vector(self._posture, names))
        count = len(targets[arms[0]])
        ticks = np.arange(0, count + STRIDE, STRIDE)
        indices = np.minimum(ticks, count - 1)
        examined = {
            name: PoseSequence(course.positions[indices], course.orientations[indices])
            for name, course in targets.items()
        }
        postures = reachable_postures(self._solver, examined, _vector(self._begin, names))
        postures = postures[:, [names.index(joint) for joint in self._planner.joints]]
        motion = self._planner.plan(postures, STRIDE * step)
        poses = self._planner.end_effectors(CubicSpline(ticks, motion)(np.arange(count)))
        reached = self._planner.end_effectors(postures)
        found = {}
        for arm in arms:
            static = np.linalg.norm(reached[arm].positions - examined[arm].positions, axis=1)
            ideal = np.linalg.norm(poses[arm].positions - targets[arm].positions, axis=1)
            found[arm] = HandReach(np.interp(np.arange(count), ticks, static), ideal)
        return found


def _vector(positions: Mapping[str, float], joints: list[str]) -> Array:
    return np.array([positions.get(joint, 0.0) for joint in joints])
