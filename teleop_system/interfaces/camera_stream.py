# SPDX-License-Identifier: Apache-2.0
"""Cameras of the robot: colour and depth images with their geometry."""

import abc
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import InvalidValueError


@dataclass(frozen=True, slots=True, eq=False)  # Arrays have no single truth value.
class RGBDFrame:
    """One colour image with its aligned depth; images are shared, not copied.

    Attributes:
        rgb: Colour, shape (height, width, 3), uint8.
        depth: Distance along the optical axis in [m], shape (height, width), float32; 0 without a
            measurement.
        intrinsics: Camera matrix K in [px], shape (3, 3).
        extrinsics: Pose of the camera's optical frame (x right, y down, z forward) in the world,
            shape (4, 4).
        timestamp: Monotonic time of exposure in [s].
        width: Columns of both images in [px].
        height: Rows of both images in [px].
    """

    rgb: NDArray[np.uint8]
    depth: NDArray[np.float32]
    intrinsics: NDArray[np.float64]
    extrinsics: NDArray[np.float64]
    timestamp: float
    width: int = 640
    height: int = 480

    def __post_init__(self) -> None:
        needs = {
            "rgb": (np.uint8, (self.height, self.width, 3)),
            "depth": (np.float32, (self.height, self.width)),
            "intrinsics": (np.float64, (3, 3)),
            "extrinsics": (np.float64, (4, 4)),
        }
        for name, (dtype, shape) in needs.items():
            value = np.asarray(getattr(self, name))
            if value.shape != shape or value.dtype != dtype:
                raise InvalidValueError(
                    f"{name} needs {np.dtype(dtype)} of shape {shape}, "
                    f"got {value.dtype} of shape {value.shape}"
                )


_POLL = 0.002
"""Polling interval for a new frame in [s]."""


class ICameraStream(abc.ABC):
    """An RGB-D camera on a pan-tilt neck: real, simulated or remote."""

    @abc.abstractmethod
    def initialize(self) -> bool:
        """Open the camera; on failure log the reason and return False."""

    @abc.abstractmethod
    def get_rgbd(self) -> RGBDFrame:
        """Return the newest frame.

        Raises:
            DeviceNotConnectedError: The camera is not open.
        """

    def wait_rgbd(self, last: float, timeout: float) -> RGBDFrame | None:
        """Wait for a frame with another stamp than `last` [s]; None after `timeout` [s].

        This default polls; a camera that is notified of new frames overrides it.

        Raises:
            DeviceNotConnectedError: The camera is not open.
        """
        until = time.monotonic() + timeout
        while (frame := self.get_rgbd()).timestamp == last:
            if time.monotonic() >= until:
                return None
            time.sleep(_POLL)
        return frame

    @abc.abstractmethod
    def set_orientation(self, pan: float, tilt: float) -> None:
        """Look `pan` [rad] to the left and `tilt` [rad] down, within the limits of the neck."""

    def command_head(self, pan: float, tilt: float, timestamp: float) -> None:
        """Do the same for an operator's head that was measured at `timestamp` [s].

        A camera that forwards the time of measurement overrides this.
        """
        self.set_orientation(pan, tilt)

    @abc.abstractmethod
    def get_orientation(self) -> tuple[float, float]:
        """Return pan and tilt in [rad]."""

    @abc.abstractmethod
    def get_intrinsics(self) -> NDArray[np.float64]:
        """Return the camera matrix K in [px], shape (3, 3)."""

    @abc.abstractmethod
    def is_connected(self) -> bool:
        """Return whether the camera is open and delivers frames."""

    @abc.abstractmethod
    def shutdown(self) -> None:
        """Close the camera; safe to call twice."""
