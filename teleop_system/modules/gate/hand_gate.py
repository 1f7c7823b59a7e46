# SPDX-License-Identifier: Apache-2.0
"""The gate of a glove or a hand tracker."""

import math

import numpy as np
from typing_extensions import override

from teleop_system.interfaces.causes import Rule
from teleop_system.interfaces.master_device import HandJointState
from teleop_system.modules.gate.config import GateConfig
from teleop_system.modules.gate.hand_kernels import largest_angle, largest_reach
from teleop_system.modules.gate.sample_gate import BAD, NEW, SampleGate, Verdict
from teleop_system.safety.cause_log import CauseLog

LARGEST_ANGLE = math.pi
"""Largest angle of a human finger joint in [rad], with a wide margin."""
LARGEST_REACH = 0.4
"""Largest distance of a finger tip from the wrist in [m], with a wide margin."""


class HandGate(SampleGate[HandJointState]):
    """Checks the finger states of one hand: the right side, and what a human hand can do.

    Args:
        side: The hand, "left" or "right".
        config: Limits of a usable sample.
    """

    def __init__(self, side: str, config: GateConfig) -> None:
        super().__init__(f"{side} hand", config)
        self._side = side

    @override
    def _judge(self, sample: HandJointState, log: CauseLog) -> Verdict:
        if sample.side != self._side:
            log.add(Rule.SWAPPED, self._name, 1.0, 0.0, self._severity)
            return BAD
        angle = largest_angle(sample.joint_angles)
        if angle > LARGEST_ANGLE:
            log.add(Rule.POSITION, self._name, angle, LARGEST_ANGLE, self._severity)
            return BAD
        if sample.finger_tip_positions is None:
            return NEW
        reach = largest_reach(sample.finger_tip_positions)
        if reach > LARGEST_REACH:
            log.add(Rule.INPUT_JUMP, self._name, reach, LARGEST_REACH, self._severity)
            return BAD
        return NEW

    @override
    def _are_equal(self, sample: HandJointState, other: HandJointState) -> bool:
        return np.array_equal(sample.joint_angles, other.joint_angles)
