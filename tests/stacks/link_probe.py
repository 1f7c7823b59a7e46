# SPDX-License-Identifier: Apache-2.0
"""Records the robot's status and motion on its machine: one JSON line per change and sample.

It runs in the robot's network namespace, so it still receives while the link is cut.
"""

import json
import sys
import time

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from sensor_msgs.msg import JointState

from teleop_system.ros2.executor import spin
from teleop_system.ros2.status import ROBOT, from_message
from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames, get_qos_profile


class Probe(Node):
    """Subscribes to the robot's status and joint targets."""

    def __init__(self) -> None:
        super().__init__("link_probe")
        self._last: tuple[float, np.ndarray] | None = None
        self._state = ""
        self.create_subscription(
            DiagnosticArray,
            TopicNames.STATUS,
            self._on_status,
            get_qos_profile(QoSPreset.STATUS),
        )
        self.create_subscription(
            JointState,
            TopicNames.JOINT_TARGETS,
            self._on_targets,
            get_qos_profile(QoSPreset.SENSOR_DATA),
        )

    def _write(self, **values: object) -> None:
        sys.stdout.write(json.dumps({"time": time.monotonic(), **values}) + "\n")
        sys.stdout.flush()

    def _on_status(self, message: DiagnosticArray) -> None:
        for report in from_message(message):
            state = f"{report.values.get('state')} {report.values.get('following')}"
            if report.name == ROBOT and state != self._state:
                self._state = state
                self._write(state=report.values.get("state"), why=report.message)

    def _on_targets(self, message: JointState) -> None:
        now, positions = time.monotonic(), np.array(message.position)
        if self._last is not None:
            step = float(np.abs(positions - self._last[1]).max())
            self._write(step=step, span=now - self._last[0])
        self._last = (now, positions)


if __name__ == "__main__":
    rclpy.init()
    spin(Probe())
