# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C ends a node; pressing it again does no harm."""

import os
import signal

from tests.ros2.harness import Bench
from tests.waiting import wait_for

MODULE = "teleop_system.simulators.dummy_hmd_pub"


def test_a_node_ends_without_an_error_after_any_number_of_interrupts() -> None:
    with Bench() as bench:
        node = bench.start(MODULE, "dummy_hmd_pub")
        bench.bring_up("dummy_hmd_pub")

        def has_ended() -> bool:
            if node.is_running:
                os.kill(node.pid, signal.SIGINT)
            return not node.is_running

        wait_for(has_ended, node.log)
        assert node.interrupt() == 0, node.log()
        assert "Traceback" not in node.log()
