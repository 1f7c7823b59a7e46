# SPDX-License-Identifier: Apache-2.0
"""Makes an RGB-D frame small and whole again: JPEG or lossless colour, lossless millimetres.

Depth is rounded to millimetres; every pixel is predicted by the one above, the differences are
split into a plane of low and a plane of high bytes, and both go through LZ4. Millimetres come
back exactly. Lossless colour is predicted likewise, byte by byte.
"""

import dataclasses
import enum
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import CodecError, MissingExtraError
from teleop_system.interfaces import RGBDFrame
from teleop_system.modules.camera.streaming.config import CodecConfig
from teleop_system.modules.camera.streaming.depth_planes import BEST, DepthPlanes

LARGEST_SIDE = 4096
"""Most rows or columns of a frame in [px]; a decoder allocates for no more."""
_FAULTS = (ValueError, RuntimeError, MemoryError)
"""What simplejpeg and lz4 raise on data that are not theirs, besides lz4's own error."""


class ColorCoding(enum.IntEnum):
    """How the colour image is packed."""

    JPEG = 1
    LOSSLESS = 2


class DepthCoding(enum.IntEnum):
    """How the depth image is packed."""

    ABSENT = 0
    """Nothing was measured anywhere, as with a camera that has no depth."""
    MILLIMETRES = 1


@dataclass(frozen=True, slots=True, eq=False)
class PackedImages:
    """The two images of a frame, packed.

    Attributes:
        width: Columns in [px].
        height: Rows in [px].
        color_coding: How `color` is packed.
        depth_coding: How `depth` is packed.
        color: The packed colour image.
        depth: The packed depth image; empty where there is none.
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
    """Packs and unpacks frames; keeps its working memory, hence one per thread.

    Raises:
        MissingExtraError: simplejpeg or lz4 is not installed.
    """

    def __init__(
        self, config: CodecConfig | None = None, depth_planes: DepthPlanes = BEST
    ) -> None:
        self._config = config or CodecConfig()
        self._depth_planes = depth_planes
        self._jpeg, self._lz4 = _libraries()
        self._planes = np.empty((2, 0, 0), np.uint8)

    def prepare(self, frame: RGBDFrame) -> RGBDFrame:
        """Return the part of a frame that is sent, at the resolution it is sent in.

        The camera matrix follows, so that points unprojected from the result are where they were.

        Raises:
            CodecError: The region lies outside the frame, or nothing is left of it.
        """
        if self._config.region is not None:
            frame = _cut_out(frame, self._config.region)
        if self._config.shrink > 1:
            frame = _shrink(frame, self._config.shrink)
        if not (1 <= frame.width <= LARGEST_SIDE and 1 <= frame.height <= LARGEST_SIDE):
            raise CodecError(
                f"frames have 1 to {LARGEST_SIDE} rows and columns, got "
                f"{frame.width} x {frame.height}"
            )
        return frame

    def encode(self, frame: RGBDFrame) -> PackedImages:
        """Pack the images of a frame as they are; `prepare()` applies region and resolution."""
        depth = self._encode_depth(frame.depth)
        coding = DepthCoding.MILLIMETRES if depth else DepthCoding.ABSENT
        if self._config.color == "lossless":
            color, color_coding = self._encode_lossless(frame.rgb), ColorCoding.LOSSLESS
        else:
            color, color_coding = self._encode_jpeg(frame.rgb), ColorCoding.JPEG
        return PackedImages(frame.width, frame.height, color_coding, coding, color, depth)

    def decode(self, packed: PackedImages) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        """Return colour, shape (H, W, 3), and depth in [m], shape (H, W).

        Memory is bounded by the frame's size, whatever the data say.

        Raises:
            CodecError: The data are not those of such a frame.
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
            # Asked before anything is decoded: a small file may claim to be a huge picture.
            if (height, width) != shape:
                raise CodecError(f"colour should be {shape} pixels, its JPEG has {height, width}")
            rgb: NDArray[np.uint8] = self._jpeg.decode_jpeg(data, fastupsample=True)
        except _FAULTS as error:
            raise CodecError(f"colour is no readable JPEG: {error}") from error
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
        if not self._depth_planes.split(np.ascontiguousarray(depth), self._planes):
            return b""
        packed: bytes = self._lz4.compress(self._planes, store_size=False)
        return packed

    def _decode_depth(self, data: bytes, shape: tuple[int, int]) -> NDArray[np.float32]:
        planes = self._unpack(data, (2, *shape), "depth")
        depth = np.empty(shape, np.float32)
        self._depth_planes.join(planes, depth)
        return depth

    def _unpack(self, data: bytes, shape: tuple[int, ...], what: str) -> NDArray[np.uint8]:
        size = int(np.prod(shape))
        try:
            raw = self._lz4.decompress(data, uncompressed_size=size)
        except (*_FAULTS, self._lz4.LZ4BlockError) as error:
            raise CodecError(f"{what} is no LZ4 block of {size} bytes: {error}") from error
        if len(raw) != size:
            raise CodecError(f"{what} should be {size} bytes, got {len(raw)}")
        return np.frombuffer(raw, np.uint8).reshape(shape)


def _cut_out(frame: RGBDFrame, region: tuple[int, int, int, int]) -> RGBDFrame:
    left, top, width, height = region
    if left + width > frame.width or top + height > frame.height:
        raise CodecError(
            f"region (left, top, width, height) {region} leaves the frame of "
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
    """Average colour over squares of pixels, and take one depth of each.

    An average of depths across an edge would be a point in mid-air.
    """
    width, height = frame.width // factor, frame.height // factor
    squares = frame.rgb[: height * factor, : width * factor].reshape(
        height, factor, width, factor, 3
    )
    total = squares.sum(axis=(1, 3), dtype=np.uint32)
    depth = frame.depth[factor // 2 :: factor, factor // 2 :: factor][:height, :width]
    matrix = frame.intrinsics.copy()
    # Pixel centres have whole coordinates: that of a square lies (factor - 1) / 2 into it.
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
