# SPDX-License-Identifier: Apache-2.0
"""The simulated robot, its stream and a client, each in a process of its own."""

import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from teleop_system.modules.camera.rgbd_streaming import RGBDStreamClient, StreamingConfig
from tests.modules.camera.streaming.scenes import wait_for
from tests.ros2.bridge.rig import running_bridge

ROOT = Path(__file__).parents[3]
PATIENCE = 60.0
GOAL = (0.4, 0.3)


def test_turning_the_head_at_a_client_turns_the_robot_s_head_and_the_picture() -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    script = ["scripts/demo_rgbd_streaming.py", "--mode", "ros2-server", f"streaming.port={port}"]
    camera = {"camera": True, "camera_width": 160, "camera_height": 120, "scene": "table"}
    with running_bridge(**camera) as rig:
        server = subprocess.Popen([sys.executable, *script], cwd=ROOT)
        client = RGBDStreamClient(StreamingConfig(port=port))
        try:
            client.start()
            assert wait_for(client.is_connected, PATIENCE)
            before = client.get_rgbd()
            with rig.bench.repeat(30.0, lambda: client.set_orientation(*GOAL)):
                rig.engage()
                reached = pytest.approx(GOAL, abs=0.03)
                assert wait_for(lambda: client.get_orientation() == reached, PATIENCE)
            time.sleep(0.5)  # Frames that were on their way show the head on its own.
            after = client.get_rgbd()
            ahead = after.extrinsics[:3, 2]
            assert np.arctan2(ahead[1], ahead[0]) == pytest.approx(GOAL[0], abs=0.05)
            assert np.abs(after.rgb.astype(int) - before.rgb).mean() > 2.0
        finally:
            client.shutdown()
            server.terminate()
            server.wait(20.0)
