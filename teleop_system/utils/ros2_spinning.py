# SPDX-License-Identifier: Apache-2.0
"""A node with a context and a thread of its own, for those who are no node themselves."""

import contextlib
import threading
from collections.abc import Callable
from typing import Any


def open_node(name: str, *, use_sim_time: bool = False) -> tuple[Any, Callable[[], None]]:
    """Return a node that is spun in a thread, and what closes it.

    Args:
        name: Its name; whatever ROS 2 does not accept is replaced.
        use_sim_time: Whether its clock is `/clock`.

    Raises:
        ImportError: There is no rclpy.
    """
    import rclpy
    from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
    from rclpy.parameter import Parameter
    from rclpy.signals import SignalHandlerOptions

    context = rclpy.Context()
    # Signals stay with whoever runs this; a second handler would end only half of it.
    # Nor is it told on the command line what to be called, which is for others in this process.
    rclpy.init(args=[], context=context, signal_handler_options=SignalHandlerOptions.NO)
    clean = "".join(letter if letter.isalnum() else "_" for letter in name.lower())
    clock = Parameter("use_sim_time", value=use_sim_time)
    node = rclpy.create_node(clean, context=context, parameter_overrides=[clock])
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)

    def run() -> None:
        with contextlib.suppress(ExternalShutdownException):
            executor.spin()

    thread = threading.Thread(target=run, name=clean, daemon=True)
    thread.start()

    def close() -> None:
        executor.shutdown()
        thread.join(5.0)
        node.destroy_node()
        rclpy.try_shutdown(context=context)

    return node, close
