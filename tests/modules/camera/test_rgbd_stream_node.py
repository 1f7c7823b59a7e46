# SPDX-License-Identifier: Apache-2.0
"""The stream of a robot's camera as a node of a stack: real DDS, real TCP, separate processes."""

import socket
from collections.abc import Iterator

import numpy as np
import pytest

from teleop_system.modules.camera.rgbd_streaming import RGBDStreamClient, StreamingConfig
from teleop_system.utils.ros2_helpers import TopicNames
from tests.modules.camera.camera_robot import free_port, running_robot
from tests.modules.camera.streaming.scenes import scene
from tests.ros2.harness import Bench
from tests.waiting import wait_for

NODE = "rgbd_stream_node"
MODULE = "teleop_system.modules.camera.rgbd_stream_node"


@pytest.fixture
def bench() -> Iterator[Bench]:
    with Bench() as made:
        yield made


def test_clients_see_and_move_the_robot_s_head_while_the_node_is_active(bench: Bench) -> None:
    port = free_port()
    with running_robot():
        bench.start(MODULE, NODE, overrides=[f"streaming.port={port}"])
        assert bench.transition(NODE, "configure")
        assert not is_served(port), "an inactive node does not serve"
        assert bench.transition(NODE, "activate")
        color = TopicNames.CAMERA_COLOR_IMAGE
        # Without a viewer nothing is rendered.
        bench.wait(lambda: not bench.node.count_subscribers(color))
        client = RGBDStreamClient(StreamingConfig(port=port))
        client.start()
        try:
            wait_for(client.is_connected)
            assert client.get_rgbd().rgb.shape == scene().rgb.shape
            bench.wait(lambda: bench.value("clients", f"teleop/{NODE}") == "1", "no report of it")
            reached = pytest.approx((0.3, -0.1), abs=0.01)
            with bench.repeat(30.0, lambda: client.set_orientation(0.3, -0.1)):
                wait_for(lambda: client.get_orientation() == reached)
            wait_for(lambda: abs(pan_in_picture(client) - 0.3) < 0.03)
            assert bench.transition(NODE, "deactivate")
            wait_for(lambda: not client.is_connected())
            assert not is_served(port)
            bench.wait(lambda: not bench.node.count_subscribers(color), "it still listens")
            assert bench.transition(NODE, "activate"), "it can be used again"
            wait_for(client.is_connected)
        finally:
            client.shutdown()


def test_a_public_address_without_a_token_is_refused_with_the_reason(bench: Bench) -> None:
    process = bench.start(MODULE, NODE, overrides=["streaming.host='0.0.0.0'"])
    assert not bench.transition(NODE, "configure")
    assert "token" in process.log()


def test_a_port_in_use_is_an_error_that_names_it(bench: Bench) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        process = bench.start(MODULE, NODE, overrides=[f"streaming.port={port}"])
        assert bench.transition(NODE, "configure")
        assert not bench.transition(NODE, "activate")
        assert f"127.0.0.1:{port}" in process.log()
    assert bench.transition(NODE, "activate"), "it is free now"


def is_served(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5.0).close()
    except ConnectionRefusedError:
        return False
    return True


def pan_in_picture(client: RGBDStreamClient) -> float:
    """Return how far to the left the newest picture was taken [rad]."""
    ahead = client.get_rgbd().extrinsics[:3, 2]
    return float(np.arctan2(ahead[1], ahead[0]))
