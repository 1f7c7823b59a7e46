# SPDX-License-Identifier: Apache-2.0
"""Cameras over topics, streams over TCP, and head commands back: processes and real DDS."""

import time
from collections.abc import Iterator

import numpy as np
import pytest

from teleop_system.devices.realsense_camera import RealSenseCamera
from teleop_system.interfaces import ICameraStream
from teleop_system.modules.camera.rgbd_streaming import RGBDStreamClient, StreamingConfig
from teleop_system.modules.camera.ros2_rgbd_subscriber import ROS2RGBDSubscriber
from teleop_system.testing import CameraStreamSuite
from tests.modules.camera.camera_robot import free_port, running, running_robot
from tests.modules.camera.streaming.scenes import scene
from tests.waiting import wait_for


@pytest.fixture(scope="class")
def plain_robot() -> Iterator[None]:
    with running_robot():
        yield


@pytest.mark.usefixtures("plain_robot")
class TestSubscriberIsACamera(CameraStreamSuite):
    """The robot's topics keep the promises of a camera."""

    def create(self) -> ROS2RGBDSubscriber:
        return ROS2RGBDSubscriber(patience=30.0)


def test_colour_and_depth_arrive_as_one_frame() -> None:
    # Its own robot: the suite has moved the head of the one above.
    with running_robot():
        camera = ROS2RGBDSubscriber(patience=30.0)
        assert camera.initialize()
        frame, expected = camera.get_rgbd(), scene()
        np.testing.assert_array_equal(frame.rgb, expected.rgb)
        np.testing.assert_allclose(frame.depth, expected.depth, atol=1e-6)
        np.testing.assert_array_equal(frame.intrinsics, expected.intrinsics)
        assert 0.0 <= time.monotonic() - frame.timestamp < 2.0
        camera.shutdown()


def test_a_camera_without_depth_still_shows_colour() -> None:
    with running_robot("rgb8", "none", "realsense"):
        camera = RealSenseCamera(patience=30.0)
        assert camera.initialize()
        assert not camera.get_rgbd().depth.any()
        camera.shutdown()


def test_missing_topics_are_an_error_that_names_them(caplog: pytest.LogCaptureFixture) -> None:
    camera = ROS2RGBDSubscriber("no/camera", patience=0.5)
    assert camera.initialize() is False
    assert "/no/camera/slave/camera/color/image_raw" in caplog.text


@pytest.mark.parametrize(("kind", "color"), [("realsense", "bgr8"), ("old_realsense", "rgb8")])
def test_a_realsense_is_found_under_either_name(kind: str, color: str) -> None:
    with running_robot(color, "16UC1", kind):
        camera: ICameraStream = RealSenseCamera(patience=30.0)
        assert camera.initialize()
        np.testing.assert_array_equal(camera.get_rgbd().rgb, scene().rgb)
        np.testing.assert_allclose(camera.get_rgbd().depth, scene().depth, atol=0.00051)
        camera.set_orientation(1.0, 1.0)
        assert camera.get_orientation() == (0.0, 0.0)
        camera.shutdown()


def test_a_client_that_moves_its_head_moves_the_robot_and_the_picture() -> None:
    port = free_port()
    script = ["scripts/demo_rgbd_streaming.py", "--mode", "ros2-server", f"streaming.port={port}"]
    with running_robot(), running(*script):
        client = RGBDStreamClient(StreamingConfig(port=port))
        client.start()
        wait_for(client.is_connected)
        before = _box(client)
        goal = pytest.approx((0.3, -0.1), abs=0.01)

        def has_turned() -> bool:
            client.set_orientation(0.3, -0.1)
            return client.get_orientation() == goal

        wait_for(has_turned)
        wait_for(lambda: _box(client) - before > 20.0)
        wait_for(lambda: abs(_pan(client) - 0.3) < 0.03)
        client.shutdown()


def _pan(client: RGBDStreamClient) -> float:
    """Return how far to the left the newest picture was taken [rad]."""
    ahead = client.get_rgbd().extrinsics[:3, 2]
    return float(np.arctan2(ahead[1], ahead[0]))


def _box(client: RGBDStreamClient) -> float:
    return _centre(client.get_rgbd().rgb)


def _centre(rgb: np.ndarray) -> float:
    """Return the column of the red box's middle."""
    is_red = (rgb[:, :, 0] > 170) & (rgb[:, :, 1] < 70) & (rgb[:, :, 2] < 70)
    return float(np.nonzero(is_red)[1].mean())
