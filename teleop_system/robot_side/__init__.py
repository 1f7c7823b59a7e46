# SPDX-License-Identifier: Apache-2.0
"""Everything that stands on the robot's machine, shared by the session and the ROS nodes.

    intake -> engagement -> SafetyManager -> drive -> ISlaveArm, ISlaveHand, IMobileBase

The intake decides which sender owns a part. The engagement decides whether commands count now. The
safety manager limits them. The drive is the only caller of an actuator.
"""
