# SPDX-License-Identifier: Apache-2.0
"""Valid and invalid samples of operators' hands."""

import numpy as np
from numpy.typing import NDArray

from teleop_system.interfaces import HandJointState
from teleop_system.simulators.human.gestures import GESTURES
from teleop_system.simulators.human.hand_model import LOWER, UPPER, finger_tips

Array = NDArray[np.float64]

SIDES = ("left", "right")
DT = 0.01


def state(
    angles: Array, time: float, side: str = "right", *, valid: bool = True
) -> HandJointState:
    """Return a sample of a hand with fingertips that match its angles."""
    return HandJointState(angles, finger_tips(angles, side), time, side, valid)


def gesture(name: str, time: float = 0.0, side: str = "right") -> HandJointState:
    return state(GESTURES[name], time, side)


def random_angles(rng: np.random.Generator) -> Array:
    """Return angles in the range of a hand, and slightly beyond."""
    return rng.uniform(LOWER - 0.3, UPPER + 0.3)
