# SPDX-License-Identifier: Apache-2.0
"""What a solver prefers besides its targets: a posture, distance from limits, and calm joints.

The targets of two hands and a torso leave a robot little choice, and near a singular posture that
choice costs joint speeds that no robot can follow. The prices here are small against the targets
if these are easily met, and decide if they are not.
"""

import numpy as np
from numpy.typing import NDArray

from teleop_system.solvers import ik_kernels as kernels
from teleop_system.solvers.motion_bounds import JointLimitArrays
from teleop_system.solvers.options import SolverOptions

Array = NDArray[np.float64]

REFERENCE_ACCELERATION = 10.0
"""Acceleration [rad/s^2] of a joint whose price is `inertia`; slower joints pay more."""
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
        self._terms = terms = np.zeros(size, dtype=kernels.PRICE)
        terms["motion"] = options.posture_weight**2 + options.damping + inertia
        terms["inertia"] = inertia
        terms["lowest"], terms["highest"] = limits.lower + margin, limits.upper - margin
        terms["limit"] = options.limit_weight**2 / np.maximum(margin, 1e-9)

    def set_period(self, dt: float) -> None:
        """Prepare for ticks of `dt` [s]."""
        options = self._options
        to_posture, off_limit = (
            min(1.0, speed * dt) for speed in (options.posture_speed, options.limit_speed)
        )
        self._terms["posture"] = options.posture_weight**2 * to_posture
        self._terms["limit_pull"] = options.limit_weight**2 * off_limit

    def update(self, joints: Array, last: Array, posture: Array) -> None:
        """Compute `prices` and `pull` of a tick.

        Args:
            joints: Joint positions [rad], shape (N,).
            last: The steps of the tick before [rad], shape (N,).
            posture: The preferred joint positions [rad], shape (N,).
        """
        kernels.regularize(self._terms, joints, last, posture, self.prices, self.pull)
