# SPDX-License-Identifier: Apache-2.0
"""What a solver prefers besides its targets: a posture, room to limits, and calm joints.

The targets of two hands and a torso leave a robot little choice, and near a singular posture what
is left costs joint speeds that nobody can follow. The prices here are small against the targets
where these are easily met, and decide where they are not.
"""

import numpy as np
from numpy.typing import NDArray

from teleop_system.solvers import ik_kernels as kernels
from teleop_system.solvers.motion_bounds import JointLimitArrays
from teleop_system.solvers.options import SolverOptions

Array = NDArray[np.float64]

REFERENCE_ACCELERATION = 10.0
"""Acceleration [rad/s^2] of a joint that pays `inertia` as it is; slower joints pay more."""
LARGEST_MARGIN = 0.1
"""Part of a joint's range that the margin of a limit may take."""


class Regularization:
    """The prices of joint motion in a tick, and the motion that costs least.

    Args:
        limits: Limits of the joints.
        options: What each term weighs.

    Attributes:
        prices: Of each joint's step, squared, in [1/rad^2], shape (N,); updated in place.
        pull: The step that costs least, times its prices, shape (N,); updated in place.
    """

    def __init__(self, limits: JointLimitArrays, options: SolverOptions) -> None:
        size = limits.lower.size
        self._options = options
        self.prices = np.empty(size)
        self.pull = np.empty(size)
        inertia = options.inertia * (REFERENCE_ACCELERATION / limits.acceleration) ** 2
        margin = np.minimum(options.limit_margin, LARGEST_MARGIN * (limits.upper - limits.lower))
        self._terms = np.zeros((7, size))
        price, _, _, lowest, highest, _, limit_price = self._terms
        price[:] = options.posture_weight**2 + options.damping + inertia
        self._terms[2] = inertia
        lowest[:], highest[:] = limits.lower + margin, limits.upper - margin
        limit_price[:] = options.limit_weight**2 / np.maximum(margin, 1e-9)

    def set_period(self, dt: float) -> None:
        """Prepare for ticks of `dt` [s]."""
        options = self._options
        self._terms[1] = options.posture_weight**2 * min(1.0, options.posture_speed * dt)
        self._terms[5] = options.limit_weight**2 * min(1.0, options.limit_speed * dt)

    def update(self, joints: Array, last: Array, posture: Array) -> None:
        """Compute `prices` and `pull` of a tick.

        Args:
            joints: Joint positions [rad], shape (N,).
            last: The steps of the tick before [rad], shape (N,).
            posture: The preferred joint positions [rad], shape (N,).
        """
        kernels.regularize(self._terms, joints, last, posture, self.prices, self.pull)
