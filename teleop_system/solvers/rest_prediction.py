# SPDX-License-Identifier: Apache-2.0
"""Where joints come to rest if they brake from now on."""

from typing import NamedTuple

import numpy as np
from numpy import absolute, add, multiply
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Way(NamedTuple):
    """A state of the robot and where it leads to if all joints brake; each of shape (N,).

    Attributes:
        joints: Joint positions [rad].
        step: The step that led there [rad].
        rest: Where the joints come to rest [rad].
    """

    joints: Array
    step: Array
    rest: Array


class RestPrediction:
    """Where the joints come to rest if all brake.

    After a tick with step `x` a joint comes to rest at `x + x |x| / (2 c)` from where the tick
    began, with `c = a dt²`; if the last of its braking ticks is not a full one, a little before.

    Attributes:
        position: Place of rest if all brake from now on [rad]; updated in place.
    """

    def __init__(self, size: int) -> None:
        self.position = np.zeros(size)

    def set_change(self, change: Array) -> None:
        """Take `c`, the largest change of a step from tick to tick [rad]."""
        self._half_inverse = 0.5 / change

    def update(self, joints: Array, last: Array) -> None:
        """Compute `position` from joint positions and the steps that led to them [rad]."""
        position = self.position
        absolute(last, position)
        multiply(position, self._half_inverse, position)
        multiply(position, last, position)
        add(position, joints, position)
