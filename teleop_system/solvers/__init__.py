# SPDX-License-Identifier: Apache-2.0
"""Inverse kinematics: solvers behind one interface, swapped by name alone.

    qp            all limits and self-collision in one warm-started QP; the one to use
    pink          Pink's tasks and limits
    dls           damped least squares, no QP library
    proportional  a linear map about a posture, NumPy alone

`make_solver()` builds any of them for a robot. Importing this package imports no library of
inverse kinematics; the chosen solver imports its own.
"""

from teleop_system.solvers.chain_config import ChainConfig
from teleop_system.solvers.factory import make_solver
from teleop_system.solvers.options import SolverOptions

__all__ = ["ChainConfig", "SolverOptions", "make_solver"]
