# SPDX-License-Identifier: Apache-2.0
"""The mobile base over ROS 2 topics; the only place that knows its messages."""

import math
from typing import Any

import numpy as np
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from numpy.typing import NDArray
from typing_extensions import override

from teleop_system.exceptions import DeviceNotConnectedError, InvalidValueError
from teleop_system.interfaces import IMobileBase, Pose6D, VelocityCommand
from teleop_system.ros2.cdr import StampedCodec, TwistCodec
from teleop_system.ros2.sample_topic import SampleTopic
from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames


class VelocityWriter:
    """The topic that the base is commanded on; while the node is not active, nothing is sent."""

    def __init__(self, node: Any) -> None:
        self._codec = TwistCodec()
        self._publisher = node.publisher(Twist, TopicNames.BASE_CMD_VEL, QoSPreset.COMMAND)

    def send(self, command: VelocityCommand) -> None:
        """Command a velocity; a `Twist` has no stamp, so its time is when it arrives."""
        self._publisher.publish(
            self._codec.encode(command.linear_x, command.linear_y, command.angular_z)
        )


class BaseCommandTopic(IMobileBase):
    """The command topic of the base and its odometry, seen as an `IMobileBase`.

    Args:
        node: The `TeleopNode` that commands.
    """

    def __init__(self, node: Any) -> None:
        self._node = node
        self._writer: VelocityWriter | None = None
        self._is_open = False
        self._odometry: SampleTopic[Pose6D] = SampleTopic(
            node, Odometry, TopicNames.BASE_ODOM, _read_odometry, subject="odom"
        )

    @override
    def initialize(self) -> bool:
        if self._writer is None:
            self._writer = VelocityWriter(self._node)
        self._odometry.open()
        self._is_open = True
        return True

    @override
    def send_velocity(self, linear_x: float, linear_y: float, angular_z: float) -> None:
        if self._writer is None or not self._is_open:
            raise DeviceNotConnectedError(TopicNames.BASE_CMD_VEL)
        if not all(map(math.isfinite, (linear_x, linear_y, angular_z))):
            self.stop()
            raise InvalidValueError(
                f"velocity must be finite, got {linear_x}, {linear_y}, {angular_z}"
            )
        self._writer.send(VelocityCommand(linear_x, linear_y, angular_z))

    @override
    def get_odometry(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        pose = self._odometry.latest
        if pose is None:
            return np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])
        return pose.position, pose.orientation

    @override
    def stop(self) -> None:
        if self._writer is not None and self._is_open:
            self._writer.send(VelocityCommand())

    @override
    def is_connected(self) -> bool:
        return self._is_open

    @override
    def shutdown(self) -> None:
        self.stop()
        self._is_open = False
        self._odometry.close()


def _read_odometry(data: bytes) -> Pose6D:
    message = _ODOMETRY.decode(data)
    values = np.array(message.values[:7])
    return Pose6D(values[:3], values[3:], message.stamp)


_ODOMETRY = StampedCodec(StampedCodec.ODOMETRY, child="")
