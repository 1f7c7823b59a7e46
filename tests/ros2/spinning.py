# SPDX-License-Identifier: Apache-2.0
"""A configured node of the test's own, spun in a thread, for adapters to live on."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

import rclpy
from rclpy.executors import ExternalShutdownException, ShutdownException

from teleop_system.ros2.executor import LeanExecutor
from teleop_system.ros2.teleop_node import TeleopNode

PATIENCE = 10.0


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


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until something is so."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.01)
