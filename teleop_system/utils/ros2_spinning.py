# SPDX-License-Identifier: Apache-2.0
"""A helper node with its own context and thread, for classes that are not nodes."""

import contextlib
import threading
from collections.abc import Callable
from typing import Any


def open_node(name: str, *, use_sim_time: bool = False) -> tuple[Any, Callable[[], None]]:
    """Return a node that spins in a thread, and a function that closes it.

    Args:
        name: Name of the node; invalid characters are replaced.
        use_sim_time: Whether it takes its time from `/clock`.

    Raises:
        ImportError: rclpy is not installed.
    """
    import rclpy
    from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
    from rclpy.parameter import Parameter
    from rclpy.signals import SignalHandlerOptions

    context = rclpy.Context()
    # No signal handlers: the process has its own, and a second one would shut down this node only.
    # No arguments: remappings on the command line are for the other nodes of this process.
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
