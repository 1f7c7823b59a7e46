# SPDX-License-Identifier: Apache-2.0
"""A glove of a recorded person."""

import time
from typing import Any

import numpy as np
from typing_extensions import override

from teleop_system.exceptions import UnknownNameError
from teleop_system.interfaces import HandJointState, IHandInput
from teleop_system.interfaces.master_device import HAND_JOINT_COUNT, HAND_SIDES
from teleop_system.mocap.mapped_motion import MappedMotion
from teleop_system.mocap.playback import Clock, Playback
from teleop_system.mocap.replay_device import ReplayDevice
from teleop_system.simulators.human.hand_model import finger_tips


class BVHHandAdapter(ReplayDevice, IHandInput):
    """Finger angles of a recorded motion, or finger angles derived from its wrist.

    Args:
        side: "left" or "right".
        motion: The motion if it is already loaded; else `options` name it.
        playback: The playback if other devices share it.
        clock: Monotonic time in [s].
        options: Fields of `MocapConfig`, such as `file`.

    Raises:
        UnknownNameError: The side is unknown.
        ConfigError: An option is unknown or invalid.
    """

    def __init__(
        self,
        side: str = "right",
        *,
        motion: MappedMotion | None = None,
        playback: Playback | None = None,
        clock: Clock = time.monotonic,
        **options: Any,
    ) -> None:
        if side not in HAND_SIDES:
            raise UnknownNameError("hand side", side, HAND_SIDES)
        self._side = side
        super().__init__(f"{side} glove", motion, playback, clock, options)

    @override
    def get_joint_state(self) -> HandJointState:
        now = self._clock()
        if not self._is_connected or self._motion is None or self._playback is None:
            angles = np.zeros(HAND_JOINT_COUNT)
            return HandJointState(angles, timestamp=now, side=self._side, valid=False)
        angles = self._motion.hand(self._side, self._playback.time())
        return HandJointState(angles, finger_tips(angles, self._side), now, self._side)

    @override
    def get_side(self) -> str:
        return self._side
