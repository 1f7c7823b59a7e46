# SPDX-License-Identifier: Apache-2.0
"""A real lifecycle node with every kind of failure that a supervisor must handle.

Its parameters select the failure: `refusals` of configuring, `dies` (in which transition), `slow`
(time to configure in [s]), `stubborn` against signals.
"""

import os
import signal
import subprocess
import sys
import time

import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn

from teleop_system.ros2.executor import spin
from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames, get_qos_profile


class SampleNode(LifecycleNode):  # type: ignore[misc]
    def __init__(self, name: str = "sample") -> None:
        super().__init__(name)
        self._refusals = self.declare_parameter("refusals", 0).value
        self._dies = self.declare_parameter("dies", "").value
        self._faults = self.declare_parameter("faults", "").value
        self._slow = self.declare_parameter("slow", 0.0).value
        self._chatter = self.declare_parameter("chatter", 0.0).value
        self.declare_parameter("number", 0)
        if self.declare_parameter("parent_of", "").value:
            subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        self.stubborn = self.declare_parameter("stubborn", False).value
        self._status = self.create_publisher(
            DiagnosticArray, TopicNames.STATUS, get_qos_profile(QoSPreset.STATUS)
        )

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        time.sleep(self._slow)  # Some tests need a node that hangs.
        if self._dies == "configure":
            os._exit(7)
        if self._faults == "configure":
            self._faults = ""
            raise RuntimeError("an error on purpose")
        if self._refusals > 0:
            self._refusals -= 1
            self.get_logger().error("not yet")
            return TransitionCallbackReturn.FAILURE
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        if self._dies == "activate":
            os._exit(7)
        self.create_timer(0.2, self._report)
        if self._chatter > 0.0:
            self.create_timer(1.0 / self._chatter, lambda: self.get_logger().info("chatter"))
        return super().on_activate(state)

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        return TransitionCallbackReturn.SUCCESS

    def _report(self) -> None:
        values = [KeyValue(key="rate", value="5.0"), KeyValue(key="latency_p50_ms", value="1.5")]
        name = f"teleop/{self.get_name()}"
        self._status.publish(
            DiagnosticArray(status=[DiagnosticStatus(level=b"\0", name=name, values=values)])
        )


def main() -> None:
    rclpy.init()
    node = SampleNode()
    if node.stubborn:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
    spin(node)
    if node.stubborn:
        time.sleep(600.0)


if __name__ == "__main__":
    main()
