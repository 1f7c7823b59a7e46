# SPDX-License-Identifier: Apache-2.0
"""A simulated glove."""

import math
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from teleop_system.exceptions import InvalidValueError, UnknownNameError
from teleop_system.interfaces import HandJointState, IHandInput
from teleop_system.interfaces.master_device import HAND_JOINT_COUNT, HAND_SIDES
from teleop_system.simulators.human.gestures import GESTURES, REST, blend_gestures, gesture_at
from teleop_system.simulators.human.hand_model import finger_tips

MOTIONS = ("gestures", "sinusoid", *GESTURES)
GESTURE_SPAN = 2.0
"""Default time from one gesture to the next in [s]."""
SINE_FREQUENCY = 0.25


class SimulatedHand(IHandInput):
    """Finger angles of a simulated person; a pure function of time."""

    def __init__(
        self,
        side: str = "right",
        *,
        motion: str = "gestures",
        seed: int = 0,
        frequency: float | None = None,
        with_tips: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Create a glove.

        Args:
            side: "left" or "right".
            motion: "gestures" (one after another), "sinusoid" (between open and fist), or the
                name of one gesture to hold.
            seed: Seed of the gestures; left and right hand differ.
            frequency: Gestures or sine periods per second in [Hz].
            with_tips: Whether states contain fingertip positions.
            clock: Monotonic time in [s].

        Raises:
            UnknownNameError: The side or motion is unknown.
            InvalidValueError: The frequency is not positive.
        """
        if side not in HAND_SIDES:
            raise UnknownNameError("hand side", side, HAND_SIDES)
        if motion not in MOTIONS:
            raise UnknownNameError("motion", motion, MOTIONS)
        if frequency is not None and not (math.isfinite(frequency) and frequency > 0.0):
            raise InvalidValueError(f"frequency must be positive, got {frequency}")
        self._side = side
        self._motion = motion
        self._seed = 2 * seed + HAND_SIDES.index(side)
        self._span = 1.0 / frequency if frequency is not None else GESTURE_SPAN
        self._rate = 2.0 * math.pi * (frequency or SINE_FREQUENCY)
        self._with_tips = with_tips
        self._clock = clock
        self._started: float | None = None

    def state_at(self, time: float) -> HandJointState:
        """Return the state `time` [s] after the start; its stamp is `time`."""
        return self._state(time, time)

    @override
    def initialize(self) -> bool:
        self._started = self._clock()
        return True

    @override
    def get_joint_state(self) -> HandJointState:
        now = self._clock()
        if self._started is None:
            angles = np.zeros(HAND_JOINT_COUNT)
            return HandJointState(angles, timestamp=now, side=self._side, valid=False)
        return self._state(now - self._started, now)

    @override
    def is_connected(self) -> bool:
        return self._started is not None

    @override
    def get_side(self) -> str:
        return self._side

    @override
    def shutdown(self) -> None:
        self._started = None

    def _state(self, elapsed: float, stamp: float) -> HandJointState:
        angles = self._angles(max(elapsed, 0.0))
        tips = finger_tips(angles, self._side) if self._with_tips else None
        return HandJointState(angles, tips, stamp, self._side)

    def _angles(self, elapsed: float) -> NDArray[np.float64]:
        if self._motion == "gestures":
            return gesture_at(self._seed, self._span, elapsed)
        if self._motion == "sinusoid":
            share = 0.5 - 0.5 * math.cos(self._rate * elapsed)
            return GESTURES["open"] + (GESTURES["fist"] - GESTURES["open"]) * share
        return blend_gestures(REST, self._motion, elapsed)
