# SPDX-License-Identifier: Apache-2.0
"""Converts ROS 2 image messages to arrays, without importing ROS 2."""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import InvalidValueError, suggestion

COLOR_ENCODINGS = {"rgb8": 3, "bgr8": 3, "rgba8": 4, "bgra8": 4, "mono8": 1}
DEPTH_ENCODINGS: dict[str, np.dtype[Any]] = {
    "32FC1": np.dtype(np.float32),
    "16UC1": np.dtype(np.uint16),
    "mono16": np.dtype(np.uint16),
}
LARGEST_SIDE = 8192
"""Largest number of rows or columns in [px]."""


def decode_color(message: Any) -> NDArray[np.uint8]:
    """Return the colours of an `Image` message, shape (H, W, 3), in RGB order.

    Raises:
        InvalidValueError: The encoding is unknown, or the sizes are inconsistent.
    """
    channels = COLOR_ENCODINGS.get(message.encoding)
    if channels is None:
        raise InvalidValueError(_unknown("colour", message.encoding, COLOR_ENCODINGS))
    pixels = _rows(message, np.dtype(np.uint8), channels)
    if channels == 1:
        return np.repeat(pixels, 3, axis=2)
    order = slice(2, None, -1) if message.encoding.startswith("bgr") else slice(0, 3)
    return np.ascontiguousarray(pixels[:, :, order])


def decode_depth(message: Any) -> NDArray[np.float32]:
    """Return the depth of an `Image` message in [m], shape (H, W); 0 means not measured.

    Raises:
        InvalidValueError: The encoding is unknown, or the sizes are inconsistent.
    """
    kind = DEPTH_ENCODINGS.get(message.encoding)
    if kind is None:
        raise InvalidValueError(_unknown("depth", message.encoding, DEPTH_ENCODINGS))
    values = _rows(message, kind, 1)[:, :, 0]
    if kind == np.uint16:  # Depth cameras send millimetres.
        return values * np.float32(0.001)
    depth = values.astype(np.float32)
    # Drivers write NaN or infinity for pixels without a measurement.
    with np.errstate(invalid="ignore"):
        depth[~((depth > 0.0) & np.isfinite(depth))] = 0.0
    return depth


def decode_camera_matrix(message: Any) -> NDArray[np.float64]:
    """Return the camera matrix K of a `CameraInfo` message in [px], shape (3, 3).

    Raises:
        InvalidValueError: A focal length is not positive.
    """
    matrix = np.array(message.k, dtype=np.float64).reshape(3, 3)
    if not (np.isfinite(matrix).all() and matrix[0, 0] > 0.0 and matrix[1, 1] > 0.0):
        raise InvalidValueError(
            f"a camera matrix needs positive focal lengths, got {list(message.k)}"
        )
    return matrix


def _rows(message: Any, kind: np.dtype[Any], channels: int) -> NDArray[Any]:
    """Return the pixels without row padding, shape (H, W, channels)."""
    height, width, step = int(message.height), int(message.width), int(message.step)
    row = width * channels * kind.itemsize
    if not (1 <= height <= LARGEST_SIDE and 1 <= width <= LARGEST_SIDE):
        raise InvalidValueError(f"an image has 1 to {LARGEST_SIDE} rows, got {width} x {height}")
    if step < row or len(message.data) < step * (height - 1) + row:
        raise InvalidValueError(
            f"{width} x {height} {message.encoding} needs rows of {row} bytes, got {step} and "
            f"{len(message.data)} in total"
        )
    data = np.frombuffer(message.data, np.uint8, count=step * (height - 1) + row)
    if step == row:
        lines = data.reshape(height, row)
    else:
        lines = np.lib.stride_tricks.as_strided(data, (height, row), (step, 1), writeable=False)
        lines = np.ascontiguousarray(lines)
    pixels = lines.view(kind).reshape(height, width, channels)
    if kind.itemsize > 1 and bool(message.is_bigendian) != (sys.byteorder == "big"):
        pixels = pixels.byteswap()
    return pixels


def _unknown(what: str, encoding: str, valid: Any) -> str:
    return f"{what} cannot be encoded as {encoding!r}{suggestion(encoding, valid)}"
