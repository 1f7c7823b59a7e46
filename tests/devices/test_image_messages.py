# SPDX-License-Identifier: Apache-2.0

from types import SimpleNamespace

import numpy as np
import pytest

from teleop_system.devices.image_messages import decode_camera_matrix, decode_color, decode_depth
from teleop_system.exceptions import InvalidValueError


def image(pixels: np.ndarray, encoding: str, *, padding: int = 0, big: bool = False):  # type: ignore[no-untyped-def]
    rows = pixels.reshape(len(pixels), -1)
    if big:
        rows = rows.byteswap()
    data = b"".join(row.tobytes() + bytes(padding) for row in rows)
    step = rows[0].nbytes + padding
    height, width = pixels.shape[:2]
    return SimpleNamespace(
        height=height, width=width, step=step, encoding=encoding, is_bigendian=big, data=data
    )


RGB = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)


@pytest.mark.parametrize("padding", [0, 5])
def test_colours_are_rgb_for_every_encoding(padding: int) -> None:
    np.testing.assert_array_equal(decode_color(image(RGB, "rgb8", padding=padding)), RGB)
    swapped = np.ascontiguousarray(RGB[:, :, ::-1])
    np.testing.assert_array_equal(decode_color(image(swapped, "bgr8", padding=padding)), RGB)
    with_alpha = np.dstack([RGB, np.full((2, 4), 255, np.uint8)])
    np.testing.assert_array_equal(decode_color(image(with_alpha, "rgba8", padding=padding)), RGB)
    blue_first = np.ascontiguousarray(with_alpha[:, :, [2, 1, 0, 3]])
    np.testing.assert_array_equal(decode_color(image(blue_first, "bgra8", padding=padding)), RGB)


def test_grey_images_become_grey_rgb_images() -> None:
    grey = np.array([[7, 9]], np.uint8)
    np.testing.assert_array_equal(decode_color(image(grey, "mono8")), [[[7] * 3, [9] * 3]])


@pytest.mark.parametrize("big", [False, True])
def test_depth_is_in_metres_for_every_encoding(big: bool) -> None:
    millimetres = np.array([[0, 1500], [65535, 1]], np.uint16)
    expected = [[0.0, 1.5], [65.535, 0.001]]
    np.testing.assert_allclose(
        decode_depth(image(millimetres, "16UC1", big=big)), expected, rtol=1e-6
    )
    metres = np.array(expected, np.float32)
    np.testing.assert_allclose(decode_depth(image(metres, "32FC1", big=big)), expected, rtol=1e-6)


def test_unmeasured_pixels_are_zero() -> None:
    metres = np.array([[np.nan, np.inf, -1.0, 2.0]], np.float32)
    np.testing.assert_array_equal(decode_depth(image(metres, "32FC1")), [[0.0, 0.0, 0.0, 2.0]])


def test_an_unknown_encoding_is_named_with_the_known_ones() -> None:
    with pytest.raises(InvalidValueError, match=r"'yuv422'.*rgb8"):
        decode_color(image(RGB, "yuv422"))
    with pytest.raises(InvalidValueError, match=r"'32FC3'.*32FC1"):
        decode_depth(image(RGB, "32FC3"))


@pytest.mark.parametrize(
    "changes",
    [{"step": 11}, {"height": 3}, {"width": 5}, {"width": 0}, {"height": 100_000}, {"data": b""}],
)
def test_inconsistent_sizes_are_refused(changes: dict[str, object]) -> None:
    message = image(RGB, "rgb8")
    for name, value in changes.items():
        setattr(message, name, value)
    with pytest.raises(InvalidValueError):
        decode_color(message)


@pytest.mark.parametrize("first", [0.0, -1.0, np.nan, np.inf])
def test_a_camera_matrix_needs_a_focal_length(first: float) -> None:
    good = SimpleNamespace(k=[500.0, 0.0, 320.0, 0.0, 501.0, 240.0, 0.0, 0.0, 1.0])
    assert decode_camera_matrix(good)[1, 1] == 501.0
    with pytest.raises(InvalidValueError, match="focal"):
        decode_camera_matrix(SimpleNamespace(k=[first, *good.k[1:]]))
