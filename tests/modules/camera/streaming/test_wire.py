# SPDX-License-Identifier: Apache-2.0

import struct
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teleop_system.exceptions import ProtocolError
from teleop_system.modules.camera.rgbd_streaming import RGBDCodec
from teleop_system.modules.camera.streaming import wire
from teleop_system.modules.camera.streaming.wire import MessageType
from tests.modules.camera.streaming.scenes import scene

EVERY = frozenset(MessageType)


def content() -> wire.FrameContent:
    frame = scene(32, 24)
    images = RGBDCodec().encode(frame)
    return wire.FrameContent(images, frame.intrinsics, frame.extrinsics, 0.3, -0.1)


def resealed(data: bytes) -> bytes:
    """Return a message with a valid checksum, so that the later checks run."""
    head = data[: wire.HEADER_SIZE - 4]
    payload = data[wire.HEADER_SIZE :]
    return head + struct.pack("!I", zlib.crc32(head, zlib.crc32(payload))) + payload


def test_a_message_is_decoded_as_it_was_encoded() -> None:
    data = wire.pack(MessageType.PONG, bytes(16), sequence=7, measured=123, sent=456)
    message = wire.unpack(data, EVERY)
    header = message.header
    assert (header.type, header.sequence) == (MessageType.PONG, 7)
    assert (header.measured, header.sent, header.length) == (123, 456, 16)
    assert message.payload == bytes(16)


def test_a_frame_is_decoded_as_it_was_encoded() -> None:
    sent = content()
    found = wire.unpack_frame(wire.pack_frame(sent))
    assert found.images.color == sent.images.color
    assert found.images.depth == sent.images.depth
    assert (found.images.width, found.images.height) == (32, 24)
    np.testing.assert_array_equal(found.intrinsics, sent.intrinsics)
    np.testing.assert_array_equal(found.extrinsics, sent.extrinsics)
    assert (found.pan, found.tilt) == (0.3, -0.1)


def test_a_checksum_known_beforehand_gives_the_same_message() -> None:
    payload = wire.pack_frame(content())
    header = wire.pack_header(
        MessageType.FRAME, len(payload), zlib.crc32(payload), sequence=3, sent=9
    )
    assert header + payload == wire.pack(MessageType.FRAME, payload, sequence=3, sent=9)


@pytest.mark.parametrize("position", range(wire.HEADER_SIZE + 16))
@pytest.mark.parametrize("bit", [0, 7])
def test_a_flipped_bit_never_passes(position: int, bit: int) -> None:
    data = bytearray(wire.pack(MessageType.PONG, bytes(16), sequence=1, measured=2, sent=3))
    data[position] ^= 1 << bit
    with pytest.raises(ProtocolError):
        wire.unpack(bytes(data), EVERY)


@pytest.mark.parametrize(
    ("offset", "value", "complaint"),
    [
        (0, b"HTTP", "begins with b'RGBD', got b'HTTP'"),
        (4, b"\x02", "version 1 of the protocol, got 2"),
        (5, b"\x63", "type 99"),
        (12, b"\xff\xff\xff\xff", "0 to 0 bytes of payload, got 4294967295"),
        (16, b"\xff" * 8, "below 2\\^63"),
    ],
)
def test_the_error_names_what_is_wrong_with_a_header(
    offset: int, value: bytes, complaint: str
) -> None:
    data = bytearray(wire.pack(MessageType.PING))
    data[offset : offset + len(value)] = value
    with pytest.raises(ProtocolError, match=complaint):
        wire.unpack(resealed(bytes(data)), EVERY)


def test_a_huge_length_is_refused_before_anything_is_read() -> None:
    header = wire.pack_header(MessageType.FRAME, wire.LARGEST_FRAME + 1, 0)
    with pytest.raises(ProtocolError, match="16777217"):
        wire.unpack_header(header, EVERY)


def test_a_client_may_not_send_messages_of_the_server() -> None:
    with pytest.raises(ProtocolError, match="not one of those expected"):
        wire.unpack(wire.pack(MessageType.WELCOME, bytes(32)), wire.FROM_CLIENT)


@settings(max_examples=300, deadline=None)
@given(data=st.binary(max_size=200))
def test_garbage_is_a_protocol_error_and_nothing_else(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        wire.unpack(data, EVERY)


@settings(max_examples=300, deadline=None)
@given(
    changes=st.lists(st.tuples(st.integers(0, 175), st.integers(0, 255)), max_size=5),
    cut=st.integers(0, 60),
)
def test_a_damaged_frame_is_a_protocol_error_or_a_frame(
    changes: list[tuple[int, int]], cut: int
) -> None:
    payload = bytearray(wire.pack_frame(content()))
    for offset, value in changes:
        payload[offset] = value
    try:
        found = wire.unpack_frame(bytes(payload[: len(payload) - cut]))
    except ProtocolError:
        return
    assert np.isfinite(found.extrinsics).all()
    assert len(found.images.color) + len(found.images.depth) <= len(payload)


@pytest.mark.parametrize(
    "values", [[0, 0, 0, 0], [0, 0, 0, 2], [np.nan, 0, 0, 1], [np.inf, 0, 0, 1]]
)
def test_a_head_must_be_a_unit_quaternion(values: list[float]) -> None:
    with pytest.raises(ProtocolError, match="unit quaternion"):
        wire.unpack_head(struct.pack("!4d", *values))


@pytest.mark.parametrize("angles", [(4.0, 0.0), (0.0, -4.0), (np.nan, 0.0), (np.inf, 0.0)])
def test_a_look_must_be_finite_angles_within_pi(angles: tuple[float, float]) -> None:
    with pytest.raises(ProtocolError, match="must be within pi"):
        wire.unpack_look(struct.pack("!2d", *angles))


def test_a_text_of_the_peer_cannot_break_a_log_line() -> None:
    assert wire.unpack_text(b"a\nb\x1b[31m\xff") == "a?b?[31m\ufffd"
