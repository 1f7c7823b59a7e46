# SPDX-License-Identifier: Apache-2.0
"""Shows point clouds in an Open3D window from the robot's view, or writes them to files."""

import logging
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from teleop_system.exceptions import MissingExtraError
from teleop_system.interfaces import RGBDFrame
from teleop_system.modules.camera.pointcloud_generator import PointCloud

logger = logging.getLogger(__name__)

Matrix = NDArray[np.float64]
BACKGROUND = (0.07, 0.09, 0.11)
KEY_FIRST_PERSON = ord("F")
NEAREST = 0.05
"""Smallest distance of a drawn point in [m]."""
LARGEST_SPLAT = 16
"""Largest side of a point in an image in [px]."""
ROUNDING = 1e-3
"""Fraction of a pixel that does not enlarge a square."""
GAP_RATIO = 1.05
"""Ratio of inverse depths between a gap's edges and its background."""


class PointCloudViewer:
    """A window with the newest points.

    The view follows the camera until the mouse moves it; the key F returns to the camera. Open,
    use and close it in one thread.

    Args:
        title: Title of the window.
        width: Columns of the window in [px].
        height: Rows of the window in [px].
        point_size: Size of a point in [px]; by default as large as necessary to leave no gaps.

    Raises:
        MissingExtraError: Open3D is not installed.
    """

    def __init__(
        self,
        title: str = "What the robot sees",
        *,
        width: int = 960,
        height: int = 720,
        point_size: float | None = None,
    ) -> None:
        self._o3d = open3d()
        self._title, self._point_size = title, point_size
        self._size = (width, height)
        self._window: Any = None
        self._cloud = self._o3d.geometry.PointCloud()
        self._is_first_person = True
        self._view: Matrix | None = None

    def open(self) -> bool:
        """Open the window; False, with the reason logged, if that is impossible."""
        if not has_screen():
            logger.warning("no screen is available for the point cloud window")
            return False
        window = self._o3d.visualization.VisualizerWithKeyCallback()
        width, height = self._size
        if not window.create_window(self._title, width=width, height=height):
            logger.warning("Open3D cannot open a window here")
            return False
        options = window.get_render_option()
        if options is None:  # The window has no OpenGL.
            window.destroy_window()
            logger.warning("OpenGL is not available for the point cloud window")
            return False
        options.background_color = np.array(BACKGROUND)
        window.register_key_callback(KEY_FIRST_PERSON, self._return_to_first_person)
        self._window = window
        self._cloud.clear()
        self._view = None
        return True

    def show(self, cloud: PointCloud, frame: RGBDFrame) -> bool:
        """Show points from the pose of the frame's camera; False if the window is closed."""
        window = self._window
        if window is None:
            return False
        vectors = self._o3d.utility.Vector3dVector
        is_first = self._cloud.is_empty()
        self._cloud.points = vectors(cloud.points.astype(np.float64))
        self._cloud.colors = vectors(cloud.colors * (1.0 / 255.0))
        if is_first:
            window.get_render_option().point_size = self._point_size or self._gapless(cloud, frame)
            window.add_geometry(self._cloud, reset_bounding_box=not self._cloud.is_empty())
        else:
            window.update_geometry(self._cloud)
        self._look(frame, np.eye(4) if cloud.frame == "camera" else frame.extrinsics)
        return self.refresh()

    def refresh(self) -> bool:
        """Process window events; False if it is closed."""
        if self._window is None:
            return False
        is_open = bool(self._window.poll_events())
        self._window.update_renderer()
        if not is_open:
            self.close()
        return is_open

    def close(self) -> None:
        """Close the window; safe to call twice."""
        window, self._window = self._window, None
        if window is not None:
            window.destroy_window()

    def _gapless(self, cloud: PointCloud, frame: RGBDFrame) -> float:
        share = frame.width * frame.height / max(len(cloud.points), 1)
        return float(np.clip(1.4 * np.sqrt(share) * self._size[1] / frame.height, 1.0, 8.0))

    def _look(self, frame: RGBDFrame, pose: Matrix) -> None:
        """Move the view with the camera, unless the mouse has moved it."""
        control = self._window.get_view_control()
        now = control.convert_to_pinhole_camera_parameters()
        if self._view is not None and not np.allclose(now.extrinsic, self._view, atol=1e-3):
            self._is_first_person = False
        if not self._is_first_person or self._cloud.is_empty():
            return
        # The window has its own size, but keeps the camera's field of view.
        size = now.intrinsic.width, now.intrinsic.height
        focal = float(frame.intrinsics[1, 1]) * size[1] / frame.height
        now.intrinsic.set_intrinsics(*size, focal, focal, 0.5 * size[0] - 0.5, 0.5 * size[1] - 0.5)
        now.extrinsic = np.linalg.inv(pose)
        control.convert_from_pinhole_camera_parameters(now, allow_arbitrary=True)
        self._view = np.array(control.convert_to_pinhole_camera_parameters().extrinsic)

    def _return_to_first_person(self, window: Any) -> bool:
        del window
        self._is_first_person, self._view = True, None
        return False


def write_snapshot(cloud: PointCloud, frame: RGBDFrame, folder: Path) -> tuple[Path, Path]:
    """Write the points to a PLY file and a view of them to a PNG file, without a screen.

    Returns:
        Paths of both files.

    Raises:
        MissingExtraError: Open3D is not installed.
    """
    o3d = open3d()
    folder.mkdir(parents=True, exist_ok=True)
    ply, png = folder / "pointcloud.ply", folder / "pointcloud.png"
    device = o3d.core.Device("CPU:0")
    points = o3d.t.geometry.PointCloud(device)
    points.point.positions = o3d.core.Tensor(np.ascontiguousarray(cloud.points))
    points.point.colors = o3d.core.Tensor(np.ascontiguousarray(cloud.colors))
    o3d.t.io.write_point_cloud(str(ply), points)
    seen = max(int(np.count_nonzero(frame.depth)), 1)
    stride = max(round(float(np.sqrt(seen / max(len(cloud.points), 1)))), 1)
    eye = _aside(cloud, frame)
    picture = render_points(cloud, frame, eye, splat=stride, gaps=2 * stride)
    o3d.io.write_image(str(png), o3d.geometry.Image(picture))
    return ply, png


def render_points(
    cloud: PointCloud, frame: RGBDFrame, pose: Matrix, *, splat: int = 2, gaps: int = 0
) -> NDArray[np.uint8]:
    """Draw points as squares, nearer ones over farther ones.

    Args:
        cloud: The points.
        frame: Defines camera matrix and size of the image.
        pose: Pose of the eye's optical frame in the frame of the points.
        splat: Side of a point in [px] at the camera's distance; it grows when the eye is nearer.
        gaps: Gaps in surfaces up to this width in [px] are closed.
    """
    width, height = frame.width, frame.height
    camera = np.eye(4) if cloud.frame == "camera" else frame.extrinsics
    inverse = np.linalg.inv(pose)
    points = cloud.points @ inverse[:3, :3].T + inverse[:3, 3]
    is_ahead = points[:, 2] > NEAREST
    points, colors = points[is_ahead], cloud.colors[is_ahead]
    depths = (cloud.points[is_ahead] - camera[:3, 3]) @ camera[:3, 2]
    sides = np.clip(np.ceil(splat * depths / points[:, 2] - ROUNDING), 1, LARGEST_SPLAT)
    offsets = points[:, :2] / points[:, 2:] * frame.intrinsics[[0, 1], [0, 1]]
    corners = np.rint(offsets + frame.intrinsics[:2, 2]).astype(np.int64)
    rows, columns, owners = _squares(corners, sides.astype(np.int64))
    inside = (columns >= 0) & (columns < width) & (rows >= 0) & (rows < height)
    pixels, owners = (rows * width + columns)[inside], owners[inside]
    order = np.argsort(-points[owners, 2], kind="stable")  # The nearest point is drawn last.
    pixels, owners = pixels[order], owners[order]
    picture = np.empty((height, width, 3), np.uint8)
    picture[:] = np.rint(255.0 * np.array(BACKGROUND))
    picture.reshape(-1, 3)[pixels] = colors[owners]
    inverse_depth = np.zeros((height, width))
    inverse_depth.reshape(-1)[pixels] = 1.0 / points[owners, 2]
    if gaps:
        _close_gaps(picture, inverse_depth, gaps)
    return picture


def _squares(
    corners: NDArray[np.int64], sides: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return rows, columns and square indices of all pixels of the squares."""
    owners = np.repeat(np.arange(len(sides)), sides * sides)
    firsts = np.cumsum(sides * sides) - sides * sides
    down, right = np.divmod(np.arange(len(owners)) - firsts[owners], sides[owners])
    return corners[owners, 1] + down, corners[owners, 0] + right, owners


def _aside(cloud: PointCloud, frame: RGBDFrame) -> Matrix:
    """Return a pose behind, above and beside the camera that looks at the centre of the points.

    From the camera itself the picture would equal the colour image.
    """
    pose = np.eye(4) if cloud.frame == "camera" else frame.extrinsics
    points = (cloud.points - pose[:3, 3]) @ pose[:3, :3] if len(cloud.points) else np.eye(3)[2:]
    eye = np.percentile(points[:, 2], 20.0) * np.array([0.15, -0.3, -0.35])
    ahead = np.median(points, axis=0) - eye
    ahead /= np.linalg.norm(ahead)
    right = np.cross([0.0, 1.0, 0.0], ahead)
    right /= np.linalg.norm(right)
    aside = np.eye(4)
    aside[:3] = np.column_stack([right, np.cross(ahead, right), ahead, eye])
    result: Matrix = pose @ aside
    return result


def _close_gaps(picture: NDArray[np.uint8], inverse_depth: Matrix, reach: int) -> None:
    """Fill gaps narrower than `reach` [px] and farther than both of their edges, in place."""
    closed = inverse_depth.copy()
    for shape in ((1, reach + 1), (reach + 1, 1)):
        np.maximum(closed, ndimage.grey_closing(inverse_depth, shape), out=closed)
    gaps = np.argwhere(closed > GAP_RATIO * inverse_depth + 1e-9)
    expected = closed[gaps[:, 0], gaps[:, 1]]
    best = np.full(len(gaps), np.inf)
    filled = np.empty((len(gaps), 3), np.uint8)
    limits = np.array(inverse_depth.shape) - 1
    for step in range(1, reach + 1):
        for offset in ((0, step), (0, -step), (step, 0), (-step, 0)):
            rows, columns = np.clip(gaps + offset, 0, limits).T
            distance = np.abs(inverse_depth[rows, columns] - expected)
            is_better = distance < best
            best[is_better] = distance[is_better]
            filled[is_better] = picture[rows[is_better], columns[is_better]]
    picture[gaps[:, 0], gaps[:, 1]] = filled


def has_screen() -> bool:
    """Whether a screen is available."""
    if not sys.platform.startswith("linux"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def open3d() -> Any:
    """Return the Open3D library.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        import open3d as library
    except (ImportError, OSError) as error:  # Its wheel also needs system libraries.
        raise MissingExtraError(f"Open3D ({error})", "viz") from error
    return library
