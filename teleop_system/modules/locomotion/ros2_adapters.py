# SPDX-License-Identifier: Apache-2.0
"""Sends base velocities on their ROS 2 topic."""

from typing import Any

from geometry_msgs.msg import Twist

from teleop_system.interfaces import VelocityCommand
from teleop_system.ros2.cdr import TwistCodec
from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames


class VelocityWriter:
    """Publishes base velocities; sends nothing while the node is inactive."""

    def __init__(self, node: Any) -> None:
        self._codec = TwistCodec()
        self._publisher = node.publisher(Twist, TopicNames.BASE_CMD_VEL, QoSPreset.COMMAND)

    def send(self, command: VelocityCommand) -> None:
        """Publish a velocity. A `Twist` has no stamp, so the receiver uses the arrival time."""
        self._publisher.publish(
            self._codec.encode(command.linear_x, command.linear_y, command.angular_z)
        )
