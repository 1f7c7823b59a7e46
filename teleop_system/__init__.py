# SPDX-License-Identifier: Apache-2.0
"""Whole-body teleoperation: a person moves, and a robot moves with them.

The package is built on small abstract bases (`teleop_system.interfaces`); devices, simulators and
solvers implement them, and controllers use nothing else. Importing it needs NumPy alone.
"""

__version__ = "0.1.0"
