# SPDX-License-Identifier: Apache-2.0
"""Frames and cameras for the tests of streaming."""

import threading
import time

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from teleop_system.exceptions import DeviceNotConnectedError
from teleop_system.interfaces import ICameraStream, RGBDFrame
from teleop_system.modules.camera.rgbd_streaming import StreamingConfig, StreamLimits

TOKEN = "a token of the tests"


def scene(width: int = 160, height: int = 120, *, shift: int = 0) -> RGBDFrame:
    """Return a floor with a box on it, smooth as rendered pictures are."""
    rows, columns = np.mgrid[0:height, 0:width].astype(np.float32)
    depth = (1.0 + 2.0 * (height - rows) / height).astype(np.float32)
    box = (np.abs(columns - width / 2 - shift) < width / 8) & (np.abs(rows - height / 2) < 20)
    depth[box] = 0.8
    depth[: height // 10] = 0.0
    rgb = np.stack([columns * 255 / width, rows * 255 / height, 90 + 0 * rows], axis=-1)
    rgb[box] = (200, 30, 30)
    matrix = np.array([[150.0, 0.0, width / 2], [0.0, 151.0, height / 2], [0.0, 0.0, 1.0]])
    pose = np.eye(4)
    pose[:3, :3] = [[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]]
    pose[:3, 3] = (0.1, 0.0, 1.4)
    return RGBDFrame(
        rgb.astype(np.uint8), depth, matrix, pose, time.monotonic(), width=width, height=height
    )


class FakeCamera(ICameraStream):
    """Returns prepared images, on request or at a steady rate."""

    def __init__(self, fps: float | None = None, size: tuple[int, int] = (160, 120)) -> None:
        self._frame: RGBDFrame | None = None
        self._size, self._fps = size, fps
        self._orientation = (0.0, 0.0)
        self._stopping = threading.Event()
        self._count = 0
        self.show()
        if fps is not None:
            threading.Thread(target=self._run, daemon=True).start()

    def show(self, frame: RGBDFrame | None = None) -> RGBDFrame:
        self._count += 1
        self._frame = frame or scene(*self._size, shift=self._count % 40)
        return self._frame

    def _run(self) -> None:
        assert self._fps is not None
        while not self._stopping.wait(1.0 / self._fps):
            self.show()

    @override
    def initialize(self) -> bool:
        return True

    @override
    def get_rgbd(self) -> RGBDFrame:
        if self._frame is None:
            raise DeviceNotConnectedError("fake camera")
        return self._frame

    @override
    def set_orientation(self, pan: float, tilt: float) -> None:
        self._orientation = (pan, tilt)

    @override
    def get_orientation(self) -> tuple[float, float]:
        return self._orientation

    @override
    def get_intrinsics(self) -> NDArray[np.float64]:
        return self.get_rgbd().intrinsics

    @override
    def is_connected(self) -> bool:
        return self._frame is not None

    @override
    def shutdown(self) -> None:
        self._stopping.set()
        self._frame = None


def quick_config(port: int = 0, **changes: object) -> StreamingConfig:
    """Return a configuration whose time-outs a test can wait for."""
    limits = {"handshake": 1.0, "message": 1.0, "silence": 3.0, "stall": 2.0}
    for name in list(changes):
        if name in StreamLimits.__dataclass_fields__:
            limits[name] = changes.pop(name)  # type: ignore[assignment]
    changes.setdefault("reconnect", 0.1)
    return StreamingConfig(port=port, limits=StreamLimits(**limits), **changes)  # type: ignore[arg-type]
