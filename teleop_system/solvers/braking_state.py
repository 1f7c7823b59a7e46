# SPDX-License-Identifier: Apache-2.0
"""A state of the robot, and where braking leads from it."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class BrakingState(NamedTuple):
    """A state of the robot, and where it comes to rest if all joints brake; each of shape (N,).

    Attributes:
        joints: Joint positions [rad].
        step: The step that led there [rad].
        rest: Resting positions [rad].
    """

    joints: Array
    step: Array
    rest: Array
