# SPDX-License-Identifier: Apache-2.0
"""Kinematics of a human hand: ranges of its 20 angles, and fingertip positions.

The order of the angles is that of the contract: thumb, index, middle, ring, pinky, and for each
MCP flexion, MCP abduction, PIP flexion, DIP flexion. Flexion curls the finger; abduction is
positive towards the thumb, and for the thumb away from the palm. The wrist frame has x along the
fingers and z out of the back of the hand, so the right thumb is at +y, the left at -y.
"""

import numpy as np
from numpy.typing import NDArray

from teleop_system.interfaces.master_device import FINGER_COUNT

Array = NDArray[np.float64]

_FINGER_LOWER = (-0.4, -0.35, 0.0, -0.1)
_FINGER_UPPER = (1.6, 0.35, 1.9, 1.4)

LOWER: Array = np.array([(-0.2, -0.3, -0.2, -0.3), *[_FINGER_LOWER] * 4]).ravel()
"""Smallest angles of a hand in [rad], shape (20,)."""
UPPER: Array = np.array([(0.9, 1.0, 1.0, 1.4), *[_FINGER_UPPER] * 4]).ravel()
"""Largest angles of a hand in [rad], shape (20,)."""

KNUCKLES: Array = np.array(
    [
        (0.025, 0.025, -0.012),
        (0.088, 0.026, 0.000),
        (0.090, 0.004, 0.004),
        (0.084, -0.017, 0.001),
        (0.075, -0.036, -0.006),
    ]
)
"""First joints of the right hand's fingers in the wrist frame in [m], shape (5, 3)."""
BONES: Array = np.array(
    [
        (0.046, 0.032, 0.027),
        (0.044, 0.026, 0.022),
        (0.048, 0.030, 0.023),
        (0.044, 0.028, 0.023),
        (0.036, 0.021, 0.020),
    ]
)
"""Lengths of the bones from each first joint outwards in [m], shape (5, 3)."""
THUMB_REST = 0.75
"""Angle between the straight thumb and the fingers in [rad]."""


def finger_tips(angles: Array, side: str) -> Array:
    """Return the fingertips in the wrist frame in [m], shape (5, 3)."""
    by_finger = np.reshape(angles, (FINGER_COUNT, 4))
    curls = np.cumsum(by_finger[:, [0, 2, 3]], axis=1)  # Angle of each bone to the palm.
    spread = by_finger[:, 1, None]
    directions = np.stack(
        [np.cos(curls) * np.cos(spread), np.cos(curls) * np.sin(spread), -np.sin(curls)], axis=-1
    )
    # The thumb curls across the palm; its abduction tilts it away from the palm.
    aside, away = THUMB_REST - curls[0], np.full(3, float(spread[0, 0]))
    directions[0] = np.stack(
        [np.cos(aside) * np.cos(away), np.sin(aside) * np.cos(away), -np.sin(away)], axis=-1
    )
    tips: Array = KNUCKLES + (BONES[..., None] * directions).sum(axis=1)
    if side == "left":
        tips[:, 1] *= -1.0
    return tips
