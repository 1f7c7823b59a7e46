# SPDX-License-Identifier: Apache-2.0
"""The two kinds of robot hand: a DG-5F with its fingers, and anything that opens and closes."""

import abc
import math
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

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
from teleop_system.utils._arrays import Component
from teleop_system.utils.rate_limiter import RateLimiter

DG5F = "dg5f"
CURLS = (4, 6, 8, 10, 12, 14)
"""Where the angles that curl index, middle and ring finger stand among all twenty. The thumb moves
little in a grasp, and the pinky is what gloves measure worst."""
_CURLED = itemgetter(*CURLS)
_AT_LIMIT = 0.999
"""Share of the largest speed above which a joint counts as limited."""


class HandKind(abc.ABC):
    """How one kind of hand turns samples into targets, and moves towards them within limits.

    Attributes:
        joint_names: Its joints, in the order of the output.
        max_speed: Largest joint speed in [rad/s] or [m/s].
        engage_step: Largest first step after engaging in [rad] or [m].
        needs_tips: Whether samples must carry finger tips.
        is_blocked: Whether fingers were kept from each other in the last step.
    """

    joint_names: tuple[str, ...]
    max_speed: float
    engage_step: float
    needs_tips = False
    is_blocked = False

    @property
    @abc.abstractmethod
    def positions(self) -> Array:
        """Where the command is now, shape (N,)."""

    @property
    def place(self) -> Component:
        """The same, in the form that `retarget` gives and `follow` takes."""
        return self.positions

    @abc.abstractmethod
    def reset(self, positions: Array | None) -> None:
        """Be at rest at measured positions, or at the open hand."""

    @abc.abstractmethod
    def retarget(self, state: HandJointState) -> Component:
        """Return where a sample wants the joints, shape (N,), or a float for a single one.

        Raises:
            InvalidHandStateError: The sample lacks what is needed.
        """

    @abc.abstractmethod
    def follow(self, goal: Component, dt: float, speed: float, log: CauseLog) -> None:
        """Take one step of `dt` [s] towards the goal, no faster than `speed`."""

    @abc.abstractmethod
    def halt(self, dt: float) -> None:
        """Brake for one step of `dt` [s]."""


def create_kind(side: str, config: HandTeleopConfig, hand: Hand | None) -> HandKind:
    """Return the kind of hand that the configuration, or else the robot, says it is.

    Raises:
        ConfigError: The configuration does not fit the robot's hand.
    """
    mode: str = config.mode
    if mode == "auto":
        mode = DG5F if hand is None or hand.kind == DG5F else "gripper"
    if mode == DG5F:
        return Dg5fHand(side, config, hand)
    if hand is None:
        raise ConfigError("mode 'gripper' needs a hand of the robot, got none")
    return GraspHand(hand, config)


class Dg5fHand(HandKind):
    """Twenty joints, each following the operator's finger, that never run into each other."""

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
        values = _checked(positions, np.zeros(len(self.joint_names)))
        self._guard.reset(self._canonical(values))
        if positions is not None:
            self._retargeter.reset(self._mirror * self._canonical(values))

    @override
    def retarget(self, state: HandJointState) -> Array:
        target = self._retargeter.retarget(state)
        return target if self._order is None else target[self._order]

    @override
    def follow(self, goal: Array, dt: float, speed: float, log: CauseLog) -> None:
        wanted = self._canonical(goal)
        before = self._guard.position
        lack = self._guard.update(wanted, dt, speed)
        for pair in np.flatnonzero(lack).tolist():
            limit = float(self._guard.limits[pair])
            log.add(
                Rule.SELF_COLLISION, pair_name(pair, self._side), limit - float(lack[pair]), limit
            )
        self.is_blocked = bool(lack.any())
        if self.is_blocked:
            # What cannot be reached from here is no use as a start for the next solution.
            self._retargeter.reset(self._mirror * self._guard.position)
        _report_speed(self, self._guard.velocity, (wanted - before) / dt, log)

    @override
    def halt(self, dt: float) -> None:
        self._guard.halt(dt)

    def _canonical(self, positions: Array) -> Array:
        """Return positions in the hand's own order as those of a right DG-5F in its order."""
        if self._order is not None:
            ordered = np.empty_like(positions)
            ordered[self._order] = positions
            positions = ordered
        return self._mirror * positions


class GraspHand(HandKind):
    """A hand that only opens and closes, by how far the operator's is closed.

    Most have a single joint, which is a float throughout: that is several times as fast.
    """

    def __init__(self, hand: Hand, config: HandTeleopConfig) -> None:
        self.joint_names = hand.joints
        self._is_single = len(hand.joints) == 1
        self._open, self._closed = self._form(hand.open), self._form(hand.closed)
        self._grasp = config.grasp
        slides = hand.kind == "gripper"
        self.max_speed = config.grasp.max_speed if slides else config.max_speed
        self.engage_step = config.engage_step_linear if slides else config.engage_step
        acceleration = config.grasp.max_acceleration if slides else config.max_acceleration
        self._limiter = RateLimiter(self.max_speed, acceleration)

    @property
    @override
    def positions(self) -> Array:
        return np.array([self.place]) if self._is_single else np.array(self.place)

    @property
    @override
    def place(self) -> Component:
        return self._limiter.position

    @override
    def reset(self, positions: Array | None) -> None:
        open_hand = np.array(self._open, ndmin=1)
        self._limiter.reset(self._form(_checked(positions, open_hand)))

    @override
    def retarget(self, state: HandJointState) -> Component:
        return self._open + closure(state, self._grasp) * (self._closed - self._open)

    @override
    def follow(self, goal: Component, dt: float, speed: float, log: CauseLog) -> None:
        before = self._limiter.position
        self._limiter.update(goal, dt, velocity=speed)
        velocity, wanted = self._limiter.velocity, (goal - before) / dt
        if not self._is_single:
            _report_speed(self, velocity, wanted, log)
        elif abs(velocity) >= _AT_LIMIT * self.max_speed:
            log.add(Rule.VELOCITY, self.joint_names[0], abs(wanted), self.max_speed)

    def _form(self, positions: Sequence[float] | Array) -> Component:
        """Return positions as a float where there is but one."""
        return float(positions[0]) if self._is_single else np.array(positions)

    @override
    def halt(self, dt: float) -> None:
        self._limiter.halt(dt)


def closure(state: HandJointState, config: GraspConfig) -> float:
    """Return how far the operator's hand is closed, from 0 to 1."""
    tips = state.finger_tip_positions
    if config.source == "curl" or (config.source == "auto" and tips is None):
        curl = math.fsum(_CURLED(state.joint_angles.tolist())) / len(CURLS)
        share = (curl - config.open_curl) / (config.closed_curl - config.open_curl)
    else:
        if tips is None:
            raise InvalidHandStateError("finger_tip_positions are needed to grasp by 'pinch'")
        thumb, index = tips[:2].tolist()
        distance = math.dist(index, thumb)
        share = (distance - config.open_distance) / (config.closed_distance - config.open_distance)
    return min(max(share, 0.0), 1.0)


def _report_speed(hand: HandKind, speeds: Array, wanted: Array, log: CauseLog) -> None:
    fast = int(np.abs(speeds).argmax())
    if abs(speeds[fast]) >= _AT_LIMIT * hand.max_speed:
        name = hand.joint_names[fast]
        log.add(Rule.VELOCITY, name, abs(float(wanted[fast])), hand.max_speed)


def _checked(positions: Any, default: Array) -> Array:
    """Return positions as an array like the default, or the default where there are none."""
    if positions is None:
        return default
    values = np.array(positions, dtype=np.float64)
    if values.shape != default.shape or not np.isfinite(values).all():
        raise InvalidJointStateError(
            f"positions needs {default.size} finite numbers, got {values}"
        )
    return values
