# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C at a node: once is enough, and more do not spoil its end."""

import os
import signal
import time

from tests.ros2.harness import PATIENCE, Bench

MODULE = "teleop_system.simulators.dummy_hmd_pub"


def test_a_node_ends_in_silence_however_often_it_is_interrupted() -> None:
    with Bench() as bench:
        node = bench.start(MODULE, "dummy_hmd_pub")
        bench.bring_up("dummy_hmd_pub")
        until = time.monotonic() + PATIENCE
        while node.is_running and time.monotonic() < until:
            os.kill(node.pid, signal.SIGINT)
            time.sleep(0.01)
        assert node.interrupt() == 0, node.log()
        assert "Traceback" not in node.log()
