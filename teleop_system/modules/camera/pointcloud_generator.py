# SPDX-License-Identifier: Apache-2.0
"""Converts RGB-D frames to coloured 3-D points."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import ConfigError, InvalidValueError
from teleop_system.interfaces import RGBDFrame
from teleop_system.modules.camera.image_kernels import unproject
from teleop_system.utils.validators import require_in_range, require_non_negative

Float32 = NDArray[np.float32]
Bytes = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class PointCloudConfig:
    """Which pixels become points, and the frame of the points."""

    near: float = 0.1
    """Smallest depth of a point in [m]."""
    far: float = 10.0
    """Largest depth of a point in [m]."""
    stride: int = 1
    """Every stride-th row and column is sampled."""
    frame: Literal["world", "camera"] = "world"
    """Frame of the points: the world, or the camera's optical frame."""

    def __post_init__(self) -> None:
        require_non_negative(self, "near")
        require_in_range(self, "stride", 1, 64)
        if not self.far > self.near:
            raise ConfigError(f"far must exceed near = {self.near} m, got {self.far!r}")


@dataclass(frozen=True, slots=True, eq=False)
class PointCloud:
    """3-D points with colours.

    Attributes:
        points: Positions in [m], shape (N, 3).
        colors: RGB colours, shape (N, 3).
        timestamp: Time of exposure in [s].
        frame: "world", or "camera" for the optical frame (x right, y down, z forward).
    """

    points: Float32
    colors: Bytes
    timestamp: float
    frame: str


class PointCloudGenerator:
    """Unprojects frames; computes the rays of a camera once, not for every frame."""

    def __init__(self, config: PointCloudConfig | None = None) -> None:
        self._config = config or PointCloudConfig()
        self._camera: tuple[int, int, bytes] | None = None
        self._columns = self._rows = np.empty(0, np.float32)

    def generate(self, frame: RGBDFrame) -> PointCloud:
        """Return the points of a frame, row by row; pixels without depth give none.

        Raises:
            InvalidValueError: The camera matrix has no focal length.
        """
        self._cache_rays(frame)
        config, matrix = self._config, frame.intrinsics
        pose = np.eye(4) if config.frame == "camera" else frame.extrinsics
        size = len(self._rows) * len(self._columns)
        points, colors = np.empty((size, 3), np.float32), np.empty((size, 3), np.uint8)
        count = unproject(
            np.ascontiguousarray(frame.depth),
            np.ascontiguousarray(frame.rgb),
            self._rows,
            self._columns,
            pose[:3].astype(np.float32),
            config.near,
            config.far,
            float(matrix[0, 1] / matrix[0, 0]),
            config.stride,
            points,
            colors,
        )
        return PointCloud(points[:count], colors[:count], frame.timestamp, config.frame)

    def _cache_rays(self, frame: RGBDFrame) -> None:
        camera = (frame.width, frame.height, frame.intrinsics.tobytes())
        if camera == self._camera:
            return
        matrix, stride = frame.intrinsics, self._config.stride
        if not (matrix[0, 0] > 0.0 and matrix[1, 1] > 0.0):
            raise InvalidValueError(
                f"focal lengths must be positive, got {matrix[0, 0]} and {matrix[1, 1]} px"
            )
        columns = (np.arange(0, frame.width, stride) - matrix[0, 2]) / matrix[0, 0]
        rows = (np.arange(0, frame.height, stride) - matrix[1, 2]) / matrix[1, 1]
        self._columns, self._rows = columns.astype(np.float32), rows.astype(np.float32)
        self._camera = camera
