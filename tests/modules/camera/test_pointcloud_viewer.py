# SPDX-License-Identifier: Apache-2.0

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from teleop_system.modules.camera.pointcloud_generator import (
    PointCloudConfig,
    PointCloudGenerator,
)
from teleop_system.modules.camera.pointcloud_viewer import (
    PointCloudViewer,
    render_points,
    write_snapshot,
)
from tests.modules.camera.streaming.scenes import scene

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
from pathlib import Path
from teleop_system.modules.camera.pointcloud_generator import PointCloudGenerator
from teleop_system.modules.camera.pointcloud_viewer import PointCloudViewer
from tests.modules.camera.streaming.scenes import scene
viewer, generator = PointCloudViewer(width=640, height=480), PointCloudGenerator()
assert viewer.open()
for shift in range(0, 40, 10):
    frame = scene(shift=shift)
    assert viewer.show(generator.generate(frame), frame)
viewer.screenshot(Path(sys.argv[1]))
viewer.close()
"""


@pytest.mark.skipif(shutil.which("xvfb-run") is None, reason="there is no Xvfb")
def test_a_window_shows_the_first_person_view(tmp_path: Path) -> None:
    o3d = pytest.importorskip("open3d")
    path = Path(SCREENSHOTS or tmp_path) / "window.png"
    screen = ["xvfb-run", "-a", "-s", "-screen 0 1280x960x24"]
    subprocess.run([*screen, sys.executable, "-c", WINDOW, str(path)], check=True, timeout=120.0)
    picture = np.asarray(o3d.io.read_image(str(path))).astype(float)
    assert picture.shape == (480, 640, 3)
    frame = scene(shift=30)
    # Four times the size of the camera's image; Open3D cannot shift the principal point.
    for row, column in [(60, 110), (100, 20), (100, 140)]:
        found = picture[4 * row : 4 * row + 4, 4 * column : 4 * column + 4].mean(axis=(0, 1))
        np.testing.assert_allclose(found, frame.rgb[row, column], atol=25)
