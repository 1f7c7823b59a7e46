# SPDX-License-Identifier: Apache-2.0
"""The command topics of a robot: messages become commands of a part from a sender."""

import functools
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from geometry_msgs.msg import Twist
from numpy.typing import NDArray
from sensor_msgs.msg import JointState

from teleop_system.exceptions import InvalidValueError
from teleop_system.interfaces import VelocityCommand
from teleop_system.interfaces.causes import Rule
from teleop_system.robot_side.intake import CommandIntake, VelocityIntegrator
from teleop_system.robot_side.robot_side import RobotSide
from teleop_system.robots import RobotDescription
from teleop_system.ros2.cdr import JointStateCodec, NamedPositions, TwistCodec
from teleop_system.ros2.robot_topics.part_topics import command_topics
from teleop_system.ros2.robot_topics.source_stamps import SourceStamps
from teleop_system.ros2.statistics import TrafficStatistics
from teleop_system.safety import Part, PartCommand
from teleop_system.safety.parts import BASE
from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames

Array = NDArray[np.float64]


class CommandTopics:
    """Subscriptions to command topics; messages become commands in a `CommandIntake`.

    Args:
        node: The `TeleopNode` that owns the robot; messages count only while it is active.
        robot: The robot.
        robot_side: Its robot side, for the parts and their last commands.
        intake: Receives the commands.
        traffic: Counts messages and their age.
        mode: Returns the control mode: "position", "velocity" or "effort".
        wall: Returns wall time in [ns].
    """

    def __init__(
        self,
        node: Any,
        robot: RobotDescription,
        robot_side: RobotSide,
        intake: CommandIntake,
        traffic: TrafficStatistics,
        *,
        mode: Callable[[], str] = lambda: "position",
        wall: Callable[[], int] = time.time_ns,
    ) -> None:
        self._node, self._robot_side = node, robot_side
        self._intake, self._traffic = intake, traffic
        self._mode = mode
        self._integrators = {part: VelocityIntegrator() for part in robot_side.safety.parts}
        self._twist, self._twist_stamps = TwistCodec(), SourceStamps(wall)
        self.topics = command_topics(robot, robot_side.safety.parts)
        for part, topic in self.topics.items():
            commanded = robot_side.safety.parts[part]
            callback = functools.partial(self._on_joints, commanded, JointStateCodec())
            node.subscribe(JointState, topic, callback, QoSPreset.COMMAND, raw=True)
        if robot.base is not None:
            self.topics[BASE] = TopicNames.BASE_CMD_VEL
            node.subscribe(
                Twist, TopicNames.BASE_CMD_VEL, self._on_twist, QoSPreset.COMMAND, raw=True
            )

    def _on_joints(
        self, part: Part, codec: JointStateCodec, data: bytes, info: dict[str, Any]
    ) -> None:
        if not self._node.is_active:
            return
        now, sender = self._node.now(), info["publisher_gid"]["data"]
        if not self._intake.accepts(part.name, sender, now):
            return
        try:
            message = codec.decode(data)
        except InvalidValueError:
            self._intake.refuse(Rule.WRONG_SHAPE, part.name, len(data), len(part.joints), now)
            return
        self._traffic.note(part.name, now - message.stamp)
        command = PartCommand(message.positions, message.stamp, message.names)
        mode = self._mode()
        if mode == "velocity" and not message.positions:
            command = self._integrated(part, message, command)
        if self._intake.offer(part.name, sender, command, now) and mode == "effort":
            self._add_efforts(part, message, now)

    def _integrated(
        self, part: Part, message: NamedPositions, command: PartCommand
    ) -> PartCommand:
        """Return the command of a message that has velocities only."""
        if self._robot_side.output is not None:
            velocities = _ordered(part.joints, message.names, message.velocities)
            if velocities is not None:
                commanded = self._robot_side.output.of(part.name)
                limit = self._robot_side.safety.parts.velocity[part.columns]
                bounded = np.clip(velocities, -limit, limit)
                integrator = self._integrators[part.name]
                position = integrator.position(bounded, message.stamp, commanded)
                return PartCommand(position, message.stamp)
        return command

    def _add_efforts(self, part: Part, message: NamedPositions, now: float) -> None:
        """Send the efforts of a message to the drive; its command was accepted."""
        size = len(part.joints)
        efforts = _ordered(part.joints, message.names, message.efforts)
        if efforts is None:
            efforts = np.zeros(size)
            if message.efforts:
                subject = f"{part.name} efforts"
                self._intake.refuse(Rule.WRONG_SHAPE, subject, len(message.efforts), size, now)
        self._robot_side.drive.add_efforts(part.name, message.stamp, efforts)

    def _on_twist(self, data: bytes, info: dict[str, Any]) -> None:
        if not self._node.is_active:
            return
        now, sender = self._node.now(), info["publisher_gid"]["data"]
        if not self._intake.accepts(BASE, sender, now):
            return
        try:
            x, y, _, _, _, yaw = self._twist.decode(data)
            velocity = VelocityCommand(x, y, yaw, self._twist_stamps.stamp(info, now))
        except InvalidValueError:
            self._intake.refuse(Rule.NON_FINITE, BASE, float("nan"), 0.0, now)
            return
        self._traffic.note(BASE)
        self._intake.offer_base(sender, velocity, now)

    def node_of(self, sender: Any) -> str:
        """Return the name of the node that owns a publisher, if it can be found.

        A sender without a publisher, such as an action, is identified by its name.
        """
        if isinstance(sender, str):
            return sender
        for topic in self.topics.values():
            for endpoint in self._node.get_publishers_info_by_topic(self._node.topic(topic)):
                if bytes(endpoint.endpoint_gid) == bytes(sender):
                    return f"{endpoint.node_namespace.rstrip('/')}/{endpoint.node_name}"
        return "a node that has ended"


def _ordered(
    joints: Sequence[str], names: tuple[str, ...], values: tuple[float, ...]
) -> Array | None:
    """Return values in the order of joints; None where they do not fit or are not finite."""
    if len(values) != len(joints) or sorted(names) != sorted(joints):
        return None
    array = np.array([values[names.index(joint)] for joint in joints])
    return array if np.isfinite(array).all() else None
