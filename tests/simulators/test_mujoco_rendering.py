# SPDX-License-Identifier: Apache-2.0
"""Pictures: their geometry, their thread, and what happens without OpenGL."""

import contextlib
import threading

import mujoco
import numpy as np
import pytest

from teleop_system.exceptions import RenderingUnavailableError, UnknownNameError
from teleop_system.interfaces import RGBDFrame
from teleop_system.simulators import gl_backend
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
from tests.simulators.conftest import Start
from tests.simulators.small_models import ARM, STILL_LIFE
from tests.waiting import wait_for

FRAME_DEADLINE = 60.0


@pytest.fixture(scope="module", autouse=True)
def _needs_opengl() -> None:
    """Skip where this machine cannot draw; the report gives the reason."""
    failures: list[str] = []

    def attempt() -> None:
        try:
            gl_backend.open_context(8, 8).free()
        except RenderingUnavailableError as error:
            failures.append(str(error))

    thread = threading.Thread(target=attempt)  # No OpenGL context may stay current in this thread.
    thread.start()
    thread.join()
    if failures:
        pytest.skip(failures[0])


def project(frame: RGBDFrame, point: list[float]) -> tuple[int, int, float]:
    """Return row, column and depth of a point in the world, by the geometry of the frame."""
    seen = np.linalg.inv(frame.extrinsics) @ [*point, 1.0]
    column, row, _ = frame.intrinsics @ (seen[:3] / seen[2])
    return round(float(row)), round(float(column)), float(seen[2])


def test_depth_is_measured_along_the_optical_axis(start: Start) -> None:
    frame = start(STILL_LIFE).get_camera_rgbd("eye")
    assert frame.depth.dtype == np.float32
    # The wall is flat at 2 m; distances along the rays would grow towards its edges.
    for y, z in [(0.0, 1.0), (0.39, 0.71), (-0.39, 1.29), (-0.39, 0.71)]:
        row, column, depth = project(frame, [2.0, y, z])
        assert frame.depth[row, column] == pytest.approx(2.0, abs=1e-4)
        assert depth == pytest.approx(2.0)


def test_empty_space_has_no_depth_and_the_colour_of_the_sky(start: Start) -> None:
    frame = start(STILL_LIFE).get_camera_rgbd("eye")
    assert frame.depth[5, 5] == 0.0
    assert frame.rgb[5, 5].tolist() == [0, 0, 255]


def test_objects_appear_where_the_camera_matrix_projects_them(start: Start) -> None:
    frame = start(STILL_LIFE).get_camera_rgbd("eye")
    row, column, _ = project(frame, [1.0, 0.3, 1.2])
    assert row < 240  # Above the middle, because it is above the camera,
    assert column < 320  # and to the left.
    green = (frame.rgb[..., 1] > 100) & (frame.rgb[..., 0] < 50)
    rows, columns = np.nonzero(green)
    # The outline of a ball off the axis is an ellipse around a point slightly farther out.
    assert rows.mean() == pytest.approx(row, abs=1.5)
    assert columns.mean() == pytest.approx(column, abs=1.5)
    assert frame.depth[row, column] == pytest.approx(0.953, abs=2e-3)


def test_the_edges_of_a_wall_are_exact_to_a_pixel(start: Start) -> None:
    frame = start(STILL_LIFE).get_camera_rgbd("eye")
    wall = np.abs(frame.depth - 2.0) < 1e-3
    columns = np.nonzero(wall[300])[0]
    left, right = (project(frame, [2.0, y, 0.8])[1] for y in (0.4, -0.4))
    assert abs(int(columns[0]) - left) <= 1
    assert abs(int(columns[-1]) - right) <= 1


def test_unprojected_pixels_lie_on_the_wall(start: Start) -> None:
    frame = start(STILL_LIFE).get_camera_rgbd("eye")
    rows, columns = np.nonzero(np.abs(frame.depth - 2.0) < 0.01)
    rays = np.linalg.inv(frame.intrinsics) @ np.stack([columns, rows, np.ones_like(rows)])
    points = frame.extrinsics[:3, :3] @ (rays * frame.depth[rows, columns])
    points += frame.extrinsics[:3, 3:]
    assert np.abs(points[0] - 2.0).max() < 1e-4
    # Half a pixel at 2 m is 2.4 mm.
    assert np.abs(points[1]).max() == pytest.approx(0.4, abs=5e-3)
    assert points[1].mean() == pytest.approx(0.0, abs=0.02)


def test_the_optical_frame_looks_along_z_with_y_down(start: Start) -> None:
    extrinsics = start(STILL_LIFE).get_camera_rgbd("eye").extrinsics
    np.testing.assert_allclose(extrinsics[:3, 2], [1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(extrinsics[:3, 1], [0, 0, -1], atol=1e-12)
    np.testing.assert_allclose(extrinsics[:3, 3], [0, 0, 1], atol=1e-12)


@pytest.mark.parametrize(("width", "height"), [(320, 240), (200, 300)])
def test_the_field_of_view_does_not_depend_on_the_size(
    start: Start, width: int, height: int
) -> None:
    frame = start(STILL_LIFE, width=width, height=height).get_camera_rgbd("eye")
    assert frame.rgb.shape == (height, width, 3)
    focal = 0.5 * height / np.tan(np.radians(30))
    middle = (0.5 * (width - 1), 0.5 * (height - 1))
    expected = [[focal, 0, middle[0]], [0, focal, middle[1]], [0, 0, 1]]
    np.testing.assert_allclose(frame.intrinsics, expected, rtol=1e-6)


def test_a_principal_point_off_the_middle_is_drawn_as_its_matrix_says(start: Start) -> None:
    lens = 'sensorsize="0.008 0.006" focal="0.006 0.006" principal="0.001 0.0005"'
    moved = STILL_LIFE.replace('fovy="60"', f'resolution="640 480" {lens}')
    frame = start(moved).get_camera_rgbd("eye")
    row = project(frame, [2.0, 0.0, 0.8])[0]  # Below the ball.
    wall = np.nonzero(np.abs(frame.depth[row] - 2.0) < 1e-3)[0]
    left, right = (project(frame, [2.0, y, 0.8])[1] for y in (0.4, -0.4))
    assert abs(left + right - 639) > 100  # It is off the middle.
    assert abs(int(wall[0]) - left) <= 1
    assert abs(int(wall[-1]) - right) <= 1
    column = project(frame, [2.0, 0.0, 0.8])[1]
    wall = np.nonzero(np.abs(frame.depth[:, column] - 2.0) < 1e-3)[0]
    top, bottom = (project(frame, [2.0, 0.0, z])[0] for z in (1.3, 0.7))
    assert abs(int(wall[0]) - top) <= 1
    assert abs(int(wall[-1]) - bottom) <= 1


def test_a_frame_shows_the_state_at_the_time_of_its_request(start: Start) -> None:
    simulator = start(
        ARM.replace(
            "<worldbody>", '<worldbody><camera name="eye" pos="0 -2 1" xyaxes="1 0 0 0 0 1"/>'
        )
    )
    before = simulator.get_camera_rgbd("eye")
    simulator.set_joint_targets(["shoulder"], [1.0])
    simulator.step(1.0)
    after = simulator.get_camera_rgbd("eye")
    assert (before.timestamp, after.timestamp) == (0.0, pytest.approx(1.0))
    assert (before.rgb != after.rgb).any()


def test_render_shows_the_robot(rby1: MuJoCoSimulator) -> None:
    picture = rby1.render()
    assert picture is not None
    assert picture.shape == (480, 640, 3)
    assert picture.std() > 20.0


def test_render_falls_back_to_a_free_camera(start: Start) -> None:
    picture = start(ARM).render()
    assert picture is not None
    assert picture.std() > 1.0


def test_an_unknown_camera_is_reported_with_the_valid_ones(rby1: MuJoCoSimulator) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'head_camera'"):
        rby1.get_camera_rgbd("hed_camera")


def test_drawing_does_not_disturb_physics(start: Start) -> None:
    plain, drawn = start(STILL_LIFE), start(STILL_LIFE)
    for step in range(60):
        for simulator in (plain, drawn):
            simulator.set_joint_positions([0.01 * step])
            simulator.step()
        if step % 20 == 0:
            drawn.get_camera_rgbd("eye")
            drawn.render()
    np.testing.assert_array_equal(plain.data.qpos, drawn.data.qpos)
    np.testing.assert_array_equal(plain.data.qvel, drawn.data.qvel)


def draw_after_a_pause(simulator: MuJoCoSimulator) -> RGBDFrame:
    """Request a picture until there is one."""
    frames: list[RGBDFrame] = []

    def is_drawn() -> bool:
        with contextlib.suppress(RenderingUnavailableError):
            frames.append(simulator.get_camera_rgbd("eye"))
        return bool(frames)

    wait_for(is_drawn)
    return frames[0]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize(
    "fault", [mujoco.FatalError("OpenGL ran out of memory"), ValueError("a bug")]
)
def test_a_picture_that_cannot_be_drawn_is_reported_and_the_next_one_is_drawn(
    start: Start,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    fault: Exception,
) -> None:
    def broken(*arguments: object) -> None:
        raise fault

    simulator = start(STILL_LIFE)
    before = simulator.get_camera_rgbd("eye")
    with monkeypatch.context() as patch:
        patch.setattr(mujoco, "mjr_render", broken)
        for _ in range(3):
            with pytest.raises(RenderingUnavailableError, match=str(fault)):
                simulator.get_camera_rgbd("eye")
        assert simulator.render() is None
        simulator.step()  # Physics continues.
    assert caplog.text.count(str(fault)) == 1
    after = draw_after_a_pause(simulator)
    assert after.timestamp == pytest.approx(simulator.timestep)
    np.testing.assert_array_equal(after.rgb, before.rgb)


def test_with_drawing_switched_off_no_context_is_created(start: Start) -> None:
    simulator = start(STILL_LIFE, render=False)
    assert simulator.render() is None
    with pytest.raises(RenderingUnavailableError, match="render"):
        simulator.get_camera_rgbd("eye")


def test_shutdown_ends_the_render_thread(start: Start) -> None:
    simulator = start(STILL_LIFE)
    simulator.render()
    thread = simulator._world.renderer._thread
    assert thread is not None
    simulator.shutdown()
    assert not thread.is_alive()
