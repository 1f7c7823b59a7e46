# SPDX-License-Identifier: Apache-2.0
"""Draws a recorded skeleton without a graphics card: bones, the floor, and where trackers are."""

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
"""Where the camera stands, as the simulator's does: before the person, to the right, above."""
SPAN = 2.3
"""Height of what is seen in [m]."""
CENTRE = 0.9
"""Height in [m] that is in the middle of the picture."""
TILE = 0.5
"""Distance of the floor's lines in [m]."""


class SkeletonViewer:
    """Pictures of a recording.

    Args:
        data: The recording.
        width: Columns of a picture in [px].
        height: Rows of a picture in [px].
        follow: Whether the camera goes along with the person, and turns with them.
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
        """Return the person at a time [s] after the first captured frame.

        Args:
            time: Of the recording.
            heading: Direction in [rad] that the camera counts from.
            caption: Text in the corner.
        """
        data = self._data
        place = data.first_frame + max(time, 0.0) / data.frame_time
        first = min(int(place), data.frame_count - 1)
        second = min(first + 1, data.frame_count - 1)
        share = min(place - first, 1.0)
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
        places, depths = camera.project(joints)
        bones = [(j, parent) for j, parent in enumerate(self._data.parents) if parent >= 0]
        # What is far away is drawn first, so that the near hides it.
        for joint, parent in sorted(bones, key=lambda bone: -float(depths[bone[0]])):
            line = [tuple(places[parent]), tuple(places[joint])]
            if colors is None:
                pen.line(line, fill=SHADOW, width=3)
                continue
            pen.line(line, fill=colors[_side(self._data.names[joint])], width=5)
        if colors is not None:
            x, y = places[0]
            pen.ellipse([x - 4, y - 4, x + 4, y + 4], fill=colors["middle"])


class _Camera:
    """Looks at a person from aside; nothing gets smaller with distance."""

    def __init__(self, size: tuple[int, int], centre: Array, heading: float) -> None:
        angle = AZIMUTH + heading
        self._right = np.array([-np.sin(angle), np.cos(angle), 0.0])
        ahead = -np.array(
            [
                np.cos(angle) * np.cos(ELEVATION),
                np.sin(angle) * np.cos(ELEVATION),
                np.sin(ELEVATION),
            ]
        )
        self._ahead = ahead
        self._up = np.cross(self._right, ahead)
        self._origin = np.array([centre[0], centre[1], CENTRE])
        self._middle = np.array(size) / 2.0
        self._scale = size[1] / SPAN

    def project(self, points: Array) -> tuple[Array, Array]:
        """Return columns and rows in [px], shape (N, 2), and depths in [m], shape (N,)."""
        away = points - self._origin
        columns = self._middle[0] + self._scale * (away @ self._right)
        rows = self._middle[1] - self._scale * (away @ self._up)
        return np.stack([columns, rows], axis=-1), away @ self._ahead


def _draw_floor(pen: ImageDraw.ImageDraw, camera: _Camera, centre: Array) -> None:
    reach = 6
    base = np.round(centre / TILE) * TILE
    for step in range(-reach, reach + 1):
        for axis in (0, 1):
            ends = np.zeros((2, 3))
            ends[:, axis] = base[axis] + step * TILE
            ends[:, 1 - axis] = base[1 - axis] + np.array([-reach, reach]) * TILE
            places, _ = camera.project(ends)
            pen.line([tuple(places[0]), tuple(places[1])], fill=FLOOR, width=1)


def _side(name: str) -> str:
    plain = name.rpartition(":")[2]
    if plain.startswith(("Left", "LThumb", "LHip", "l")):
        return "left"
    if plain.startswith(("Right", "RThumb", "RHip", "r")):
        return "right"
    return "middle"
