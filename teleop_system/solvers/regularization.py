# SPDX-License-Identifier: Apache-2.0
"""What a solver prefers besides its targets: a posture, distance from limits, and calm joints.

The targets of two hands and a torso leave a robot little choice, and near a singular posture that
choice costs joint speeds that no robot can follow. The prices here are small against the targets
if these are easily met, and decide if they are not.
"""

import numpy as np
from numpy.typing import NDArray

from teleop_system.solvers.ik_kernels import PRICE
from teleop_system.solvers.motion_bounds import JointLimitArrays
from teleop_system.solvers.options import SolverOptions

Records = NDArray[np.void]

REFERENCE_ACCELERATION = 10.0
"""Acceleration [rad/s^2] of a joint whose price is `inertia`; slower joints pay more."""
LARGEST_MARGIN = 0.1
"""Part of a joint's range that the margin of a limit may take."""


def motion_prices(limits: JointLimitArrays, options: SolverOptions, dt: float) -> Records:
    """Return what motion of the joints costs in ticks of `dt` [s], `PRICE` records, shape (N,)."""
    prices: Records = np.zeros(limits.lower.size, dtype=PRICE)
    inertia = options.inertia * (REFERENCE_ACCELERATION / limits.acceleration) ** 2
    margin = np.minimum(options.limit_margin, LARGEST_MARGIN * (limits.upper - limits.lower))
    prices["motion"] = options.posture_weight**2 + options.damping + inertia
    prices["inertia"] = inertia
    prices["lowest"], prices["highest"] = limits.lower + margin, limits.upper - margin
    prices["limit"] = options.limit_weight**2 / np.maximum(margin, 1e-9)
    prices["posture"] = options.posture_weight**2 * min(1.0, options.posture_speed * dt)
    prices["limit_pull"] = options.limit_weight**2 * min(1.0, options.limit_speed * dt)
    return prices
