# SPDX-License-Identifier: Apache-2.0
"""A camera whose frames come from a thread of their own."""

import numpy as np
from numpy.typing import NDArray

from teleop_system.interfaces.camera_stream import ICameraStream, RGBDFrame
from teleop_system.utils.newest_slot import NewestSlot


class BufferedCamera(ICameraStream):
    """Gives the newest frame that its subclass has put into `_buffer`.

    Args:
        device: What the error names while there is no frame.
    """

    def __init__(self, device: str) -> None:
        self._buffer: NewestSlot[RGBDFrame] = NewestSlot(device)

    def get_rgbd(self) -> RGBDFrame:
        """Return the newest frame.

        Raises:
            DeviceNotConnectedError: There is none.
        """
        return self._buffer.get()

    def wait_rgbd(self, last: float, timeout: float) -> RGBDFrame | None:
        """Wait for a frame with another stamp than `last` [s]; None after `timeout` [s]."""
        return self._buffer.wait(last, timeout)

    def get_intrinsics(self) -> NDArray[np.float64]:
        """Return the camera matrix K of the newest frame in [px], shape (3, 3).

        Raises:
            DeviceNotConnectedError: There is none.
        """
        return self._buffer.get().intrinsics
