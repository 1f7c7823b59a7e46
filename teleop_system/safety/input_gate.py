# SPDX-License-Identifier: Apache-2.0
"""The gates that the command path begins with: one for each tracker, one for each glove."""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import ArrayLike
from typing_extensions import override

from teleop_system.exceptions import InvalidHandStateError, InvalidPoseError
from teleop_system.interfaces import HandJointState, Pose6D, TrackerRole
from teleop_system.interfaces.causes import Cause, Rule, Severity
from teleop_system.interfaces.master_device import HAND_JOINT_COUNT
from teleop_system.safety.cause_log import CauseLog
from teleop_system.safety.sample_gate import InputGateConfig, SampleGate
from teleop_system.utils.transforms import quat_distance

TWINS = (
    (TrackerRole.LEFT_HAND, TrackerRole.RIGHT_HAND),
    (TrackerRole.LEFT_FOOT, TrackerRole.RIGHT_FOOT),
)
"""Trackers that can be mistaken for each other."""


class PoseGate(SampleGate[Pose6D]):
    """Lets through the poses of one tracker that may be acted upon.

    Attributes:
        jumped_to: Where the newest sample is, if it came there by a jump.
    """

    def __init__(self, name: str, config: InputGateConfig, log: CauseLog) -> None:
        super().__init__(name, config, log)
        self.jumped_to: Pose6D | None = None

    def update_raw(
        self, position: ArrayLike, orientation: ArrayLike, timestamp: float, now: float
    ) -> Pose6D | None:
        """Do as `update` with numbers that nobody has looked at yet."""
        try:
            sample = Pose6D(position, orientation, timestamp)  # type: ignore[arg-type]
        except InvalidPoseError:
            self._distrust()
            numbers = (position, orientation, timestamp)
            rule = Rule.NON_FINITE if _has_shapes(numbers, (3, 4, 1)) else Rule.WRONG_SHAPE
            self._report(rule, float("nan"), 0.0)
            return None
        return self.update(sample, now)

    @override
    def update(self, sample: Pose6D | None, now: float) -> Pose6D | None:
        self.jumped_to = None
        return super().update(sample, now)

    @override
    def _is_sound(self, sample: Pose6D) -> bool:
        length = float(np.linalg.norm(sample.orientation))
        if abs(length - 1.0) <= self._config.unit_tolerance:
            return True
        self._report(Rule.NON_UNIT, length, 1.0)
        return False

    @override
    def _is_near(self, before: Pose6D, sample: Pose6D) -> bool:
        config, elapsed = self._config, sample.timestamp - before.timestamp
        moved = float(np.linalg.norm(sample.position - before.position))
        reach = config.distance + config.speed * elapsed
        turned = float(quat_distance(before.orientation, sample.orientation))
        turn = config.turn + config.turn_speed * elapsed
        if moved > reach:
            self._report(Rule.INPUT_JUMP, moved, reach)
        elif turned > turn:
            # The rule counts in [m]: how far a point 1 m from the tracker moved.
            self._report(Rule.INPUT_JUMP, turned, turn)
        else:
            return True
        self.jumped_to = sample
        return False


class AngleGate(SampleGate[HandJointState]):
    """Lets through the finger angles of one glove that may be acted upon."""

    def update_raw(
        self, angles: ArrayLike, timestamp: float, now: float, side: str = "right"
    ) -> HandJointState | None:
        """Do as `update` with numbers that nobody has looked at yet."""
        try:
            sample = HandJointState(angles, timestamp=timestamp, side=side)  # type: ignore[arg-type]
        except InvalidHandStateError:
            self._distrust()
            sizes = (HAND_JOINT_COUNT, 1)
            rule = Rule.NON_FINITE if _has_shapes((angles, timestamp), sizes) else Rule.WRONG_SHAPE
            self._report(rule, float(np.size(angles)), HAND_JOINT_COUNT)
            return None
        return self.update(sample, now)

    @override
    def _is_sound(self, sample: HandJointState) -> bool:
        largest = float(np.abs(sample.joint_angles).max())
        if largest <= np.pi:
            return True
        self._report(Rule.POSITION, largest, np.pi)
        return False

    @override
    def _is_near(self, before: HandJointState, sample: HandJointState) -> bool:
        config, elapsed = self._config, sample.timestamp - before.timestamp
        turned = float(np.abs(sample.joint_angles - before.joint_angles).max())
        turn = config.turn + config.turn_speed * elapsed
        if turned <= turn:
            return True
        self._report(Rule.INPUT_JUMP, turned, turn)
        return False


class TrackerGates:
    """The gates of all trackers of an operator, which can be mistaken for each other.

    Where left and right jump to each other's place in one cycle, both are held until they jump
    back or the gates are reset, as on engaging: nobody crosses their arms that fast.

    Args:
        roles: The trackers there are.
        config: What their samples have to meet.
    """

    def __init__(
        self, roles: Iterable[TrackerRole], config: InputGateConfig | None = None
    ) -> None:
        self._config = config or InputGateConfig()
        self._log = CauseLog()
        self._gates = {role: PoseGate(role.value, self._config, self._log) for role in roles}
        self._twins = [pair for pair in TWINS if all(role in self._gates for role in pair)]
        # How far the trackers were apart when they were exchanged.
        self._swapped: dict[tuple[TrackerRole, TrackerRole], float] = {}

    def reset(self) -> None:
        """Forget every sample, and that trackers were exchanged."""
        for gate in self._gates.values():
            gate.reset()
        self._swapped = {}
        self._log.clear()

    @property
    def causes(self) -> tuple[Cause, ...]:
        """Why samples of the last cycle were not let through."""
        return self._log.causes

    def update(
        self, samples: Mapping[TrackerRole, Pose6D | None], now: float
    ) -> dict[TrackerRole, Pose6D | None]:
        """Return the pose of every tracker to act upon at time `now` [s], or None."""
        self._log.begin(now)
        places = {role: gate.newest for role, gate in self._gates.items()}
        poses = {role: gate.update(samples.get(role), now) for role, gate in self._gates.items()}
        for pair in self._twins:
            self._watch(pair, places[pair[0]], places[pair[1]])
            if pair in self._swapped:
                for role in pair:
                    poses[role] = None
                    apart = self._swapped[pair]
                    radius = self._config.swap_radius
                    self._log.add(Rule.SWAPPED, role.value, apart, radius, Severity.HOLD)
        return poses

    def _watch(
        self, pair: tuple[TrackerRole, TrackerRole], one: Pose6D | None, two: Pose6D | None
    ) -> None:
        """Notice that two trackers have been exchanged, or have changed back."""
        new_one, new_two = (self._gates[role].jumped_to for role in pair)
        if one is None or two is None or new_one is None or new_two is None:
            return
        if max(_distance(new_one, two), _distance(new_two, one)) > self._config.swap_radius:
            return
        if self._swapped.pop(pair, None) is None:
            self._swapped[pair] = _distance(one, two)


def _distance(one: Pose6D, two: Pose6D) -> float:
    return float(np.linalg.norm(one.position - two.position))


def _has_shapes(values: tuple[ArrayLike, ...], sizes: tuple[int, ...]) -> bool:
    try:
        found = tuple(np.asarray(value, dtype=np.float64).size for value in values)
    except (TypeError, ValueError):
        return False
    return found == sizes
