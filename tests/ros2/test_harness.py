# SPDX-License-Identifier: Apache-2.0
"""The harness of the process tests, tested with a simple node."""

import pytest

from teleop_system.exceptions import TeleopError
from teleop_system.ros2.teleop_node import TeleopNode, run_node
from tests.ros2.harness import Bench


class PlainNode(TeleopNode):
    """Does nothing, or fails, depending on its parameter."""

    def __init__(self) -> None:
        super().__init__("plain_node", status_rate=20.0)
        self.fixed_parameter("broken", False, "Whether it cannot be configured.")

    def configure(self) -> None:
        if self.get_parameter("broken").value:
            raise TeleopError("on request")


def main() -> None:
    run_node(PlainNode)


MODULE = "tests.ros2.test_harness"


@pytest.mark.parametrize("broken", [False, True])
def test_a_node_is_started_driven_and_ended(broken: bool) -> None:
    with Bench() as bench:
        process = bench.start(MODULE, "plain_one", broken=broken)
        assert bench.state("plain_one") == "unconfigured"
        assert bench.transition("plain_one", "configure") is not broken
        if broken:
            bench.wait(lambda: "on request" in process.log())
            return
        assert bench.transition("plain_one", "activate")
        bench.wait(lambda: bench.value("lifecycle", "teleop/plain_one") == "active")
        assert bench.get_parameter("plain_one", "topic_prefix") == ""
        assert not bench.set_parameter("plain_one", "topic_prefix", "other").successful
        assert bench.transition("plain_one", "shutdown")
        assert process.interrupt() == 0
        assert "Traceback" not in process.log()
