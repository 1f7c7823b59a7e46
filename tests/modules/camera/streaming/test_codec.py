# SPDX-License-Identifier: Apache-2.0

import builtins
import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teleop_system.exceptions import CodecError, ConfigError, MissingExtraError
from teleop_system.interfaces import RGBDFrame
from teleop_system.modules.camera.rgbd_streaming import CodecConfig, RGBDCodec
from teleop_system.modules.camera.streaming.codec import ColorCoding, DepthCoding, PackedImages
from tests.modules.camera.streaming.scenes import scene


def psnr(found: np.ndarray, expected: np.ndarray) -> float:
    error = np.mean((found.astype(float) - expected) ** 2)
    return float(10.0 * np.log10(255.0**2 / error))


def random_frame(seed: int, width: int, height: int) -> RGBDFrame:
    rng = np.random.default_rng(seed)
    rgb = rng.integers(0, 256, (height, width, 3), dtype=np.uint8)
    depth = (rng.integers(0, 65536, (height, width)) / 1000.0).astype(np.float32)
    return RGBDFrame(rgb, depth, np.eye(3), np.eye(4), 1.0, width=width, height=height)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**31), width=st.integers(1, 70), height=st.integers(1, 70))
def test_lossless_frames_of_any_size_are_decoded_exactly(
    seed: int, width: int, height: int
) -> None:
    codec, frame = RGBDCodec(CodecConfig(color="lossless")), random_frame(seed, width, height)
    rgb, depth = codec.decode(codec.encode(frame))
    np.testing.assert_array_equal(rgb, frame.rgb)
    np.testing.assert_array_equal(np.rint(depth * 1000.0), np.rint(frame.depth * 1000.0))


def test_jpeg_colour_stays_close_and_depth_within_half_a_millimetre() -> None:
    codec, frame = RGBDCodec(), scene(640, 480)
    packed = codec.encode(frame)
    rgb, depth = codec.decode(packed)
    assert psnr(rgb, frame.rgb) > 35.0
    assert np.abs(depth - frame.depth).max() <= 0.0005 + 1e-6
    assert packed.size < 70_000


def test_a_camera_without_depth_sends_no_bytes_of_depth() -> None:
    frame = dataclasses.replace(scene(), depth=np.zeros((120, 160), np.float32))
    packed = RGBDCodec().encode(frame)
    assert packed.depth == b""
    assert packed.depth_coding is DepthCoding.ABSENT
    assert not RGBDCodec().decode(packed)[1].any()


def unproject(frame: RGBDFrame, column: int, row: int) -> np.ndarray:
    pixel = np.array([column, row, 1.0])
    return frame.depth[row, column] * (np.linalg.inv(frame.intrinsics) @ pixel)


def test_a_region_keeps_points_where_they_were() -> None:
    frame = scene()
    part = RGBDCodec(CodecConfig(region=(40, 30, 80, 60))).prepare(frame)
    assert (part.width, part.height) == (80, 60)
    np.testing.assert_array_equal(part.rgb, frame.rgb[30:90, 40:120])
    np.testing.assert_allclose(unproject(part, 10, 20), unproject(frame, 50, 50), atol=1e-12)


@pytest.mark.parametrize("factor", [2, 3])
def test_a_lower_resolution_keeps_points_within_a_pixel(factor: int) -> None:
    frame = scene()
    small = RGBDCodec(CodecConfig(shrink=factor)).prepare(frame)
    assert (small.width, small.height) == (160 // factor, 120 // factor)
    row, column = 30, 10
    found = unproject(small, column, row)
    middle = factor // 2
    expected = unproject(frame, factor * column + middle, factor * row + middle)
    # Depth is that of one pixel, whose centre is half a pixel off the square's for even factors.
    size = found[2] / frame.intrinsics[0, 0]
    assert np.abs(found - expected).max() <= 0.51 * size
    square = frame.rgb[
        row * factor : (row + 1) * factor, column * factor : (column + 1) * factor
    ].reshape(-1, 3)
    np.testing.assert_allclose(small.rgb[row, column], square.mean(axis=0), atol=0.51)


def test_a_region_outside_the_frame_is_an_error() -> None:
    with pytest.raises(CodecError, match=r"exceeds the frame of 160 x 120"):
        RGBDCodec(CodecConfig(region=(100, 0, 80, 60))).prepare(scene())


def test_an_empty_frame_is_an_error() -> None:
    with pytest.raises(CodecError, match="0 x 0"):
        RGBDCodec(CodecConfig(shrink=16)).prepare(scene(15, 15))


@pytest.mark.parametrize(
    "changes",
    [
        {"quality": 0},
        {"quality": 101},
        {"shrink": 0},
        {"region": (0, 0, 0, 1)},
        {"region": (-1, 0, 1, 1)},
    ],
)
def test_settings_out_of_range_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=next(iter(changes))):
        CodecConfig(**changes)  # type: ignore[arg-type]


def test_a_jpeg_of_another_size_is_not_decoded() -> None:
    packed = RGBDCodec().encode(scene(320, 240))
    with pytest.raises(CodecError, match=r"needs \(120, 160\)"):
        RGBDCodec().decode(dataclasses.replace(packed, width=160, height=120))


@pytest.mark.parametrize("coding", list(ColorCoding))
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_damaged_data_give_an_error_or_an_image_of_the_right_size(
    coding: ColorCoding, data: st.DataObject
) -> None:
    color = "jpeg" if coding is ColorCoding.JPEG else "lossless"
    codec = RGBDCodec(CodecConfig(color=color))
    packed = codec.encode(scene(32, 24))
    damaged = dataclasses.replace(
        packed, color=damage(packed.color, data), depth=damage(packed.depth, data)
    )
    try:
        rgb, depth = codec.decode(damaged)
    except CodecError:
        return
    assert rgb.shape == (24, 32, 3)
    assert depth.shape == (24, 32)
    assert np.isfinite(depth).all()


def damage(image: bytes, data: st.DataObject) -> bytes:
    changed = bytearray(image)
    for _ in range(data.draw(st.integers(0, 4))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    return bytes(changed[: data.draw(st.integers(0, len(changed)))])


@pytest.mark.parametrize("side", [0, 4097, 65535])
def test_a_frame_of_absurd_size_is_not_decoded(side: int) -> None:
    packed = PackedImages(side, 4, ColorCoding.LOSSLESS, DepthCoding.MILLIMETRES, b"x", b"x")
    with pytest.raises(CodecError, match="1 to 4096"):
        RGBDCodec().decode(packed)


def test_missing_libraries_are_reported_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *args: object, **kwargs: object) -> object:
        if name == "simplejpeg":
            raise ImportError(name=name)
        return real(name, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingExtraError, match=r"teleop_system\[streaming\]"):
        RGBDCodec()
