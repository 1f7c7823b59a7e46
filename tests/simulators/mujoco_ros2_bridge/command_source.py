# SPDX-License-Identifier: Apache-2.0
"""A node that commands a robot from a process of its own, to be killed or to be a rival."""

import math
from typing import Any

from geometry_msgs.msg import Twist
from sensor_msgs.msg import JointState

from teleop_system.robots import load_robot
from teleop_system.ros2.cdr import JointStateCodec, TwistCodec
from teleop_system.ros2.teleop_node import TeleopNode, run_node
from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames

MODULE = "tests.simulators.mujoco_ros2_bridge.command_source"


class CommandSource(TeleopNode):
    """Swings the right arm's elbow and drives the base, at a rate of its own."""

    def __init__(self) -> None:
        super().__init__("command_source")
        self.fixed_parameter("rate", 100.0, "Commands per second [Hz].")
        self.fixed_parameter("swing", 0.3, "Amplitude of the elbow [rad].")
        self.fixed_parameter("frequency", 0.5, "Swings per second [Hz]; 0 stays at the end.")
        self.fixed_parameter("speed", 0.0, "Velocity of the base [m/s].")

    def configure(self) -> None:
        robot = load_robot("rby1")
        self._joints = robot.chains["right_arm"].joints
        self._home = [robot.pose(robot.initial_pose)[joint] for joint in self._joints]
        self._codec, self._twist = JointStateCodec(self._joints), TwistCodec()
        self._arm = self.publisher(JointState, TopicNames.RIGHT_ARM_CMD, QoSPreset.COMMAND)
        self._base = self.publisher(Twist, TopicNames.BASE_CMD_VEL, QoSPreset.COMMAND)
        self._timer = self.every(1.0 / self._get("rate"), self._send)

    def activate(self) -> None:
        self._start = self.steady()

    def _get(self, name: str) -> Any:
        return self.get_parameter(name).value

    def _send(self) -> None:
        if not self.is_active:
            return
        elapsed, frequency = self.steady() - self._start, self._get("frequency")
        share = math.sin(2.0 * math.pi * frequency * elapsed) if frequency else 1.0
        positions = list(self._home)
        positions[3] += self._get("swing") * share
        self._arm.publish(self._codec.encode(self.now(), positions))
        if self._get("speed"):
            self._base.publish(self._twist.encode(self._get("speed"), 0.0, 0.0))


def main() -> None:
    run_node(CommandSource)
