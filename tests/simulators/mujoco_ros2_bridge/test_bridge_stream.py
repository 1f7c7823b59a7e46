# SPDX-License-Identifier: Apache-2.0
"""The simulated robot, its stream and a client, each in a process of its own."""

import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from teleop_system.modules.camera.rgbd_streaming import RGBDStreamClient, StreamingConfig
from tests.simulators.mujoco_ros2_bridge.rig import running_bridge
from tests.waiting import wait_for

ROOT = Path(__file__).parents[3]
GOAL = (0.4, 0.3)


def test_a_client_that_moves_its_head_moves_the_robot_s_head_and_the_picture() -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    script = ["scripts/demo_rgbd_streaming.py", "--mode", "ros2-server", f"streaming.port={port}"]
    camera = {"camera": True, "camera_width": 160, "camera_height": 120, "scene": "table"}
    with running_bridge(**camera) as rig:
        server = subprocess.Popen([sys.executable, *script], cwd=ROOT)
        client = RGBDStreamClient(StreamingConfig(port=port))
        try:
            client.start()
            wait_for(client.is_connected)
            before = client.get_rgbd()
            with rig.bench.repeat(30.0, lambda: client.set_orientation(*GOAL)):
                rig.engage()
                reached = pytest.approx(GOAL, abs=0.03)
                wait_for(lambda: client.get_orientation() == reached)
                # Frames in transit show the head before it moved.
                wait_for(lambda: abs(pan_in_picture(client) - GOAL[0]) < 0.03)
            difference = client.get_rgbd().rgb.astype(int) - before.rgb
            assert np.abs(difference).mean() > 2.0
        finally:
            client.shutdown()
            server.terminate()
            server.wait(20.0)


def pan_in_picture(client: RGBDStreamClient) -> float:
    """Return how far to the left the newest picture was taken [rad]."""
    ahead = client.get_rgbd().extrinsics[:3, 2]
    return float(np.arctan2(ahead[1], ahead[0]))
