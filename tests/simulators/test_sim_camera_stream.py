# SPDX-License-Identifier: Apache-2.0

import time
from collections.abc import Iterator

import numpy as np
import pytest

from teleop_system.exceptions import InvalidValueError
from teleop_system.robots import load_robot
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
from teleop_system.simulators.sim_camera_stream import SimCameraStream
from teleop_system.testing import CameraStreamSuite
from tests.waiting import wait_for

ROBOT = load_robot("rby1")


@pytest.fixture(scope="module")
def simulator() -> Iterator[MuJoCoSimulator]:
    found = MuJoCoSimulator()
    config = {"mjcf_path": ROBOT.mjcf, "keyframe": "ready", "scene": "table"}
    found.initialize({**config, "width": 160, "height": 120})
    yield found
    found.shutdown()


class TestSimCameraStream(CameraStreamSuite):
    """The simulated head is a camera like any other."""

    @pytest.fixture(autouse=True)
    def world(self, simulator: MuJoCoSimulator) -> None:
        self._simulator = simulator

    def create(self) -> SimCameraStream:
        return SimCameraStream(self._simulator, ROBOT)


def test_frames_carry_the_time_of_the_scene(simulator: MuJoCoSimulator) -> None:
    camera = SimCameraStream(simulator, ROBOT, fps=60.0)
    assert camera.initialize()
    stamps = []
    for _ in range(5):
        frame = camera.wait_rgbd(stamps[-1] if stamps else float("nan"), 5.0)
        assert frame is not None
        assert 0.0 <= time.monotonic() - frame.timestamp < 3.0
        stamps.append(frame.timestamp)
    assert stamps == sorted(set(stamps))
    camera.shutdown()


def test_a_picture_shows_where_the_head_looks(simulator: MuJoCoSimulator) -> None:
    camera = SimCameraStream(simulator, ROBOT)
    assert camera.initialize()
    before = camera.get_rgbd()
    assert ROBOT.head is not None
    simulator.set_joint_targets(ROBOT.head.joints, (0.4, 0.3))
    simulator.step(1.0)

    def pan_in_picture() -> float:
        ahead = camera.get_rgbd().extrinsics[:3, 2]
        return float(np.arctan2(ahead[1], ahead[0]))

    np.testing.assert_allclose(camera.get_orientation(), (0.4, 0.3), atol=0.02)
    # Wait for a picture that was started after the head stood still.
    wait_for(lambda: abs(pan_in_picture() - 0.4) < 0.03, pan_in_picture)
    after = camera.get_rgbd()
    assert np.abs(after.rgb.astype(int) - before.rgb).mean() > 2.0
    camera.shutdown()
    simulator.reset()


def test_requested_angles_are_passed_to_the_driver_of_the_head(simulator: MuJoCoSimulator) -> None:
    aimed: list[tuple[float, float]] = []
    camera = SimCameraStream(simulator, ROBOT, aim=lambda *angles: aimed.append(angles))
    targets = simulator.get_joint_targets()
    camera.set_orientation(0.4, 0.3)
    assert aimed == [(0.4, 0.3)]
    np.testing.assert_array_equal(simulator.get_joint_targets(), targets)


def test_a_head_without_a_driver_does_not_move(
    simulator: MuJoCoSimulator, caplog: pytest.LogCaptureFixture
) -> None:
    targets = simulator.get_joint_targets()
    SimCameraStream(simulator, ROBOT).set_orientation(0.4, 0.3)
    np.testing.assert_array_equal(simulator.get_joint_targets(), targets)
    assert "angles ignored" in caplog.text


def test_physics_never_waits_for_a_picture(simulator: MuJoCoSimulator) -> None:
    camera = SimCameraStream(simulator, ROBOT, fps=200.0)
    assert camera.initialize()
    lengths = []
    for _ in range(200):
        begun = time.thread_time()
        simulator.step()
        lengths.append(time.thread_time() - begun)
    camera.shutdown()
    # A picture takes tens of milliseconds, but physics does not wait for it.
    assert np.median(lengths) < 2e-3


@pytest.mark.parametrize("angles", [(np.nan, 0.0), (0.0, np.inf)])
def test_angles_that_are_not_finite_are_refused(
    simulator: MuJoCoSimulator, angles: tuple[float, float]
) -> None:
    with pytest.raises(InvalidValueError, match="finite"):
        SimCameraStream(simulator, ROBOT).set_orientation(*angles)


def test_an_unknown_camera_is_refused(
    simulator: MuJoCoSimulator, caplog: pytest.LogCaptureFixture
) -> None:
    assert SimCameraStream(simulator, ROBOT, camera="tail").initialize() is False
    assert "tail" in caplog.text
