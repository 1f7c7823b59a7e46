# SPDX-License-Identifier: Apache-2.0
"""The joints of arms and torso as the arm controller moves them: one solver tick after another.

From engaging until rest the solver continues from its own results. If something else has moved
the robot's joints, it restarts from them; if they merely lag behind, it moves towards them a
little in every tick.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from teleop_system.exceptions import UnknownNameError
from teleop_system.interfaces import IIKSolver, Pose6D
from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.modules.arm_teleop.joint_kernels import first_outside, lag_correction
from teleop_system.robots.description import Chain, RobotDescription
from teleop_system.safety.cause_log import CauseLog
from teleop_system.solvers.chain_kinematics import ChainKinematics
from teleop_system.solvers.factory import KINDS
from teleop_system.utils.poses import PoseTuple

Array = NDArray[np.float64]
Columns = NDArray[np.intp] | slice

OUTSIDE = 0.5
"""Joints reported further outside their limits than this in [rad] or [m] are not plausible."""
FARTHEST = 1e3
"""A position in [rad] or [m] that no joint can be beyond."""
NORMAL_LAG = 5.0
"""Ticks by which joints lag at most without falling behind: commands and states take time."""
CORRECTION = 0.2
"""Part of the lag beyond that which the solver gives up per tick."""
POSTURE = "teleop"
"""Named pose that the joints prefer unless another one is configured, if the robot has it."""


class JointMotion:
    """Arms and torso, moved by a solver.

    Args:
        robot: The robot.
        solver: An initialised solver of its arms and torso.
        posture: Named pose that the joints prefer; None for `POSTURE` or the initial one.
        resync: Difference in [rad] or [m] beyond which something else has moved the joints.
        slack: Difference in [rad] or [m] beyond which joints in motion have fallen behind.

    Attributes:
        chains: The chains that the solver moves, by name; the torso first.
        names: The joints, in the order of every joint vector.
        columns: Indices of the joints of each chain; a slice if they are consecutive.
        kinematics: Forward kinematics of the chains.
        positions: Commanded positions in [rad] or [m], shape (N,), read-only.
        is_running: Whether the solver continues from its own results.
    """

    def __init__(
        self,
        robot: RobotDescription,
        solver: IIKSolver,
        posture: str | None,
        *,
        resync: float,
        slack: float,
    ) -> None:
        self._solver = solver
        self._resync = resync
        self._slack = slack
        self.names = tuple(solver.get_joint_names())
        known = set(self.names)
        found = [
            c for c in robot.chains.values() if c.kind in KINDS and known.issuperset(c.joints)
        ]
        if not found:
            raise UnknownNameError("arm or torso", robot.name, robot.chains)
        found.sort(key=lambda chain: chain.kind != "torso")
        self.chains: dict[str, Chain] = {chain.name: chain for chain in found}
        self.columns = {
            chain.name: columns_of([self.names.index(joint) for joint in chain.joints])
            for chain in found
        }
        self.kinematics = ChainKinematics(robot, self.chains, self.names)
        self._robot = robot
        if posture is None:
            posture = POSTURE if POSTURE in robot.poses else robot.initial_pose
        self._preferred = self.named_pose(posture)
        self._posture_chains: Sequence[str] | None = None
        self.positions = self._before = _frozen(self._preferred)
        self.is_running = False
        self._is_known = False
        self._must_restart = False
        self._period = 0.01  # Duration of the last tick in [s].
        limits = [robot.limits(joint) for joint in self.names]
        self._acceleration = np.array([limit.acceleration for limit in limits])
        self._lowest = np.array([max(limit.lower - OUTSIDE, -FARTHEST) for limit in limits])
        self._highest = np.array([min(limit.upper + OUTSIDE, FARTHEST) for limit in limits])

    def named_pose(self, name: str) -> Array:
        """Return the joint positions of a named pose of the robot in [rad] or [m].

        Raises:
            UnknownNameError: There is no such pose.
        """
        positions = self._robot.pose(name)
        return np.array([positions.get(joint, 0.0) for joint in self.names])

    @property
    def largest_step(self) -> float:
        """Largest joint motion of the last tick in [rad] or [m]."""
        return float(np.abs(self._step).max())

    @property
    def _step(self) -> Array:
        """Motion of every joint in the last tick in [rad] or [m]."""
        return self.positions - self._before

    def checked(self, joints: ArrayLike, log: CauseLog) -> Array | None:
        """Return the robot's joint positions if they are plausible, else None and a cause."""
        try:
            values = np.ascontiguousarray(joints, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            values = np.empty(0)
        size = len(self.names)
        if values.shape != (size,):
            log.add(Rule.WRONG_SHAPE, "joints", float(values.size), float(size), Severity.HOLD)
            return None
        index = first_outside(values, self._lowest, self._highest)
        if index < 0:
            return values
        name, value = self.names[index], float(values[index])
        if not math.isfinite(value):
            log.add(Rule.NON_FINITE, name, 0.0, 0.0, Severity.HOLD)
        else:
            limit = (self._lowest if value < self._lowest[index] else self._highest)[index]
            log.add(Rule.POSITION, name, value, float(limit), Severity.HOLD)
        return None

    def rest(self, joints: Array | None) -> None:
        """Let the solver rest; keep the command unless something else has moved the robot."""
        self.is_running = False
        self._before = self.positions
        if joints is None:
            return
        if not self._is_known or np.abs(joints - self.positions).max() > self._resync:
            self.positions = self._before = _frozen(joints)
            self._is_known = True

    def start(self, joints: Array) -> None:
        """Let the solver start at rest from the robot's joints."""
        self.positions = _frozen(joints)
        self.is_running = self._is_known = True
        self._posture_chains = None
        self.stop()

    def stop(self) -> None:
        """Assume that the joints have come to rest at the commanded positions."""
        self._before = self.positions
        self._must_restart = True

    def brake(self, period: float) -> None:
        """Brake every joint with its full acceleration for `period` [s].

        Targets that cannot all be met keep a solver moving; joints that brake come to rest.
        """
        step = self._step
        if step.any():
            slower = np.maximum(np.abs(step) - self._acceleration * period**2, 0.0)
            self._before = self.positions
            self.positions = _frozen(self.positions + np.copysign(slower, step))
        self._must_restart = True

    def synchronize(self, chain: str, joints: Array) -> None:
        """Start a chain from the robot's joints if something else has moved them."""
        columns = self.columns[chain]
        if np.abs(joints[columns] - self.positions[columns]).max() <= self._resync:
            return
        positions, before = self.positions.copy(), self._before.copy()
        positions[columns] = before[columns] = joints[columns]
        self.positions, self._before = _frozen(positions), _frozen(before)
        self._must_restart = True

    def tool_pose(self, chain: str) -> PoseTuple:
        """Return the pose of a chain's end effector at the commanded positions."""
        return self.kinematics.pose(chain, self.positions)

    def prefer_posture(self, following: Sequence[str]) -> None:
        """Let the limbs that follow prefer the posture, and all others their positions."""
        if following == self._posture_chains:
            return
        self._posture_chains = following
        posture = self.positions.copy()
        for name in following:
            columns = self.columns[name]
            posture[columns] = self._preferred[columns]
        self._solver.set_posture_target(posture)

    def reduce_lag(self, joints: Array) -> None:
        """Move the command towards the robot's joints if they have fallen behind.

        Something limits them that the solver does not model. Without this the two would drift
        apart, and the distance between them would be long once the joints are free again.
        """
        offset = np.empty(len(self.names))
        is_behind = lag_correction(
            joints, self.positions, self._before, self._slack, NORMAL_LAG, CORRECTION, offset
        )
        if self._must_restart or not is_behind:
            return
        self._solver.shift(offset)
        self._before = _frozen(self._before + offset)
        self.positions = _frozen(self.positions + offset)

    def move(
        self, targets: dict[str, Pose6D], period: float, log: CauseLog
    ) -> tuple[float, float]:
        """Take one tick of `period` [s] towards the targets; other chains keep their pose.

        Returns:
            The largest distances of a chain from its target, in [m] and [rad].
        """
        if self._must_restart:
            self._must_restart = False
            self._solver.reset(self._step / self._period)
        self._period = period
        result = self._solver.solve_multi(targets, self.positions, period)
        if self._is_valid(result.joint_positions, log):
            self._before, self.positions = self.positions, result.joint_positions
        else:
            self.stop()
        return result.error_position, result.error_orientation

    def _is_valid(self, positions: Array, log: CauseLog) -> bool:
        """Return whether a solver's result can be commanded; log why not."""
        size = len(self.names)
        if positions.shape != (size,):
            log.add(Rule.WRONG_SHAPE, "solver", float(positions.size), float(size), Severity.HOLD)
        elif not math.isfinite(positions.dot(positions)):
            log.add(Rule.NON_FINITE, "solver", 0.0, 0.0, Severity.HOLD)
        else:
            return True
        return False


def columns_of(indices: Sequence[int]) -> Columns:
    """Return indices as a slice if they are consecutive: a slice selects without a copy."""
    first = indices[0] if indices else 0
    if list(indices) == list(range(first, first + len(indices))):
        return slice(first, first + len(indices))
    return np.array(indices, dtype=np.intp)


def _frozen(values: ArrayLike) -> Array:
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array
