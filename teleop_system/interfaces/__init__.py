# SPDX-License-Identifier: Apache-2.0
"""The contract: values and abstract base classes that connect all parts of the system.

A device, robot, solver, simulator or camera is a class that implements one of these bases. Values
are frozen and validated at construction; quaternions are xyzw, all units are SI. This room imports
NumPy and the standard library only. `causes` defines why a motion was limited or stopped.
"""

from teleop_system.interfaces.buffered_camera import BufferedCamera
from teleop_system.interfaces.camera_stream import ICameraStream, RGBDFrame
from teleop_system.interfaces.ik_solver import IIKSolver, IKResult
from teleop_system.interfaces.master_device import (
    HandJointState,
    IHandInput,
    IMasterTracker,
    IReplayDevice,
    Pose6D,
    TrackerRole,
)
from teleop_system.interfaces.simulator import ISimulator, SimState
from teleop_system.interfaces.slave_robot import (
    ArmSide,
    IEffortFeedForward,
    IMobileBase,
    ISlaveArm,
    ISlaveHand,
    JointState,
    RobotSlaves,
    VelocityCommand,
)

__all__ = [
    "ArmSide",
    "BufferedCamera",
    "HandJointState",
    "ICameraStream",
    "IEffortFeedForward",
    "IHandInput",
    "IIKSolver",
    "IKResult",
    "IMasterTracker",
    "IMobileBase",
    "IReplayDevice",
    "ISimulator",
    "ISlaveArm",
    "ISlaveHand",
    "JointState",
    "Pose6D",
    "RGBDFrame",
    "RobotSlaves",
    "SimState",
    "TrackerRole",
    "VelocityCommand",
]
