# SPDX-License-Identifier: Apache-2.0
"""The two kinds of robot hand: a DG-5F with five fingers, and a hand that opens and closes."""

import abc
import math
from operator import itemgetter

import numpy as np
from typing_extensions import override

from teleop_system.exceptions import ConfigError, InvalidHandStateError, InvalidJointStateError
from teleop_system.interfaces.causes import Rule
from teleop_system.interfaces.master_device import HandJointState
from teleop_system.modules.hand_teleop.config import GraspConfig, HandTeleopConfig
from teleop_system.modules.hand_teleop.dg5f import MIRROR, Array, joint_names
from teleop_system.modules.hand_teleop.finger_clearance import pair_name
from teleop_system.modules.hand_teleop.finger_guard import FingerGuard
from teleop_system.modules.hand_teleop.retargeting import create_retargeter
from teleop_system.robots.description import Hand
from teleop_system.safety.cause_log import CauseLog
from teleop_system.safety.joint_limiter import JointLimiter

DG5F = "dg5f"
CURLS = (4, 6, 8, 10, 12, 14)
"""Indices of the angles that curl index, middle and ring finger. The thumb moves little in a
grasp, and gloves measure the pinky worst."""
_curl_angles = itemgetter(*CURLS)
_AT_LIMIT = 0.999
"""Share of the largest speed above which a joint counts as limited."""
_ONSET = 0.002
"""Time in [s] in which an acceleration builds up; robots declare lower jerks, which the safety
manager keeps."""


class HandKind(abc.ABC):
    """Converts samples to joint targets, and moves towards them within limits.

    Attributes:
        joint_names: The joints, in the order of the output.
        max_speed: Largest joint speed in [rad/s] or [m/s].
        engage_step: Largest first step after engaging in [rad] or [m].
        needs_tips: Whether samples must carry finger tips.
        is_blocked: Whether the last step was shortened to keep fingers apart.
    """

    joint_names: tuple[str, ...]
    max_speed: float
    engage_step: float
    needs_tips = False
    is_blocked = False

    @property
    @abc.abstractmethod
    def positions(self) -> Array:
        """The newest command in [rad] or [m], shape (N,)."""

    @abc.abstractmethod
    def reset(self, positions: Array | None) -> None:
        """Start at rest at measured positions, or at the open hand."""

    @abc.abstractmethod
    def retarget(self, state: HandJointState) -> Array:
        """Return joint targets for a sample, shape (N,).

        Raises:
            InvalidHandStateError: The sample lacks what is needed.
        """

    @abc.abstractmethod
    def follow(self, goal: Array, dt: float, speed: float, log: CauseLog) -> None:
        """Take one step of `dt` [s] towards the goal, no faster than `speed`."""

    @abc.abstractmethod
    def brake(self, dt: float) -> None:
        """Brake for one step of `dt` [s]."""

    def _report_speed(
        self, speeds: Array, goal: Array, before: Array, dt: float, log: CauseLog
    ) -> None:
        """Log the fastest joint, and the speed that was requested, if it moves at its limit."""
        sizes = [abs(speed) for speed in speeds.tolist()]
        largest = max(sizes)
        if largest >= _AT_LIMIT * self.max_speed:
            joint = sizes.index(largest)
            requested = abs(float(goal[joint] - before[joint])) / dt
            log.add(Rule.VELOCITY, self.joint_names[joint], requested, self.max_speed)


def create_kind(side: str, config: HandTeleopConfig, hand: Hand | None) -> HandKind:
    """Return the kind of hand named by the configuration, or else by the robot.

    Raises:
        ConfigError: The configuration does not fit the robot's hand.
    """
    mode: str = config.mode
    if mode == "auto":
        mode = DG5F if hand is None or hand.kind == DG5F else "gripper"
    if mode == DG5F:
        return Dg5fHand(side, config, hand)
    if hand is None:
        raise ConfigError("mode 'gripper' needs a robot with a hand, got none")
    return GraspHand(hand, config)


class Dg5fHand(HandKind):
    """Twenty joints that follow the operator's fingers without collisions between fingers."""

    def __init__(self, side: str, config: HandTeleopConfig, hand: Hand | None) -> None:
        names = hand.joints if hand is not None else joint_names(side)
        robot_side = (hand.side if hand is not None else side) or side
        if sorted(names) != sorted(joint_names(robot_side)):
            raise ConfigError(
                f"mode 'dg5f' needs the joints {joint_names(robot_side)}, got {names}"
            )
        self.joint_names = names
        self.max_speed, self.engage_step = config.max_speed, config.engage_step
        self._side = side
        order = [joint_names(robot_side).index(name) for name in names]
        self._order = np.array(order) if order != sorted(order) else None
        self._mirror = MIRROR if robot_side == "left" else np.ones(len(names))
        self._retargeter = create_retargeter(robot_side, config)
        self.needs_tips = self._retargeter.needs_tips
        self._guard = FingerGuard(
            config.max_speed,
            config.max_acceleration,
            config.max_acceleration / _ONSET,
            min_gap=config.min_gap,
            min_thumb_gap=config.min_thumb_gap,
        )

    @property
    @override
    def positions(self) -> Array:
        values = self._mirror * self._guard.position
        return values if self._order is None else values[self._order]

    @override
    def reset(self, positions: Array | None) -> None:
        values = _check_positions(positions, np.zeros(len(self.joint_names)))
        self._guard.reset(self._to_right_hand(values))
        if positions is not None:
            self._retargeter.reset(self._mirror * self._to_right_hand(values))

    @override
    def retarget(self, state: HandJointState) -> Array:
        target = self._retargeter.retarget(state)
        return target if self._order is None else target[self._order]

    @override
    def follow(self, goal: Array, dt: float, speed: float, log: CauseLog) -> None:
        target = self._to_right_hand(goal)
        before = self._guard.position.copy()
        shortfall = self._guard.update(target, dt, speed)
        for pair in np.flatnonzero(shortfall).tolist():
            limit = float(self._guard.limits[pair])
            gap = limit - float(shortfall[pair])
            log.add(Rule.SELF_COLLISION, pair_name(pair, self._side), gap, limit)
        self.is_blocked = bool(shortfall.any())
        if self.is_blocked:
            # The blocked target is unreachable, so the next solution starts from the command.
            self._retargeter.reset(self._mirror * self._guard.position)
        self._report_speed(self._guard.velocity, target, before, dt, log)

    @override
    def brake(self, dt: float) -> None:
        self._guard.brake(dt)

    def _to_right_hand(self, positions: Array) -> Array:
        """Convert from this hand's side and joint order to those of a right DG-5F."""
        if self._order is not None:
            ordered = np.empty_like(positions)
            ordered[self._order] = positions
            positions = ordered
        return self._mirror * positions


class GraspHand(HandKind):
    """A hand that opens and closes in proportion to the operator's hand."""

    def __init__(self, hand: Hand, config: HandTeleopConfig) -> None:
        self.joint_names = hand.joints
        self._open: Array = np.array(hand.open)
        self._travel: Array = np.array(hand.closed) - self._open
        self._grasp = config.grasp
        is_linear = hand.kind == "gripper"
        self.max_speed = config.grasp.max_speed if is_linear else config.max_speed
        self.engage_step = config.engage_step_linear if is_linear else config.engage_step
        acceleration = config.grasp.max_acceleration if is_linear else config.max_acceleration
        self._limiter = JointLimiter(
            len(hand.joints), self.max_speed, acceleration, acceleration / _ONSET
        )

    @property
    @override
    def positions(self) -> Array:
        return self._limiter.position.copy()

    @override
    def reset(self, positions: Array | None) -> None:
        self._limiter.reset(_check_positions(positions, self._open))

    @override
    def retarget(self, state: HandJointState) -> Array:
        target: Array = closure(state, self._grasp) * self._travel
        target += self._open
        return target

    @override
    def follow(self, goal: Array, dt: float, speed: float, log: CauseLog) -> None:
        before = self._limiter.position.copy()
        self._limiter.update(goal, dt, max_speed=speed)
        self._report_speed(self._limiter.velocity, goal, before, dt, log)

    @override
    def brake(self, dt: float) -> None:
        self._limiter.brake(dt)


def closure(state: HandJointState, config: GraspConfig) -> float:
    """Return the closure of the operator's hand, from 0 (open) to 1 (closed)."""
    tips = state.finger_tip_positions
    if config.source == "curl" or (config.source == "auto" and tips is None):
        curl = math.fsum(_curl_angles(state.joint_angles.tolist())) / len(CURLS)
        share = (curl - config.open_curl) / (config.closed_curl - config.open_curl)
    else:
        if tips is None:
            raise InvalidHandStateError("finger_tip_positions are needed to grasp by 'pinch'")
        thumb, index = tips[:2].tolist()
        distance = math.dist(index, thumb)
        share = (distance - config.open_distance) / (config.closed_distance - config.open_distance)
    return min(max(share, 0.0), 1.0)


def _check_positions(positions: Array | None, default: Array) -> Array:
    """Return valid positions with the shape of the default, or the default for None."""
    if positions is None:
        return default
    values = np.array(positions, dtype=np.float64)
    if values.shape != default.shape or not np.isfinite(values).all():
        raise InvalidJointStateError(
            f"positions needs {default.size} finite numbers, got {values}"
        )
    return values
