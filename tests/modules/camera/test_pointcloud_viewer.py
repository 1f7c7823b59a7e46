# SPDX-License-Identifier: Apache-2.0

import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from teleop_system.interfaces import RGBDFrame
from teleop_system.modules.camera.pointcloud_generator import (
    PointCloud,
    PointCloudConfig,
    PointCloudGenerator,
)
from teleop_system.modules.camera.pointcloud_viewer import (
    BACKGROUND,
    PointCloudViewer,
    render_points,
    write_snapshot,
)
from tests.modules.camera.streaming.scenes import scene
from tests.waiting import run_to_end

SCREENSHOTS = os.environ.get("TELEOP_SCREENSHOTS")


def test_a_cloud_seen_from_its_camera_is_its_picture() -> None:
    frame = scene()
    cloud = PointCloudGenerator().generate(frame)
    picture = render_points(cloud, frame, frame.extrinsics, splat=1)
    seen = frame.depth > 0.0
    np.testing.assert_array_equal(picture[seen], frame.rgb[seen])


def test_near_points_hide_far_ones() -> None:
    frame = scene()
    cloud = PointCloudGenerator(PointCloudConfig(frame="camera")).generate(frame)
    eye = np.eye(4)
    eye[2, 3] = -1.0
    picture = render_points(cloud, frame, eye)
    np.testing.assert_array_equal(picture[60, 80], (200, 30, 30))


def test_near_points_stay_over_far_ones_whose_squares_reach_them() -> None:
    frame = scene()
    focal, middle = frame.intrinsics[[0, 1], [0, 1]], frame.intrinsics[:2, 2]
    pixels, depths = np.array([[80, 60], [78, 58], [81, 61]]), np.array([[1.0], [2.0], [3.0]])
    points = np.hstack([(pixels - middle) / focal * depths, depths]).astype(np.float32)
    colors = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255]], np.uint8)
    cloud = PointCloud(points, colors, 0.0, "camera")
    picture = render_points(cloud, frame, np.eye(4), splat=4)
    counts = [(picture == color).all(axis=2).sum() for color in colors]
    assert counts == [16, 16 - 4, 16 - 9]


@pytest.mark.parametrize("stride", [1, 2, 4])
def test_a_surface_has_no_gaps_from_nearer_and_above_and_its_shadow_stays_empty(
    stride: int,
) -> None:
    height, width = 120, 160
    # A floor 1 m below the camera, and a board in front of a part of it.
    slopes = (np.arange(height) - 59.5) / 150.0
    depth = np.zeros((height, width), np.float32)
    depth[75:] = (1.0 / slopes[75:])[:, None]
    depth[82:90, 60:100] = 2.0
    rgb = np.full((height, width, 3), 200, np.uint8)
    matrix = np.array([[150.0, 0.0, 79.5], [0.0, 150.0, 59.5], [0.0, 0.0, 1.0]])
    frame = RGBDFrame(rgb, depth, matrix, np.eye(4), 0.0, width=width, height=height)
    cloud = PointCloudGenerator(PointCloudConfig(stride=stride, frame="camera")).generate(frame)
    eye = np.eye(4)  # Half a metre up and ahead, and looking down by 0.3 rad.
    eye[:3, 3] = (0.0, -0.5, 0.5)
    eye[1:3, 1:3] = [[np.cos(0.3), np.sin(0.3)], [-np.sin(0.3), np.cos(0.3)]]
    picture = render_points(cloud, frame, eye, splat=stride, gaps=2 * stride)
    is_drawn = (picture == 200).all(axis=2)
    columns = [10, 25, 135, 145]  # Beside the board.
    for column in columns:
        rows = np.flatnonzero(is_drawn[:, column])
        assert len(rows) > 40
        assert np.diff(rows).max() == 1, f"a gap in column {column}"
    behind = np.flatnonzero(is_drawn[:, 80])
    assert np.diff(behind).max() > 5, "no point of the floor behind the board is visible"


def test_a_snapshot_has_its_points_in_the_middle(tmp_path: Path) -> None:
    o3d = pytest.importorskip("open3d")
    frame = scene()
    cloud = PointCloudGenerator().generate(frame)
    _, png = write_snapshot(cloud, frame, tmp_path)
    picture = np.asarray(o3d.io.read_image(str(png)))
    is_drawn = (picture != np.rint(255.0 * np.array(BACKGROUND))).any(axis=2)
    middle = np.argwhere(is_drawn).mean(axis=0) / is_drawn.shape
    np.testing.assert_allclose(middle, 0.5, atol=0.12)
    assert is_drawn.mean() > 0.4


def test_without_a_screen_a_ply_and_a_png_are_written(tmp_path: Path) -> None:
    o3d = pytest.importorskip("open3d")
    frame = scene()
    cloud = PointCloudGenerator().generate(frame)
    ply, png = write_snapshot(cloud, frame, tmp_path / "new")
    read = o3d.io.read_point_cloud(str(ply))
    np.testing.assert_allclose(np.asarray(read.points), cloud.points, atol=1e-6)
    np.testing.assert_allclose(np.asarray(read.colors) * 255.0, cloud.colors, atol=0.01)
    assert np.asarray(o3d.io.read_image(str(png))).shape == (120, 160, 3)


def test_without_a_screen_no_window_opens(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    pytest.importorskip("open3d")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    viewer = PointCloudViewer()
    assert viewer.open() is False
    assert "no screen" in caplog.text
    assert viewer.refresh() is False
    viewer.close()


WINDOW = """
import sys
from teleop_system.modules.camera.pointcloud_generator import PointCloudGenerator
from teleop_system.modules.camera.pointcloud_viewer import PointCloudViewer
from tests.modules.camera.streaming.scenes import scene
viewer, generator = PointCloudViewer(width=640, height=480), PointCloudGenerator()
assert viewer.open()
for shift in range(0, 40, 10):
    frame = scene(shift=shift)
    assert viewer.show(generator.generate(frame), frame)
viewer._window.capture_screen_image(sys.argv[1], do_render=True)
viewer.close()
"""


@pytest.mark.skipif(shutil.which("xvfb-run") is None, reason="there is no Xvfb")
def test_a_window_shows_the_first_person_view(tmp_path: Path) -> None:
    o3d = pytest.importorskip("open3d")
    path = Path(SCREENSHOTS or tmp_path) / "window.png"
    screen = ["xvfb-run", "-a", "-s", "-screen 0 1280x960x24"]
    done = run_to_end([*screen, sys.executable, "-c", WINDOW, str(path)])
    assert done.returncode == 0, done.stderr
    picture = np.asarray(o3d.io.read_image(str(path))).astype(float)
    assert picture.shape == (480, 640, 3)
    frame = scene(shift=30)
    # Four times the size of the camera's image; Open3D cannot shift the principal point.
    for row, column in [(60, 110), (100, 20), (100, 140)]:
        found = picture[4 * row : 4 * row + 4, 4 * column : 4 * column + 4].mean(axis=(0, 1))
        np.testing.assert_allclose(found, frame.rgb[row, column], atol=25)
