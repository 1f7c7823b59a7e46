# SPDX-License-Identifier: Apache-2.0
"""Everything that stands on the robot's machine, shared by the session and the ROS nodes.

    intake -> engagement -> SafetyManager -> drive -> ISlaveArm, ISlaveHand, IMobileBase

The intake decides whose commands count, the engagement decides whether they count now, the safety
manager limits them, and the drive is the only caller of an actuator.
"""
