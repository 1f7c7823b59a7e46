# SPDX-License-Identifier: Apache-2.0
"""Conformance suites: one per abstract base, for our implementations and for yours.

Derive a pytest class from a suite, say how to create your implementation, and every promise of
the interface's docstrings is tested:

    from teleop_system.testing import MasterTrackerSuite

    class TestMyTracker(MasterTrackerSuite):
        def create(self) -> MyTracker:
            return MyTracker(port=0)
"""

from teleop_system.testing.device_suites import (
    CameraStreamSuite,
    HandInputSuite,
    MasterTrackerSuite,
)
from teleop_system.testing.robot_suites import (
    MobileBaseSuite,
    SlaveArmSuite,
    SlaveHandSuite,
)
from teleop_system.testing.simulator_suite import SimulatorSuite
from teleop_system.testing.solver_suite import IKSolverSuite

__all__ = [
    "CameraStreamSuite",
    "HandInputSuite",
    "IKSolverSuite",
    "MasterTrackerSuite",
    "MobileBaseSuite",
    "SimulatorSuite",
    "SlaveArmSuite",
    "SlaveHandSuite",
]
