# SPDX-License-Identifier: Apache-2.0
"""The robot's joints as the arm controller sees them: one solver tick after the other.

Between engaging and coming to rest the solver goes on from its own results. Where the robot's
joints are otherwise, because something else moved them, it starts from there; where they merely
fall behind, it gives way to them little by little.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from teleop_system.exceptions import UnknownNameError
from teleop_system.interfaces import IIKSolver
from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.modules.arm_teleop.body_kernels import BEHIND, IMPLAUSIBLE, compare
from teleop_system.modules.arm_teleop.spatial import Placement, as_placement, distance
from teleop_system.modules.arm_teleop.targets import Targets
from teleop_system.robots.description import Chain, RobotDescription
from teleop_system.safety.cause_log import CauseLog
from teleop_system.solvers.chain_kinematics import ChainKinematics

Array = NDArray[np.float64]
Columns = NDArray[np.intp] | slice

FLOAT64 = np.dtype(np.float64)
KINDS = ("arm", "torso")
"""Kinds of chain that a solver moves."""
OUTSIDE = 0.5
"""How far in [rad] or [m] joints may be outside their limits and still be believed to be there."""
FARTHEST = 1e3
"""A position in [rad] or [m] that no joint can be beyond."""
POSTURE = "teleop"
"""Named pose that the joints prefer where nobody says otherwise and the robot has one."""


class Body:
    """Arms and torso, moved by a solver.

    Args:
        robot: The robot.
        solver: An initialised solver of its arms and torso.
        posture: Named pose that the joints prefer; None for `POSTURE` or the initial one.
        resync: Difference in [rad] or [m] past which joints are not where they were sent.
        slack: Difference in [rad] or [m] past which joints that move have fallen behind.

    Attributes:
        chains: The chains that the solver moves, by name; the torso first.
        names: The joints, in the order of every joint vector.
        columns: Where the joints of each chain stand; a slice where they stand in a row.
        kinematics: Forward kinematics of the chains.
        positions: Where the joints should be in [rad] or [m], shape (N,).
        aims: Where end effectors should be, position and quaternion, by chain; kept by whoever
            wants them there.
        is_running: Whether the solver goes on from its own results.
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
        self._preferred = self.named(posture)
        self._posture_of: Sequence[str] | None = None
        self.positions = self._placed_at = _frozen(self._preferred)
        self._places: dict[str, Placement] = {}
        self.aims: dict[str, Array] = {}
        self.is_running = False
        self._is_known = False
        self._must_restart = False
        self._period = 0.01  # Duration of the last tick in [s].
        self._before = self.positions  # A tick earlier.
        self._shape = (len(self.names),)
        self._way_back = np.zeros(len(self.names))
        self._is_behind = False
        limits = [robot.limits(joint) for joint in self.names]
        self._acceleration = np.array([limit.acceleration for limit in limits])
        self._ranges = np.array(
            [
                [max(limit.lower - OUTSIDE, -FARTHEST) for limit in limits],
                [min(limit.upper + OUTSIDE, FARTHEST) for limit in limits],
            ]
        )

    def named(self, pose: str) -> Array:
        """Return the joint positions of a named pose of the robot in [rad] or [m].

        Raises:
            UnknownNameError: There is no such pose.
        """
        positions = self._robot.pose(pose)
        return np.array([positions.get(joint, 0.0) for joint in self.names])

    @property
    def pace(self) -> float:
        """How far the quickest joint moved in the last tick in [rad] or [m]."""
        return float(np.abs(self._step).max())

    @property
    def _step(self) -> Array:
        """How far every joint moved in the last tick in [rad] or [m]."""
        return self.positions - self._before

    def check(self, joints: ArrayLike, log: CauseLog) -> Array | None:
        """Return the robot's joints where they can be believed, else None and a cause.

        It notes as well whether they fall behind, for `give_way()`.
        """
        self._is_behind = False
        if joints is self.positions:
            return self.positions
        is_plain = type(joints) is np.ndarray and joints.dtype is FLOAT64 and joints.flags.carray
        values: Array = joints if is_plain else _as_array(joints)  # type: ignore[assignment]
        if values.shape != self._shape:
            size = float(len(self.names))
            log.add(Rule.WRONG_SHAPE, "joints", float(values.size), size, Severity.HOLD)
            return None
        found = compare(
            values, self.positions, self._before, self._ranges, self._slack, self._way_back
        )
        self._is_behind = found == BEHIND
        if found == IMPLAUSIBLE:
            self._report(values, log)
            return None
        return values

    def _report(self, joints: Array, log: CauseLog) -> None:
        """Log the first joint that cannot be where it is said to be."""
        for name, value, least, greatest in zip(
            self.names, joints.tolist(), *self._ranges.tolist(), strict=True
        ):
            if not math.isfinite(value):
                log.add(Rule.NON_FINITE, name, 0.0, 0.0, Severity.HOLD)
                return
            if not least <= value <= greatest:
                limit = least if value < least else greatest
                log.add(Rule.POSITION, name, value, limit, Severity.HOLD)
                return

    def rest(self, joints: Array | None) -> None:
        """Let the solver rest, and command what was commanded unless someone moved the robot."""
        self.is_running = False
        self._before = self.positions
        if joints is None or joints is self.positions:
            return
        if not self._is_known or np.abs(joints - self.positions).max() > self._resync:
            self.positions = self._before = _frozen(joints)
            self._is_known = True

    def start(self, joints: Array) -> None:
        """Let the solver start at rest from the robot's joints."""
        self.positions = _frozen(joints)
        self.is_running = self._is_known = True
        self.aims.clear()
        self._posture_of = None
        self.stop()

    def stop(self) -> None:
        """Take the joints to have come to rest where they were sent."""
        self._before = self.positions
        self._must_restart = True

    def brake(self, period: float) -> None:
        """Let every joint brake as hard as it may for `period` [s], whatever the targets were.

        Targets that cannot all be met keep a solver moving; joints that brake come to rest.
        """
        step = self._step
        if step.any():
            slower = np.maximum(np.abs(step) - self._acceleration * period**2, 0.0)
            self._before = self.positions
            self.positions = _frozen(self.positions + np.copysign(slower, step))
        self._must_restart = True

    def synchronize(self, chain: str, joints: Array) -> None:
        """Start a chain from the robot's joints where they are not where they were sent."""
        columns = self.columns[chain]
        if np.abs(joints[columns] - self.positions[columns]).max() <= self._resync:
            return
        positions, before = self.positions.copy(), self._before.copy()
        positions[columns] = before[columns] = joints[columns]
        self.positions, self._before = _frozen(positions), _frozen(before)
        self._must_restart = True

    def place(self, chain: str) -> Placement:
        """Return where a chain's end effector is."""
        if self._placed_at is not self.positions:
            self._placed_at, self._places = self.positions, {}
        place = self._places.get(chain)
        if place is None:
            place = self._places[chain] = self.kinematics.pose(chain, self.positions)
        return place

    def aim(self, chain: str) -> Placement:
        """Return where a chain's end effector should be; nobody having said, where it is."""
        aim = self.aims.get(chain)
        if aim is None:
            # It stays that way: others may take the chain along, but it is to come back.
            position, turn = self.place(chain)
            aim = self.aims[chain] = np.array([*position, *turn])
        return as_placement(aim)

    def distance(self, chain: str, target: Placement) -> float:
        """Return how far a chain's end effector was from its target after the last tick [m]."""
        return distance(self.place(chain)[0], target[0])

    def prefer(self, following: Sequence[str]) -> None:
        """Let the limbs that follow prefer the posture, and all others stay as they are."""
        if following == self._posture_of:
            return
        self._posture_of = following
        posture = self.positions.copy()
        for name in following:
            columns = self.columns[name]
            posture[columns] = self._preferred[columns]
        self._solver.set_posture_target(posture)

    def give_way(self) -> None:
        """Let the solver go on from nearer to the joints last checked where they fall behind.

        Something limits them that the solver does not know of. Were it to go on regardless, the
        two would drift apart, and the way back would be long once the joints are free again.
        """
        if self._is_behind and not self._must_restart:
            self._solver.shift(self._way_back)
            self._before = _frozen(self._before + self._way_back)
            self.positions = _frozen(self.positions + self._way_back)

    def move(self, targets: Targets, period: float, log: CauseLog) -> tuple[float, float]:
        """Take one tick of `period` [s] towards the targets; other chains keep their pose.

        Returns:
            The largest distances of a chain from its target, in [m] and [rad].
        """
        if self._must_restart:
            self._must_restart = False
            self._solver.reset(self._step / self._period)
        self._period = period
        result = self._solver.solve_multi(dict(targets), self.positions, period)
        if self._is_sound(result.joint_positions, log):
            self._before, self.positions = self.positions, result.joint_positions
        else:
            self.stop()
        return result.error_position, result.error_orientation

    def _is_sound(self, positions: Array, log: CauseLog) -> bool:
        """Return whether a solver's result can be used, and log why not."""
        if positions.shape != self._shape:
            found, size = float(positions.size), float(len(self.names))
            log.add(Rule.WRONG_SHAPE, "solver", found, size, Severity.HOLD)
        elif not np.isfinite(positions).all():
            log.add(Rule.NON_FINITE, "solver", 0.0, 0.0, Severity.HOLD)
        else:
            return True
        return False


def _as_array(values: ArrayLike) -> Array:
    """Return values as numbers; none at all where they are not."""
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return np.empty(0)


def columns_of(places: Sequence[int]) -> Columns:
    """Return places in a vector as a slice where they are in a row, which is quicker."""
    first = places[0] if places else 0
    if list(places) == list(range(first, first + len(places))):
        return slice(first, first + len(places))
    return np.array(places, dtype=np.intp)


def _frozen(values: ArrayLike) -> Array:
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array
