# SPDX-License-Identifier: Apache-2.0
"""Where joints come to rest if they brake from now on."""

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


def resting_position(joints: Array, last: Array, change: Array) -> Array:
    """Return where joints come to rest if they brake [rad].

    After a tick with step `x` a joint comes to rest at `x + x |x| / (2 c)` from where the tick
    began, with `c = a dt²`; if the last of its braking ticks is not a full one, a little before.

    Args:
        joints: Joint positions [rad].
        last: The step that led there [rad].
        change: `c`, the largest change of a step from tick to tick [rad].
    """
    return np.asarray(np.abs(last) * (0.5 / change) * last + joints)
