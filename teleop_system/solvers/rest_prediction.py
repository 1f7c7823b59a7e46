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
    """Where the joints come to rest if all brake, and how a step changes that.

    After a tick with step `x` a joint comes to rest at `x + x |x| / (2 c)` from where the tick
    began, with `c = a dt²`; if the last of its braking ticks is not a full one, a little before.
    Between the steps that a tick may take, `last ± c`, the chord of this parabola stands in
    for it; it is exact for full braking.

    Attributes:
        position: Place of rest if all brake from now on [rad]; updated in place.
    """

    def __init__(self, size: int) -> None:
        self.position = np.zeros(size)

    def set_change(self, change: Array) -> None:
        """Take `c`, the largest change of a step from tick to tick [rad]."""
        self._change = change
        self._half_inverse = 0.5 / change

    def update(self, joints: Array, last: Array) -> None:
        """Compute `position` from joint positions and the steps that led to them [rad]."""
        position = self.position
        absolute(last, position)
        multiply(position, self._half_inverse, position)
        multiply(position, last, position)
        add(position, joints, position)

    def shares(self, last: Array, moments: Array) -> Array:
        """Return which part of its way to rest each joint has gone at moments of braking.

        Args:
            last: The steps before braking begins [rad], shape (N,).
            moments: 0 is now, 1 is when the last joint comes to rest; shape (M, 1).

        Returns:
            The parts, shape (M, N).
        """
        ticks = np.abs(last) / self._change
        left = 1.0 - moments * (ticks.max() / np.maximum(ticks, 1e-9))
        return np.asarray(1.0 - np.maximum(left, 0.0) ** 2)

    def slopes(self, last: Array) -> Array:
        """Return the change of the place of rest per change of the step of this tick."""
        ratio = np.abs(last) / self._change
        # The chord runs from zero on where the tick may change the direction.
        slopes: Array = 1.0 + np.maximum(ratio, 0.5 * ratio + 0.5)
        return slopes
