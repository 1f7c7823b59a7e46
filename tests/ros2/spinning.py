# SPDX-License-Identifier: Apache-2.0
"""An active node in the test process, spun by a thread, for tests of adapters."""

import contextlib
import threading
from collections.abc import Iterator

import rclpy
from rclpy.executors import ExternalShutdownException, ShutdownException

from teleop_system.ros2.executor import LeanExecutor
from teleop_system.ros2.teleop_node import TeleopNode


@contextlib.contextmanager
def spinning(name: str = "adapters") -> Iterator[TeleopNode]:
    """Yield an active `TeleopNode` that is spun until the end of the block."""
    context = rclpy.Context()
    rclpy.init(context=context)
    node = TeleopNode(name, context=context)
    node.trigger_configure()
    node.trigger_activate()
    executor = LeanExecutor(context=context)
    executor.add_node(node)

    def spin() -> None:
        with contextlib.suppress(ExternalShutdownException, ShutdownException):
            executor.spin()

    thread = threading.Thread(target=spin, daemon=True)
    thread.start()
    try:
        yield node
    finally:
        context.try_shutdown()
        thread.join(5.0)
        node.destroy_node()
