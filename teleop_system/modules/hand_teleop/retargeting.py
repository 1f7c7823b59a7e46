# SPDX-License-Identifier: Apache-2.0
"""Retargeters: map a person's hand to a DG-5F by its 20 angles, or by its finger tips.

The operator's wrist frame has x along the fingers and z out of the back of the hand: the right
thumb is at +y, the left one at -y.
"""

import abc
from collections.abc import Mapping, Sequence

import numpy as np
from typing_extensions import override

from teleop_system import registry
from teleop_system.exceptions import InvalidHandStateError, UnknownNameError
from teleop_system.interfaces.master_device import HAND_SIDES, HandJointState
from teleop_system.modules.hand_teleop.config import (
    FingertipConfig,
    HandTeleopConfig,
)
from teleop_system.modules.hand_teleop.dg5f import (
    CURL_LOWER,
    JOINT_COUNT,
    MIRROR,
    UPPER,
    Array,
    finger_positions,
)
from teleop_system.modules.hand_teleop.fingertip_solver import FingertipSolver


class IRetargeter(abc.ABC):
    """Maps the operator's hand to joint positions of one DG-5F hand.

    A registered class is constructed with the side, "left" or "right", and the whole
    `HandTeleopConfig`. It has no notion of time: smoothing and limits follow later.
    """

    needs_tips = False
    """Whether states must carry finger tips."""

    @abc.abstractmethod
    def retarget(self, state: HandJointState) -> Array:
        """Return joint positions [rad], shape (20,), within the usable range of the side.

        Raises:
            InvalidHandStateError: The state lacks what is needed.
        """

    @abc.abstractmethod
    def reset(self, positions: Array) -> None:
        """Start from the measured positions [rad], shape (20,)."""


# Human angles whose mean drives each joint; curl and spread towards the thumb are positive.
_SOURCE_ANGLES = (
    *((0,), (1,), (2,), (2, 3)),
    *((5,), (4,), (6,), (7,)),
    *((9,), (8,), (10,), (11,)),
    *((13,), (12,), (14,), (15,)),
    *((17,), (17,), (16,), (18,)),
)
_SOURCES = np.zeros((JOINT_COUNT, JOINT_COUNT))
for _joint, _angles in enumerate(_SOURCE_ANGLES):
    _SOURCES[_joint, list(_angles)] = 1.0 / len(_angles)
_SIGNS = np.array([1, -1, 1, 1] + [-1, 1, 1, 1] * 3 + [1, -1, 1, 1], dtype=np.float64)
_ARCH = 16
_ABDUCTED_AWAY = (13, 17)
_LARGEST_ANGLE = 2.0 * np.pi
"""Bound on human angles in [rad], so that invalid ones cannot overflow."""


class AngleRetargeter(IRetargeter):
    """Maps 20 angles: each joint is a scaled and shifted human angle, clamped to its range."""

    def __init__(self, side: str, config: HandTeleopConfig | None = None) -> None:
        _require_side(side)
        angles = (config or HandTeleopConfig()).angles
        sources = _SOURCES.copy()
        if angles.abduction == "spread":
            sources[:, _ABDUCTED_AWAY] *= -1.0
        self._sources = sources
        self._offset = np.array(angles.offset)
        mirror = MIRROR if side == "left" else 1.0
        self._factor = np.array(angles.scale) * _SIGNS * mirror
        ends = np.stack([CURL_LOWER * mirror, UPPER * mirror])
        self._lower, self._upper = ends.min(axis=0), ends.max(axis=0)

    @override
    def reset(self, positions: Array) -> None:
        pass  # The map has no state.

    @override
    def retarget(self, state: HandJointState) -> Array:
        angles = np.minimum(np.maximum(state.joint_angles, -_LARGEST_ANGLE), _LARGEST_ANGLE)
        sources = self._sources @ angles
        sources[_ARCH] = abs(sources[_ARCH])  # The palm folds for both directions of the pinky.
        sources += self._offset
        sources *= self._factor
        clamped: Array = np.minimum(np.maximum(sources, self._lower), self._upper)
        return clamped


class FingertipBatch:
    """Solves the finger tips of one or both hands in one batch.

    Args:
        sides: "left", "right" or both.
        config: Weights and limits.
    """

    def __init__(self, sides: Sequence[str], config: FingertipConfig | None = None) -> None:
        for side in sides:
            _require_side(side)
        self._sides = tuple(sides)
        self._config = config or FingertipConfig()
        self._solver = FingertipSolver(self._config, len(self._sides))
        self._mirrors = np.stack([MIRROR if side == "left" else MIRROR**2 for side in sides])
        scale, origin = self._config.hand_scale, np.array(self._config.origin)
        # Wrist to hand frame: -z points out of the palm, x along the fingers. (H, 3, 3)
        rotations = [
            [[0.0, 0.0, -1.0], [0.0, -1.0 if side == "left" else 1.0, 0.0], [1.0, 0.0, 0.0]]
            for side in sides
        ]
        self._scaled_rotations, self._origin = scale * np.array(rotations), origin
        relaxed = np.tile(_RELAXED, (len(self._sides), 1))
        self._solver.reset(relaxed)
        self._targets = finger_positions(relaxed, extension=self._config.tip_extension)[:, :, 3]
        self._distances = np.full((4, len(self._sides)), np.inf)

    def reset(self, positions: Mapping[str, Array]) -> None:
        """Start from measured positions [rad], shape (20,), by side; other hands continue."""
        if not positions:
            return
        now = self._solver.positions.copy()
        for row, side in enumerate(self._sides):
            if side in positions:
                now[row] = self._mirrors[row] * positions[side]
        self._solver.reset(now)

    def retarget(self, tips: Mapping[str, Array]) -> dict[str, Array]:
        """Return joint positions [rad], shape (20,), of the given sides.

        Args:
            tips: Finger tips in the operator's wrist frame in [m], shape (5, 3), by side. A
                missing side keeps its last target.
        """
        for row, side in enumerate(self._sides):
            if side in tips:
                human = tips[side]
                self._targets[:, row] = self._origin + human @ self._scaled_rotations[row].T
                from_thumb = human[1:] - human[0]
                self._distances[:, row] = np.sqrt((from_thumb * from_thumb).sum(axis=-1))
        positions = self._mirrors * self._solver.solve(self._targets, self._distances)
        return {side: positions[row] for row, side in enumerate(self._sides) if side in tips}


class FingertipRetargeter(IRetargeter):
    """Places finger tips like the operator's, scaled; pinches close, and fingers stay apart.

    `FingertipBatch` solves two hands in little more than the time of one.
    """

    needs_tips = True

    def __init__(self, side: str, config: HandTeleopConfig | None = None) -> None:
        self._side = side
        self._batch = FingertipBatch((side,), (config or HandTeleopConfig()).fingertips)

    @override
    def reset(self, positions: Array) -> None:
        self._batch.reset({self._side: positions})

    @override
    def retarget(self, state: HandJointState) -> Array:
        return self._batch.retarget({self._side: tips_of(state)})[self._side]


# Half closed and opposed: from here the solver reaches every reachable tip.
_RELAXED = np.array(
    [0.4, -1.2, 0.3, 0.3] + [0.0, 0.5, 0.5, 0.35] * 3 + [0.0, 0.0, 0.5, 0.4], dtype=np.float64
)


def tips_of(state: HandJointState) -> Array:
    """Return the finger tips of a state [m], shape (5, 3).

    Raises:
        InvalidHandStateError: The state has none.
    """
    if state.finger_tip_positions is None:
        raise InvalidHandStateError(
            "the retargeter 'fingertips' needs finger_tip_positions, got None; "
            "use 'angles' with a glove without tips"
        )
    return state.finger_tip_positions


def create_retargeter(side: str, config: HandTeleopConfig) -> IRetargeter:
    """Return the retargeter that the configuration names, built in or registered.

    Raises:
        UnknownNameError: The name is not registered.
    """
    built_in = {"angles": AngleRetargeter, "fingertips": FingertipRetargeter}
    if config.retargeter in built_in:
        return built_in[config.retargeter](side, config)
    made = registry.create("retargeter", config.retargeter, side, config)
    assert isinstance(made, IRetargeter)
    return made


def _require_side(side: str) -> None:
    if side not in HAND_SIDES:
        raise UnknownNameError("hand side", side, HAND_SIDES)
