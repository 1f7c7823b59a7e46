# SPDX-License-Identifier: Apache-2.0
"""Compresses RGB-D frames: colour as JPEG or lossless, depth lossless in millimetres.

Depth is rounded to millimetres. Each pixel is predicted by the pixel above; low and high bytes of
the differences form two planes, and LZ4 compresses both. Decoding returns exactly the same
millimetres. Lossless colour uses the same prediction, byte by byte.
"""

import dataclasses
import enum
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import CodecError, MissingExtraError
from teleop_system.interfaces import RGBDFrame
from teleop_system.modules.camera.image_kernels import join_depth, split_depth
from teleop_system.modules.camera.streaming.config import CodecConfig

LARGEST_SIDE = 4096
"""Largest number of rows or columns of a frame [px]; it bounds the memory of a decoder."""
_FAULTS = (ValueError, RuntimeError, MemoryError)
"""What simplejpeg and lz4 raise on invalid data, besides lz4's own error."""


class ColorCoding(enum.IntEnum):
    """Format of the compressed colour image."""

    JPEG = 1
    LOSSLESS = 2


class DepthCoding(enum.IntEnum):
    """Format of the compressed depth image."""

    ABSENT = 0
    """No pixel has a depth, for example from a camera without a depth sensor."""
    MILLIMETRES = 1


@dataclass(frozen=True, slots=True, eq=False)
class PackedImages:
    """The two compressed images of a frame.

    Attributes:
        width: Columns in [px].
        height: Rows in [px].
        color_coding: Format of `color`.
        depth_coding: Format of `depth`.
        color: The compressed colour image.
        depth: The compressed depth image; empty if there is none.
    """

    width: int
    height: int
    color_coding: ColorCoding
    depth_coding: DepthCoding
    color: bytes
    depth: bytes

    @property
    def size(self) -> int:
        """Bytes of both images."""
        return len(self.color) + len(self.depth)


class RGBDCodec:
    """Encodes and decodes frames. It reuses working memory, so each thread needs its own.

    Raises:
        MissingExtraError: simplejpeg or lz4 is not installed.
    """

    def __init__(self, config: CodecConfig | None = None) -> None:
        self._config = config or CodecConfig()
        self._jpeg, self._lz4 = _libraries()
        self._planes = np.empty((2, 0, 0), np.uint8)

    def prepare(self, frame: RGBDFrame) -> RGBDFrame:
        """Crop and downscale a frame as configured.

        The camera matrix changes with it, so unprojected points keep their positions.

        Raises:
            CodecError: The region lies outside the frame, or the result is empty.
        """
        if self._config.region is not None:
            frame = _crop(frame, self._config.region)
        if self._config.shrink > 1:
            frame = _shrink(frame, self._config.shrink)
        if not (1 <= frame.width <= LARGEST_SIDE and 1 <= frame.height <= LARGEST_SIDE):
            raise CodecError(
                f"frames have 1 to {LARGEST_SIDE} rows and columns, got "
                f"{frame.width} x {frame.height}"
            )
        return frame

    def encode(self, frame: RGBDFrame) -> PackedImages:
        """Compress the images of a frame that `prepare()` has cropped and downscaled."""
        depth = self._encode_depth(frame.depth)
        coding = DepthCoding.MILLIMETRES if depth else DepthCoding.ABSENT
        if self._config.color == "lossless":
            color, color_coding = self._encode_lossless(frame.rgb), ColorCoding.LOSSLESS
        else:
            color, color_coding = self._encode_jpeg(frame.rgb), ColorCoding.JPEG
        return PackedImages(frame.width, frame.height, color_coding, coding, color, depth)

    def decode(self, packed: PackedImages) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        """Return colour, shape (H, W, 3), and depth in [m], shape (H, W).

        The frame's size bounds the memory used, even for malicious data.

        Raises:
            CodecError: The data do not fit the frame's size or format.
        """
        shape = (packed.height, packed.width)
        if not all(1 <= side <= LARGEST_SIDE for side in shape):
            raise CodecError(f"frames have 1 to {LARGEST_SIDE} rows and columns, got {shape}")
        if packed.color_coding is ColorCoding.JPEG:
            rgb = self._decode_jpeg(packed.color, shape)
        else:
            rgb = self._decode_lossless(packed.color, shape)
        if packed.depth_coding is DepthCoding.ABSENT:
            return rgb, np.zeros(shape, np.float32)
        return rgb, self._decode_depth(packed.depth, shape)

    def _encode_jpeg(self, rgb: NDArray[np.uint8]) -> bytes:
        packed: bytes = self._jpeg.encode_jpeg(
            np.ascontiguousarray(rgb),
            quality=self._config.quality,
            colorsubsampling=self._config.subsampling,
        )
        return packed

    def _decode_jpeg(self, data: bytes, shape: tuple[int, int]) -> NDArray[np.uint8]:
        try:
            height, width, *_ = self._jpeg.decode_jpeg_header(data)
            # Checked before decoding, because a small file may claim to be a huge image.
            if (height, width) != shape:
                raise CodecError(f"colour needs {shape} pixels, the JPEG has {height, width}")
            rgb: NDArray[np.uint8] = self._jpeg.decode_jpeg(data, fastupsample=True)
        except _FAULTS as error:
            raise CodecError(f"colour is not a valid JPEG: {error}") from error
        return rgb

    def _encode_lossless(self, rgb: NDArray[np.uint8]) -> bytes:
        difference = rgb.copy()
        difference[1:] -= rgb[:-1]
        packed: bytes = self._lz4.compress(difference, store_size=False)
        return packed

    def _decode_lossless(self, data: bytes, shape: tuple[int, int]) -> NDArray[np.uint8]:
        rgb = self._unpack(data, (*shape, 3), "colour").copy()
        for row in range(1, len(rgb)):
            np.add(rgb[row - 1], rgb[row], out=rgb[row])
        return rgb

    def _encode_depth(self, depth: NDArray[np.float32]) -> bytes:
        shape = (2, *depth.shape)
        if self._planes.shape != shape:
            self._planes = np.empty(shape, np.uint8)
        if not split_depth(np.ascontiguousarray(depth), self._planes):
            return b""
        packed: bytes = self._lz4.compress(self._planes, store_size=False)
        return packed

    def _decode_depth(self, data: bytes, shape: tuple[int, int]) -> NDArray[np.float32]:
        planes = self._unpack(data, (2, *shape), "depth")
        depth = np.empty(shape, np.float32)
        join_depth(planes, depth)
        return depth

    def _unpack(self, data: bytes, shape: tuple[int, ...], what: str) -> NDArray[np.uint8]:
        size = int(np.prod(shape))
        try:
            raw = self._lz4.decompress(data, uncompressed_size=size)
        except (*_FAULTS, self._lz4.LZ4BlockError) as error:
            raise CodecError(f"{what} is not an LZ4 block of {size} bytes: {error}") from error
        if len(raw) != size:
            raise CodecError(f"{what} needs {size} bytes, got {len(raw)}")
        return np.frombuffer(raw, np.uint8).reshape(shape)


def _crop(frame: RGBDFrame, region: tuple[int, int, int, int]) -> RGBDFrame:
    left, top, width, height = region
    if left + width > frame.width or top + height > frame.height:
        raise CodecError(
            f"region (left, top, width, height) {region} exceeds the frame of "
            f"{frame.width} x {frame.height} pixels"
        )
    rows, columns = slice(top, top + height), slice(left, left + width)
    matrix = frame.intrinsics.copy()
    matrix[:2, 2] -= (left, top)
    return dataclasses.replace(
        frame,
        rgb=np.ascontiguousarray(frame.rgb[rows, columns]),
        depth=np.ascontiguousarray(frame.depth[rows, columns]),
        intrinsics=matrix,
        width=width,
        height=height,
    )


def _shrink(frame: RGBDFrame, factor: int) -> RGBDFrame:
    """Average colour over squares of pixels, and take one depth per square.

    Averaging depth across an edge would create a point in mid-air.
    """
    width, height = frame.width // factor, frame.height // factor
    squares = frame.rgb[: height * factor, : width * factor].reshape(
        height, factor, width, factor, 3
    )
    total = squares.sum(axis=(1, 3), dtype=np.uint32)
    depth = frame.depth[factor // 2 :: factor, factor // 2 :: factor][:height, :width]
    matrix = frame.intrinsics.copy()
    # Pixel centres have integer coordinates; the centre of a square is at (factor - 1) / 2.
    matrix[:2, 2] -= 0.5 * (factor - 1)
    matrix[:2] /= factor
    return dataclasses.replace(
        frame,
        rgb=((total + factor * factor // 2) // (factor * factor)).astype(np.uint8),
        depth=np.ascontiguousarray(depth),
        intrinsics=matrix,
        width=width,
        height=height,
    )


def _libraries() -> tuple[Any, Any]:
    try:
        import lz4.block
        import simplejpeg
    except ImportError as error:
        raise MissingExtraError(error.name or "simplejpeg", "streaming") from error
    return simplejpeg, lz4.block
