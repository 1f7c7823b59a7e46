# SPDX-License-Identifier: Apache-2.0
"""Conformance suites for the interfaces: one per abstract base class, for any implementation.

Derive a pytest class from a suite and define `create`; every promise in the docstrings of the
interface is tested:

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
