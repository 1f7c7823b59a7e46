# SPDX-License-Identifier: Apache-2.0
"""Cameras over topics, streams over TCP, and the head on its way back: processes and real DDS."""

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from teleop_system.devices.realsense_camera import RealSenseCamera
from teleop_system.interfaces import ICameraStream
from teleop_system.modules.camera.rgbd_streaming import RGBDStreamClient, StreamingConfig
from teleop_system.modules.camera.ros2_rgbd_subscriber import ROS2RGBDSubscriber
from teleop_system.testing import CameraStreamSuite
from tests.modules.camera.streaming.scenes import scene, wait_for

ROOT = Path(__file__).parents[2]


@contextlib.contextmanager
def running(*command: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Yield a process, and end it afterwards."""
    process = subprocess.Popen([sys.executable, *command], cwd=ROOT)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


FULL_ONLY = pytest.mark.skipif(
    not os.environ.get("TELEOP_FULL"), reason="needs a machine that draws in time: TELEOP_FULL=1"
)


def robot(color: str = "rgb8", depth: str = "32FC1", kind: str = "plain"):  # type: ignore[no-untyped-def]
    return running("-m", "tests.ros2.camera_robot", color, depth, kind)


@pytest.fixture(scope="module")
def plain_robot() -> Iterator[None]:
    with robot():
        yield


@pytest.mark.usefixtures("plain_robot")
class TestSubscriberIsACamera(CameraStreamSuite):
    """The robot's topics are a camera like any other."""

    def create(self) -> ROS2RGBDSubscriber:
        return ROS2RGBDSubscriber(patience=30.0)


@FULL_ONLY
@pytest.mark.usefixtures("plain_robot")
def test_colour_and_depth_arrive_as_one_frame() -> None:
    camera = ROS2RGBDSubscriber(patience=30.0)
    assert camera.initialize()
    frame, expected = camera.get_rgbd(), scene()
    np.testing.assert_array_equal(frame.rgb, expected.rgb)
    np.testing.assert_allclose(frame.depth, expected.depth, atol=1e-6)
    np.testing.assert_array_equal(frame.intrinsics, expected.intrinsics)
    assert 0.0 <= time.monotonic() - frame.timestamp < 2.0
    camera.shutdown()


def test_a_camera_without_depth_still_shows_colour() -> None:
    with robot("rgb8", "none", "realsense"):
        camera = RealSenseCamera(patience=30.0)
        assert camera.initialize()
        assert not camera.get_rgbd().depth.any()
        camera.shutdown()


def test_no_topics_are_an_error_that_names_them(caplog: pytest.LogCaptureFixture) -> None:
    camera = ROS2RGBDSubscriber("nobody/here", patience=0.5)
    assert camera.initialize() is False
    assert "/nobody/here/slave/camera/color/image_raw" in caplog.text


@pytest.mark.parametrize(("kind", "color"), [("realsense", "bgr8"), ("old_realsense", "rgb8")])
def test_a_realsense_is_found_under_either_name(kind: str, color: str) -> None:
    with robot(color, "16UC1", kind):
        camera: ICameraStream = RealSenseCamera(patience=30.0)
        assert camera.initialize()
        np.testing.assert_array_equal(camera.get_rgbd().rgb, scene().rgb)
        np.testing.assert_allclose(camera.get_rgbd().depth, scene().depth, atol=0.00051)
        camera.set_orientation(1.0, 1.0)
        assert camera.get_orientation() == (0.0, 0.0)
        camera.shutdown()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@FULL_ONLY
@pytest.mark.usefixtures("plain_robot")
def test_turning_the_head_at_a_client_turns_the_robot_and_the_picture() -> None:
    port = free_port()
    script = ["scripts/demo_rgbd_streaming.py", "--mode", "ros2-server", f"streaming.port={port}"]
    with running(*script):
        client = RGBDStreamClient(StreamingConfig(port=port))
        client.start()
        assert wait_for(client.is_connected, 60.0)
        before = client.get_rgbd()
        until = time.monotonic() + 20.0
        goal = pytest.approx((0.3, -0.1), abs=0.01)
        while client.get_orientation() != goal and time.monotonic() < until:
            client.set_orientation(0.3, -0.1)
            time.sleep(0.03)
        assert client.get_orientation() == goal
        assert wait_for(lambda: _box(client) - _centre(before.rgb) > 20.0)
        turned = client.get_rgbd().extrinsics[:3, 2]  # Where it looks.
        np.testing.assert_allclose(np.arctan2(turned[1], turned[0]), 0.3, atol=0.03)
        client.shutdown()


def _box(client: RGBDStreamClient) -> float:
    return _centre(client.get_rgbd().rgb)


def _centre(rgb: np.ndarray) -> float:
    """Return the column of the red box's middle."""
    is_red = (rgb[:, :, 0] > 170) & (rgb[:, :, 1] < 70) & (rgb[:, :, 2] < 70)
    return float(np.nonzero(is_red)[1].mean())
