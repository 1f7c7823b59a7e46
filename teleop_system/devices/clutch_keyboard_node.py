# SPDX-License-Identifier: Apache-2.0
"""Clutch, engagement and emergency stop on the keys of a terminal, as a lifecycle node.

A terminal reports key presses but no releases, so the space bar toggles the clutch. When the node
ends for any reason, the robot side treats the clutch as open.
"""

import os
import select
import sys
import termios
import threading
import tty
from collections import deque
from typing import Any

from std_msgs.msg import Bool
from std_srvs.srv import Trigger
from typing_extensions import override

from teleop_system.exceptions import ConfigError
from teleop_system.ros2.status import StatusReport
from teleop_system.ros2.teleop_node import SUCCESS, TeleopNode, run_node
from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames

RATE = 10.0
"""Publishing frequency of an unchanged clutch in [Hz]."""
READ_INTERVAL = 0.1
"""Longest time in [s] until the reading thread notices that it must end."""

TOGGLE = " "
QUIT = ("q", "\x03", "\x04")
SERVICES = {
    "e": ("engage", TopicNames.ENGAGE),
    "d": ("disengage", TopicNames.DISENGAGE),
    "x": ("e-stop", TopicNames.ESTOP),
    "\x1b": ("e-stop", TopicNames.ESTOP),
    "r": ("reset e-stop", TopicNames.RESET_ESTOP),
    "c": ("calibrate", TopicNames.CALIBRATE),
}
HELP = (
    "space: clutch, e: engage, d: disengage, x or Esc: E-STOP, r: reset e-stop, "
    "c: calibrate, q: quit"
)


class ClutchKeyboardNode(TeleopNode):
    """Publishes the clutch, and calls the robot side's services on key presses.

    It configures and activates itself because a person starts it in a terminal. A supervisor that
    manages lifecycles sets `autostart` to false.
    """

    def __init__(self, **keywords: Any) -> None:
        super().__init__("clutch_keyboard", **keywords)
        autostart = self.fixed_parameter(
            "autostart", True, "Whether the node configures and activates itself."
        )
        self._starter = self.create_timer(0.0, self._start) if autostart else None
        self._closed = False

    @override
    def configure(self) -> None:
        if not sys.stdin.isatty():
            raise ConfigError("the clutch keyboard needs a terminal, but stdin is not one")
        self._publisher = self.publisher(Bool, TopicNames.CLUTCH, QoSPreset.COMMAND)
        self._clients_of: dict[str, Any] = {
            key: self.create_client(Trigger, self.topic(topic))
            for key, (_, topic) in SERVICES.items()
        }
        for client in self._clients_of.values():
            self.resources.callback(self.destroy_client, client)
        self._keys: deque[str] = deque()
        self._wake = self.create_guard_condition(self._on_keys)
        self.resources.callback(self.destroy_guard_condition, self._wake)
        self.every(1.0 / RATE, self._publish)
        self._read_terminal()

    @override
    def activate(self) -> None:
        self._closed = False
        self.get_logger().info(HELP)

    @override
    def deactivate(self) -> None:
        self._closed = False
        self._publish()

    @override
    def report(self) -> StatusReport:
        state = "closed" if self._closed else "open"
        return StatusReport(
            f"teleop/{self.get_name()}", message=f"clutch {state}", values={"clutch": state}
        )

    def _start(self) -> None:
        """Configure and activate, or exit if that fails."""
        assert self._starter is not None
        self.destroy_timer(self._starter)
        self._starter = None
        if self.trigger_configure() != SUCCESS or self.trigger_activate() != SUCCESS:
            raise SystemExit(1)  # The reason has been logged.

    def _read_terminal(self) -> None:
        """Read single keys without echo until the node is cleaned up."""
        descriptor = sys.stdin.fileno()
        before = termios.tcgetattr(descriptor)
        tty.setcbreak(descriptor)
        self.resources.callback(termios.tcsetattr, descriptor, termios.TCSANOW, before)
        ended = threading.Event()
        thread = threading.Thread(
            target=self._read_keys, args=(descriptor, ended), name="keys", daemon=True
        )
        thread.start()
        self.resources.callback(thread.join, 10.0 * READ_INTERVAL)
        self.resources.callback(ended.set)

    def _read_keys(self, descriptor: int, ended: threading.Event) -> None:
        while not ended.is_set():
            ready, _, _ = select.select([descriptor], [], [], READ_INTERVAL)
            if not ready:
                continue
            try:
                data = os.read(descriptor, 64)
            except OSError:
                data = b""
            # A closed terminal means that the person has left: quit.
            self._keys.extend(data.decode(errors="ignore") if data else QUIT[0])
            self._wake.trigger()
            if not data:
                return

    def _on_keys(self) -> None:
        while self._keys:
            self._press(self._keys.popleft())

    def _press(self, key: str) -> None:
        if key in QUIT:
            self.deactivate()
            self.context.try_shutdown()
        elif not self.is_active:
            self.get_logger().warning("the node is not active", throttle_duration_sec=1.0)
        elif key == TOGGLE:
            self._closed = not self._closed
            self._publish()
            self.publish_status()
            self.get_logger().info(f"clutch {'closed' if self._closed else 'open'}")
        elif key in SERVICES:
            self._call_service(key)
        else:
            self.get_logger().info(HELP, throttle_duration_sec=1.0)

    def _call_service(self, key: str) -> None:
        what, topic = SERVICES[key]
        client = self._clients_of[key]
        if not client.service_is_ready():
            self.get_logger().error(f"{what}: service {self.topic(topic)} is not available")
            return
        client.call_async(Trigger.Request()).add_done_callback(
            lambda future: self._report_result(what, future.result())
        )

    def _report_result(self, what: str, answer: Any) -> None:
        if answer.success:
            self.get_logger().info(f"{what}: done {answer.message}".rstrip())
        else:
            self.get_logger().warning(f"{what}: refused, {answer.message}")

    def _publish(self) -> None:
        self._publisher.publish(Bool(data=self._closed))


def main(args: list[str] | None = None) -> None:
    """Run the node."""
    run_node(ClutchKeyboardNode, args)


if __name__ == "__main__":
    main()
