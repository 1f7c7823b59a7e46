# SPDX-License-Identifier: Apache-2.0
"""From an RGB-D frame to coloured points in space."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import ConfigError, InvalidValueError
from teleop_system.interfaces import RGBDFrame
from teleop_system.modules.camera import image_kernels
from teleop_system.utils.compiled import IS_COMPILED
from teleop_system.utils.validators import require_in_range, require_non_negative

Float32 = NDArray[np.float32]
Bytes = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class PointCloudConfig:
    """Which points are made of a frame, and where."""

    near: float = 0.1
    """Least depth of a point in [m]."""
    far: float = 10.0
    """Greatest depth of a point in [m]."""
    stride: int = 1
    """Every so many rows and columns make a point."""
    frame: Literal["world", "camera"] = "world"
    """Axes of the points: those of the world, or of the optical frame."""

    def __post_init__(self) -> None:
        require_non_negative(self, "near")
        require_in_range(self, "stride", 1, 64)
        if not self.far > self.near:
            raise ConfigError(f"far must exceed near = {self.near} m, got {self.far!r}")


@dataclass(frozen=True, slots=True, eq=False)
class PointCloud:
    """Coloured points.

    Attributes:
        points: Positions in [m], shape (N, 3).
        colors: Their colours, shape (N, 3).
        timestamp: When the frame was exposed in [s].
        frame: "world", or "camera" for the optical frame (x right, y down, z forward).
    """

    points: Float32
    colors: Bytes
    timestamp: float
    frame: str


class PointCloudGenerator:
    """Unprojects frames; the rays of a camera are computed once, not for every frame."""

    def __init__(self, config: PointCloudConfig | None = None) -> None:
        self._config = config or PointCloudConfig()
        self._unproject = _BEST
        self._key: tuple[Any, ...] = ()
        self._columns = self._rows = np.empty(0, np.float32)

    def generate(self, frame: RGBDFrame) -> PointCloud:
        """Return the points of a frame, row by row, those without depth left out.

        Raises:
            InvalidValueError: The camera matrix has no focal length.
        """
        self._cache_rays(frame)
        config, matrix = self._config, frame.intrinsics
        pose = np.eye(4) if config.frame == "camera" else frame.extrinsics
        size = len(self._rows) * len(self._columns)
        points, colors = np.empty((size, 3), np.float32), np.empty((size, 3), np.uint8)
        count = self._unproject(
            np.ascontiguousarray(frame.depth),
            np.ascontiguousarray(frame.rgb),
            self._rows,
            self._columns,
            pose[:3].astype(np.float32),
            np.array([config.near, config.far, matrix[0, 1] / matrix[0, 0]], np.float32),
            config.stride,
            points,
            colors,
        )
        return PointCloud(points[:count], colors[:count], frame.timestamp, config.frame)

    def _cache_rays(self, frame: RGBDFrame) -> None:
        key = (frame.width, frame.height, frame.intrinsics.tobytes())
        if key == self._key:
            return
        matrix, stride = frame.intrinsics, self._config.stride
        if not (matrix[0, 0] > 0.0 and matrix[1, 1] > 0.0):
            raise InvalidValueError(
                f"focal lengths must be positive, got {matrix[0, 0]} and {matrix[1, 1]} px"
            )
        columns = (np.arange(0, frame.width, stride) - matrix[0, 2]) / matrix[0, 0]
        rows = (np.arange(0, frame.height, stride) - matrix[1, 2]) / matrix[1, 1]
        self._columns, self._rows = columns.astype(np.float32), rows.astype(np.float32)
        self._key = key


def _unproject_with_numpy(
    depth: Float32,
    rgb: Bytes,
    rows: Float32,
    columns: Float32,
    pose: Float32,
    lens: Float32,
    stride: int,
    points: Float32,
    colors: Bytes,
) -> int:
    near, far, skew = lens
    depth, rgb = depth[::stride, ::stride], rgb[::stride, ::stride]
    row, column = np.nonzero((depth >= near) & (depth <= far))
    z = depth[row, column]
    y = rows[row] * z
    x = columns[column] * z - skew * y
    count = len(z)
    camera = np.stack([x, y, z], axis=-1)
    points[:count] = camera @ pose[:, :3].T + pose[:, 3]
    colors[:count] = rgb[row, column]
    return count


_BEST = image_kernels.unproject if IS_COMPILED else _unproject_with_numpy
