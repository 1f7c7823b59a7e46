# SPDX-License-Identifier: Apache-2.0
"""The topics a simulated robot publishes: joints, odometry, IMUs, wrenches and the clock."""

from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState

from teleop_system.ros2.cdr import JointStateCodec, StampedCodec, encode_clock
from teleop_system.safety import SafetyOutput
from teleop_system.simulators.mujoco_sensors import ImuReading
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames

ODOM, BASE_LINK = "odom", "base_link"
UNKNOWN = (0.0,) * 9
"""An unknown covariance is zero by convention."""
NO_POSE_COVARIANCE = (0.0,) * 36


class SensorTopic:
    """A publisher that is used only while it has subscribers.

    Args:
        node: The `TeleopNode` that publishes.
        kind: Type of the messages.
        name: Topic without prefix.
        codec: Encodes the messages.
    """

    def __init__(self, node: Any, kind: Any, name: str, codec: Any = None) -> None:
        self._publisher = node.publisher(kind, name, QoSPreset.SENSOR_DATA)
        self.codec = codec
        self.is_wanted = False

    def update_subscribers(self) -> None:
        """Update whether the topic has subscribers."""
        self.is_wanted = self._publisher.get_subscription_count() > 0

    def publish(self, data: bytes) -> None:
        """Send a message."""
        self._publisher.publish(data)


class SensorTopics:
    """Publishers of all measurements, and of the commanded joint targets.

    Args:
        node: The `TeleopNode` that owns the simulator.
        simulator: The simulator.
        joints: The joints of the safety manager's output, in its order.
        has_base: Whether the robot has a base that drives.
        with_clock: Whether to publish simulated time.
    """

    def __init__(
        self,
        node: Any,
        simulator: MuJoCoSimulator,
        joints: tuple[str, ...],
        *,
        has_base: bool,
        with_clock: bool,
    ) -> None:
        self._simulator = simulator
        names = simulator.get_joint_names()
        self._arrays = [np.empty(len(names)) for _ in range(3)]
        self._states = SensorTopic(
            node, JointState, TopicNames.JOINT_STATES, JointStateCodec(names)
        )
        self._targets = SensorTopic(
            node, JointState, TopicNames.JOINT_TARGETS, JointStateCodec(joints)
        )
        wrists, units = simulator.get_sensor_names()
        self._wrists = {
            name: SensorTopic(
                node,
                WrenchStamped,
                TopicNames.force_torque(name),
                StampedCodec(StampedCodec.WRENCH, f"{name}_ft"),
            )
            for name in wrists
        }
        self._units = {
            name: SensorTopic(
                node,
                Imu,
                TopicNames.imu(name),
                StampedCodec(StampedCodec.IMU, f"{name}_imu"),
            )
            for name in units
        }
        self._odometry: SensorTopic | None = None
        if has_base:
            codec = StampedCodec(StampedCodec.ODOMETRY, ODOM, BASE_LINK)
            self._odometry = SensorTopic(node, Odometry, TopicNames.BASE_ODOM, codec)
        self._clock = SensorTopic(node, Clock, TopicNames.CLOCK) if with_clock else None
        optional = [
            publisher for publisher in (self._odometry, self._clock) if publisher is not None
        ]
        self._publishers = [
            self._states,
            self._targets,
            *self._wrists.values(),
            *self._units.values(),
            *optional,
        ]

    def update_subscribers(self) -> None:
        """Update which topics have subscribers; the rest is not published."""
        for publisher in self._publishers:
            publisher.update_subscribers()

    def publish_clock(self, simulated: float) -> None:
        """Publish the simulated time in [s]."""
        if self._clock is not None and self._clock.is_wanted:
            self._clock.publish(encode_clock(simulated))

    def publish_state(self, stamp: float, output: SafetyOutput | None) -> None:
        """Publish joint states, joint targets and sensors of time `stamp` [s]."""
        simulator = self._simulator
        if self._states.is_wanted:
            positions, velocities, efforts = self._arrays
            simulator.read_joint_positions(positions)
            simulator.read_joint_velocities(velocities)
            simulator.read_joint_efforts(efforts)
            rows = (positions.tolist(), velocities.tolist(), efforts.tolist())
            self._states.publish(self._states.codec.encode(stamp, *rows))
        if output is not None and self._targets.is_wanted:
            speeds = output.velocities.tolist()
            data = self._targets.codec.encode(stamp, output.positions.tolist(), speeds)
            self._targets.publish(data)
        for name, publisher in self._wrists.items():
            if publisher.is_wanted:
                wrench = simulator.get_force_torque(name)
                values = (*wrench.force.tolist(), *wrench.torque.tolist())
                publisher.publish(publisher.codec.encode(stamp, values))
        for name, publisher in self._units.items():
            if publisher.is_wanted:
                publisher.publish(
                    publisher.codec.encode(stamp, _imu_values(simulator.get_imu(name)))
                )

    def publish_odometry(self, stamp: float) -> None:
        """Publish the pose of the base since the start, and its velocity in its own frame."""
        if self._odometry is None or not self._odometry.is_wanted:
            return
        position, orientation = self._simulator.get_odometry()
        linear, angular = self._simulator.get_base_velocity()
        values = (
            *position.tolist(),
            *orientation.tolist(),
            *NO_POSE_COVARIANCE,
            *linear.tolist(),
            *angular.tolist(),
            *NO_POSE_COVARIANCE,
        )
        self._odometry.publish(self._odometry.codec.encode(stamp, values))


def _imu_values(reading: ImuReading) -> tuple[float, ...]:
    return (
        *reading.orientation.tolist(),
        *UNKNOWN,
        *reading.angular_velocity.tolist(),
        *UNKNOWN,
        *reading.linear_acceleration.tolist(),
        *UNKNOWN,
    )
