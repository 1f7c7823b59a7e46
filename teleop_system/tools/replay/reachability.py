# SPDX-License-Identifier: Apache-2.0
"""Which wishes a robot could fulfil at all, and which it could fulfil in time.

A solver of its own follows the wishes in slow motion, with the limits of the joints and the
distances between links that the session keeps, but without any limit on time: where it stays away
from a wish, the robot cannot be there. Then every joint goes after these solutions as well as its
limits of speed and acceleration let it, knowing the present alone, as any operator's robot does:
where it is behind, the robot cannot be there in time. The controller under test has no part in
this.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from teleop_system.interfaces import IIKSolver, Pose6D
from teleop_system.mocap.body_path import smooth
from teleop_system.robots import RobotDescription
from teleop_system.runtime.session.arm_module import solver_for
from teleop_system.settings import SolverSettings
from teleop_system.tools.replay.wishes import Course

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

STRIDE = 5
"""Ticks between two wishes that are looked at."""
SLOW_STEP = 0.02
"""Time of one step of the solver in [s]."""
MOST_STEPS = 40
"""Steps of the solver per wish; a wish moves by centimetres from one to the next."""
TOLERANCE = 0.01
"""Distance in [m] within which a hand is there."""
CLOSE = 0.0005
"""Distance in [m] at which the solver need go no further."""
RECOVERY = 0.3
"""Time in [s] after a wish that could not be met in which a robot may still be on its way back."""
BEHIND = 0.02
"""Angle in [rad] by which a joint may be behind where a hand still is where it should be."""


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
        self._solver: IIKSolver = solver_for(robot, solver)
        names = self._solver.get_joint_names()
        self._speeds = np.array([robot.limits(name).velocity for name in names])
        # The session's solver keeps a part of the accelerations for the safety manager's jerks.
        share = solver.acceleration_share
        self._accelerations = share * np.array([robot.limits(n).acceleration for n in names])
        self._begin = np.array([begin[name] for name in names])
        self._solver.set_posture_target(self._begin)

    def judge(
        self, wishes: Mapping[str, Course], arms: list[str], step: float
    ) -> tuple[dict[str, Mask], Mask]:
        """Return which wishes of each arm can be reached, and which ticks are slow enough.

        Args:
            wishes: Of all chains, in the base frame.
            arms: Chains to judge.
            step: Time of a tick in [s].
        """
        count = len(wishes[arms[0]].positions)
        ticks = np.arange(0, count, STRIDE)
        solutions, errors = self._slow_motion(wishes, arms, ticks)
        there = {
            arm: _spread(errors[:, column] <= TOLERANCE, ticks, count)
            for column, arm in enumerate(arms)
        }
        # What is left of the solver's tolerance would be noise in the accelerations.
        calm = smooth(solutions, 1.0)
        every = np.stack(
            [np.interp(np.arange(count), ticks, column) for column in calm.T], axis=-1
        )
        behind = np.abs(self._chased(every, step) - every).max(axis=1) > BEHIND
        after = round(RECOVERY / step)
        late = np.convolve(behind, np.ones(after + 1))[:count] > 0.5
        for arm, reached in there.items():
            away = np.convolve(~reached, np.ones(after + 1))[:count] > 0.5
            there[arm] = np.asarray(~away, dtype=np.bool_)
        return there, np.asarray(~late, dtype=np.bool_)

    def _chased(self, goals: Array, step: float) -> Array:
        """Return where joints are that go after goals as fast as they can, shape (T, N)."""
        found = np.empty_like(goals)
        place, speed = goals[0].copy(), np.zeros(goals.shape[1])
        wished = np.gradient(goals, step, axis=0)
        most = self._accelerations * step
        for tick, goal in enumerate(goals):
            away = goal - place
            # Fast enough to be there soon, slow enough to stop there.
            closing = np.minimum(
                np.sqrt(2.0 * self._accelerations * np.abs(away)), np.abs(away) / step
            )
            target = np.clip(wished[tick] + np.sign(away) * closing, -self._speeds, self._speeds)
            speed = speed + np.clip(target - speed, -most, most)
            place = place + speed * step
            found[tick] = place
        return found

    def _slow_motion(
        self, wishes: Mapping[str, Course], arms: list[str], ticks: NDArray[np.int64]
    ) -> tuple[Array, Array]:
        joints = self._begin.copy()
        solutions, errors = np.empty((len(ticks), joints.size)), np.empty((len(ticks), len(arms)))
        for row, tick in enumerate(ticks.tolist()):
            targets = {}
            for name, course in wishes.items():
                place, turn = course.pose(tick)
                targets[name] = Pose6D(np.array(place), np.array(turn))
            for _ in range(MOST_STEPS):
                result = self._solver.solve_multi(targets, joints, SLOW_STEP)
                moved = float(np.abs(result.joint_positions - joints).max())
                joints = np.array(result.joint_positions)
                if moved < 1e-4 or result.error_position < CLOSE:
                    break
            solutions[row] = joints
            errors[row] = [self._distance(arm, targets[arm], joints) for arm in arms]
        return solutions, errors

    def _distance(self, arm: str, target: Pose6D, joints: Array) -> float:
        """Return how far a hand is from its target in [m], by the solver's own measure."""
        tiny = self._solver.solve_multi({arm: target}, joints, 1e-6)
        return tiny.error_position


def _spread(flags: Mask, ticks: NDArray[np.int64], count: int) -> Mask:
    """Return flags of some ticks for all ticks."""
    places = np.minimum(np.arange(count) // STRIDE, len(ticks) - 1)
    return flags[places]
