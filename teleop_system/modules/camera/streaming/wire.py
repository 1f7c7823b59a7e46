# SPDX-License-Identifier: Apache-2.0
"""The messages of the stream: a common header, length limits and a checksum.

Every message has a header of 36 bytes and a payload. The type bounds the payload's length, so a
receiver allocates no more than that type can need. Numbers are big-endian. `docs/streaming.md`
lists the messages.
"""

import enum
import math
import struct
import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import ProtocolError
from teleop_system.modules.camera.streaming.codec import (
    LARGEST_SIDE,
    ColorCoding,
    DepthCoding,
    PackedImages,
)

MAGIC = b"RGBD"
VERSION = 1
NONCE_SIZE = 32
PROOF_SIZE = 32
LONGEST_TEXT = 256
LARGEST_FRAME = 16 * 1024 * 1024
"""Largest packed frame in [byte]; four times a noisy lossless one of 1280 x 720."""

_HEADER = struct.Struct("!4sBBHIIQQ")
_CHECKSUM = struct.Struct("!I")
HEADER_SIZE = _HEADER.size + _CHECKSUM.size
_FRAME = struct.Struct("!HHBBH6d12d2dII")
_HEAD = struct.Struct("!4d")
_LOOK = struct.Struct("!2d")
_ECHO = struct.Struct("!QQ")
_LONGEST_CLOCK = 2**63


class MessageType(enum.IntEnum):
    """Types of message."""

    HELLO = 1
    CHALLENGE = 2
    PROOF = 3
    WELCOME = 4
    REFUSED = 5
    FRAME = 6
    HEAD = 7
    LOOK = 8
    PING = 9
    PONG = 10
    BYE = 11
    ACK = 12


LENGTHS: dict[MessageType, tuple[int, int]] = {
    MessageType.HELLO: (NONCE_SIZE, NONCE_SIZE + LONGEST_TEXT),
    MessageType.CHALLENGE: (NONCE_SIZE, NONCE_SIZE),
    MessageType.PROOF: (PROOF_SIZE, PROOF_SIZE),
    MessageType.WELCOME: (PROOF_SIZE, PROOF_SIZE),
    MessageType.REFUSED: (0, LONGEST_TEXT),
    MessageType.FRAME: (_FRAME.size + 1, LARGEST_FRAME),
    MessageType.HEAD: (_HEAD.size, _HEAD.size),
    MessageType.LOOK: (_LOOK.size, _LOOK.size),
    MessageType.PING: (0, 0),
    MessageType.PONG: (_ECHO.size, _ECHO.size),
    MessageType.BYE: (0, LONGEST_TEXT),
    MessageType.ACK: (0, 0),
}
"""Smallest and largest length of every payload in [byte]."""

FROM_CLIENT = frozenset(
    {
        MessageType.HELLO,
        MessageType.PROOF,
        MessageType.HEAD,
        MessageType.LOOK,
        MessageType.PING,
        MessageType.PONG,
        MessageType.BYE,
        MessageType.ACK,
    }
)
FROM_SERVER = frozenset(
    {
        MessageType.CHALLENGE,
        MessageType.WELCOME,
        MessageType.REFUSED,
        MessageType.FRAME,
        MessageType.PING,
        MessageType.PONG,
        MessageType.BYE,
    }
)


@dataclass(frozen=True, slots=True)
class Header:
    """Header of a message.

    Attributes:
        type: Type of the message.
        flags: Reserved, 0; a receiver ignores unknown flags.
        sequence: Number of the message among those of its type.
        length: Length of the payload in [byte].
        measured: Time of measurement on the sender's monotonic clock in [ns].
        sent: Time of sending on the same clock in [ns].
        checksum: CRC-32 of the payload, continued over the header without this field.
    """

    type: MessageType
    flags: int
    sequence: int
    length: int
    measured: int
    sent: int
    checksum: int


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    """A message with a verified checksum."""

    header: Header
    payload: bytes


@dataclass(frozen=True, slots=True, eq=False)
class FrameContent:
    """The content of a FRAME message: packed images and camera geometry.

    Attributes:
        images: The packed images.
        intrinsics: Camera matrix K in [px], shape (3, 3).
        extrinsics: Pose of the optical frame in the world, shape (4, 4).
        pan: Angle of the neck, left positive, in [rad].
        tilt: Angle of the neck, down positive, in [rad].
    """

    images: PackedImages
    intrinsics: NDArray[np.float64]
    extrinsics: NDArray[np.float64]
    pan: float
    tilt: float


def pack_header(
    kind: MessageType,
    length: int,
    payload_checksum: int,
    *,
    sequence: int = 0,
    measured: int = 0,
    sent: int = 0,
) -> bytes:
    """Return the header of a payload whose CRC-32 is already known."""
    head = _HEADER.pack(
        MAGIC, VERSION, kind, 0, sequence & 0xFFFFFFFF, length, max(measured, 0), max(sent, 0)
    )
    return head + _CHECKSUM.pack(zlib.crc32(head, payload_checksum))


def pack(
    kind: MessageType, payload: bytes = b"", *, sequence: int = 0, measured: int = 0, sent: int = 0
) -> bytes:
    """Return a message with header and payload."""
    header = pack_header(
        kind, len(payload), zlib.crc32(payload), sequence=sequence, measured=measured, sent=sent
    )
    return header + payload


def unpack_header(data: bytes, expected: frozenset[MessageType]) -> Header:
    """Decode a header of 36 bytes.

    Raises:
        ProtocolError: Magic or version is wrong, or the sender may not send this type or length.
    """
    magic, version, kind, flags, sequence, length, measured, sent = _HEADER.unpack_from(data)
    (checksum,) = _CHECKSUM.unpack_from(data, _HEADER.size)
    if magic != MAGIC:
        raise ProtocolError(f"a message begins with {MAGIC!r}, got {magic!r}")
    if version != VERSION:
        raise ProtocolError(f"this side speaks version {VERSION} of the protocol, got {version}")
    if kind not in expected:
        names = ", ".join(sorted(item.name for item in expected))
        raise ProtocolError(f"message type {kind} is not one of those expected: {names}")
    low, high = LENGTHS[MessageType(kind)]
    if not low <= length <= high:
        raise ProtocolError(
            f"{MessageType(kind).name} has {low} to {high} bytes of payload, got {length}"
        )
    if measured >= _LONGEST_CLOCK or sent >= _LONGEST_CLOCK:
        raise ProtocolError(f"a time must be below 2^63 ns, got {max(measured, sent)}")
    return Header(MessageType(kind), flags, sequence, length, measured, sent, checksum)


def verify(data: bytes, header: Header, payload: bytes) -> Message:
    """Return the message of a header in `data` and its payload.

    Raises:
        ProtocolError: The checksum is wrong.
    """
    found = zlib.crc32(data[: _HEADER.size], zlib.crc32(payload))
    if found != header.checksum:
        raise ProtocolError(
            f"checksum of {header.type.name} is {header.checksum:#010x}, computed {found:#x}"
        )
    return Message(header, payload)


def unpack(data: bytes, expected: frozenset[MessageType]) -> Message:
    """Decode data that contain exactly one message.

    Raises:
        ProtocolError: The data are invalid.
    """
    if len(data) < HEADER_SIZE:
        raise ProtocolError(f"a message has at least {HEADER_SIZE} bytes, got {len(data)}")
    header = unpack_header(data, expected)
    if len(data) != HEADER_SIZE + header.length:
        raise ProtocolError(
            f"{header.type.name} announces {header.length} bytes of payload, got "
            f"{len(data) - HEADER_SIZE}"
        )
    return verify(data, header, data[HEADER_SIZE:])


def pack_frame(content: FrameContent) -> bytes:
    """Encode the payload of a FRAME.

    Raises:
        ProtocolError: It is larger than a receiver accepts.
    """
    images = content.images
    head = _FRAME.pack(
        images.width,
        images.height,
        images.color_coding,
        images.depth_coding,
        0,
        *content.intrinsics[:2].ravel(),
        *content.extrinsics[:3].ravel(),
        content.pan,
        content.tilt,
        len(images.color),
        len(images.depth),
    )
    payload = b"".join((head, images.color, images.depth))
    if len(payload) > LARGEST_FRAME:
        raise ProtocolError(
            f"a packed frame has at most {LARGEST_FRAME} bytes, this one {len(payload)}; "
            "choose JPEG, a region or a lower resolution"
        )
    return payload


def unpack_frame(payload: bytes) -> FrameContent:
    """Decode the payload of a FRAME.

    Raises:
        ProtocolError: The lengths are inconsistent, or a number is out of range.
    """
    width, height, color_coding, depth_coding, _, *numbers = _FRAME.unpack_from(payload)
    color_size, depth_size = numbers[-2:]
    values = numbers[:-2]
    if not (1 <= width <= LARGEST_SIDE and 1 <= height <= LARGEST_SIDE):
        raise ProtocolError(f"a side has 1 to {LARGEST_SIDE} pixels, got {width} x {height}")
    if color_size + depth_size != len(payload) - _FRAME.size:
        raise ProtocolError(
            f"images of {color_size} and {depth_size} bytes do not fill the "
            f"{len(payload) - _FRAME.size} bytes of the frame"
        )
    if not all(map(math.isfinite, values)):
        raise ProtocolError("the camera's geometry must be finite")
    try:
        codings = ColorCoding(color_coding), DepthCoding(depth_coding)
    except ValueError as error:
        raise ProtocolError(f"unknown coding of an image: {error}") from error
    begin = _FRAME.size
    color = payload[begin : begin + color_size]
    images = PackedImages(width, height, *codings, color, payload[begin + color_size :])
    intrinsics, extrinsics = np.eye(3), np.eye(4)
    intrinsics[:2] = np.reshape(values[:6], (2, 3))
    extrinsics[:3] = np.reshape(values[6:18], (3, 4))
    return FrameContent(images, intrinsics, extrinsics, values[18], values[19])


def pack_head(orientation: NDArray[np.float64]) -> bytes:
    """Encode the payload of a HEAD from a quaternion xyzw."""
    return _HEAD.pack(*(float(value) for value in orientation))


def unpack_head(payload: bytes) -> NDArray[np.float64]:
    """Decode the unit quaternion xyzw of a HEAD.

    Raises:
        ProtocolError: It is not a unit quaternion.
    """
    values = _HEAD.unpack(payload)
    norm = math.hypot(*values)
    if not abs(norm - 1.0) < 1e-3:  # Written so that NaN fails too.
        raise ProtocolError(f"a head orientation is a unit quaternion, got {list(values)}")
    return np.array(values) / norm


def pack_look(pan: float, tilt: float) -> bytes:
    """Encode the payload of a LOOK from two angles in [rad]."""
    return _LOOK.pack(pan, tilt)


def unpack_look(payload: bytes) -> tuple[float, float]:
    """Decode pan and tilt of a LOOK in [rad].

    Raises:
        ProtocolError: An angle exceeds pi or is not finite.
    """
    pan, tilt = _LOOK.unpack(payload)
    if not (abs(pan) <= math.pi and abs(tilt) <= math.pi):
        raise ProtocolError(f"pan and tilt must be within pi, got {pan} and {tilt} rad")
    return pan, tilt


def pack_echo(ping_sent: int, ping_received: int) -> bytes:
    """Encode the payload of a PONG: when its ping was sent and received, in [ns]."""
    return _ECHO.pack(ping_sent, ping_received)


def unpack_echo(payload: bytes) -> tuple[int, int]:
    """Decode both times of a PONG in [ns]."""
    ping_sent, ping_received = _ECHO.unpack(payload)
    return ping_sent, ping_received


def unpack_text(data: bytes) -> str:
    """Decode a text from the peer; characters unfit for a log line become `?`."""
    text = data[:LONGEST_TEXT].decode("utf-8", errors="replace")
    return "".join(letter if letter.isprintable() else "?" for letter in text)
