# SPDX-License-Identifier: Apache-2.0
"""A camera that keeps its newest frame; another thread delivers the frames."""

import threading
import time

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import DeviceNotConnectedError
from teleop_system.interfaces.camera_stream import ICameraStream, RGBDFrame


class BufferedCamera(ICameraStream):
    """Returns the newest frame that its subclass has stored with `put_frame`.

    Args:
        device: Name of the camera in the error that is raised without a frame.
    """

    def __init__(self, device: str) -> None:
        self._device = device
        self._changed = threading.Condition()
        self._frame: RGBDFrame | None = None

    @property
    def has_frame(self) -> bool:
        """Whether there is a frame."""
        return self._frame is not None

    def put_frame(self, frame: RGBDFrame) -> None:
        """Replace the frame and wake waiting threads."""
        with self._changed:
            self._frame = frame
            self._changed.notify_all()

    def clear_frame(self) -> None:
        """Delete the frame, so that no caller uses an old image as a live one."""
        with self._changed:
            self._frame = None

    def get_rgbd(self) -> RGBDFrame:
        """Return the newest frame.

        Raises:
            DeviceNotConnectedError: There is no frame.
        """
        frame = self._frame
        if frame is None:
            raise DeviceNotConnectedError(self._device)
        return frame

    def wait_rgbd(self, last: float, timeout: float) -> RGBDFrame | None:
        """Wait for a frame with another stamp than `last` [s]; None after `timeout` [s]."""
        until = time.monotonic() + timeout
        with self._changed:
            while self._frame is None or self._frame.timestamp == last:
                remaining = until - time.monotonic()
                if remaining <= 0.0:
                    return None
                self._changed.wait(remaining)
            return self._frame

    def get_intrinsics(self) -> NDArray[np.float64]:
        """Return the camera matrix K of the newest frame in [px], shape (3, 3).

        Raises:
            DeviceNotConnectedError: There is no frame.
        """
        return self.get_rgbd().intrinsics
