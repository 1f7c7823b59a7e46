# SPDX-License-Identifier: Apache-2.0
"""Draws a recorded skeleton without a graphics card: bones, shadow and floor."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from teleop_system.mocap.bvh_loader import BVHData

Array = NDArray[np.float64]
Picture = NDArray[np.uint8]

BACKGROUND = (246, 247, 249)
FLOOR = (214, 218, 224)
SIDES = {"left": (37, 99, 176), "right": (196, 78, 54), "middle": (74, 82, 94)}
SHADOW = (200, 205, 212)
AZIMUTH, ELEVATION = np.deg2rad(-50.0), np.deg2rad(16.0)
"""Direction of the camera, as in the simulator: in front of the person, right, above."""
SPAN = 2.3
"""Visible height in [m]."""
CENTRE = 0.9
"""Height in [m] at the centre of the picture."""
TILE = 0.5
"""Distance of the floor lines in [m]."""


class SkeletonViewer:
    """Draws pictures of a recording.

    Args:
        data: The recording.
        width: Columns of a picture in [px].
        height: Rows of a picture in [px].
        follow: Whether the camera moves and rotates with the person.
    """

    def __init__(
        self, data: BVHData, *, width: int = 480, height: int = 480, follow: bool = True
    ) -> None:
        self._data = data
        self._size = (width, height)
        self._follow = follow
        feet = data.positions[data.first_frame :].min(axis=1)[:, 2]
        self._floor = float(np.percentile(feet, 5.0))

    def draw(self, time: float, heading: float = 0.0, caption: str = "") -> Picture:
        """Return a picture of the person.

        Args:
            time: Time in [s] after the first captured frame.
            heading: Reference direction of the camera in [rad].
            caption: Text in the corner.
        """
        data = self._data
        frame = data.first_frame + max(time, 0.0) / data.frame_time
        first = min(int(frame), data.frame_count - 1)
        second = min(first + 1, data.frame_count - 1)
        share = min(frame - first, 1.0)
        joints = data.positions[first] * (1.0 - share) + data.positions[second] * share
        joints = joints - (0.0, 0.0, self._floor)
        centre = joints[0, :2] if self._follow else data.positions[data.first_frame, 0, :2]
        image = Image.new("RGB", self._size, BACKGROUND)
        pen = ImageDraw.Draw(image)
        camera = _Camera(self._size, centre, heading)
        _draw_floor(pen, camera, centre)
        self._draw_bones(pen, camera, joints * (1.0, 1.0, 0.0), None)
        self._draw_bones(pen, camera, joints, SIDES)
        if caption:
            pen.text((10, 8), caption, fill=SIDES["middle"])
        return np.asarray(image, dtype=np.uint8)

    def _draw_bones(
        self,
        pen: ImageDraw.ImageDraw,
        camera: "_Camera",
        joints: Array,
        colors: dict[str, tuple[int, int, int]] | None,
    ) -> None:
        points, depths = camera.project(joints)
        bones = [(j, parent) for j, parent in enumerate(self._data.parents) if parent >= 0]
        # Far bones are drawn first, so that near ones cover them.
        for joint, parent in sorted(bones, key=lambda bone: -float(depths[bone[0]])):
            line = [tuple(points[parent]), tuple(points[joint])]
            if colors is None:
                pen.line(line, fill=SHADOW, width=3)
                continue
            pen.line(line, fill=colors[_side(self._data.names[joint])], width=5)
        if colors is not None:
            x, y = points[0]
            pen.ellipse([x - 4, y - 4, x + 4, y + 4], fill=colors["middle"])


class _Camera:
    """A parallel projection from the side."""

    def __init__(self, size: tuple[int, int], centre: Array, heading: float) -> None:
        angle = AZIMUTH + heading
        self._right = np.array([-np.sin(angle), np.cos(angle), 0.0])
        forward = -np.array(
            [
                np.cos(angle) * np.cos(ELEVATION),
                np.sin(angle) * np.cos(ELEVATION),
                np.sin(ELEVATION),
            ]
        )
        self._forward = forward
        self._up = np.cross(self._right, forward)
        self._origin = np.array([centre[0], centre[1], CENTRE])
        self._middle = np.array(size) / 2.0
        self._scale = size[1] / SPAN

    def project(self, points: Array) -> tuple[Array, Array]:
        """Return columns and rows in [px], shape (N, 2), and depths in [m], shape (N,)."""
        offsets = points - self._origin
        columns = self._middle[0] + self._scale * (offsets @ self._right)
        rows = self._middle[1] - self._scale * (offsets @ self._up)
        return np.stack([columns, rows], axis=-1), offsets @ self._forward


def _draw_floor(pen: ImageDraw.ImageDraw, camera: _Camera, centre: Array) -> None:
    reach = 6
    base = np.round(centre / TILE) * TILE
    for step in range(-reach, reach + 1):
        for axis in (0, 1):
            ends = np.zeros((2, 3))
            ends[:, axis] = base[axis] + step * TILE
            ends[:, 1 - axis] = base[1 - axis] + np.array([-reach, reach]) * TILE
            line, _ = camera.project(ends)
            pen.line([tuple(line[0]), tuple(line[1])], fill=FLOOR, width=1)


def _side(name: str) -> str:
    plain = name.rpartition(":")[2]
    if plain.startswith(("Left", "LThumb", "LHip", "l")):
        return "left"
    if plain.startswith(("Right", "RThumb", "RHip", "r")):
        return "right"
    return "middle"
