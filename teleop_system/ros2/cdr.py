# SPDX-License-Identifier: Apache-2.0
"""Encoding and decoding of high-rate messages; needs no ROS 2.

rclpy creates a Python object for every field of a message, which takes 65 us for a pose of 76
bytes. A subscription with `raw=True` delivers the bytes, and a publisher accepts bytes. This
module reads and writes them with `struct`, in the Common Data Representation of the OMG (plain
CDR; both byte orders are read, little endian is written). Tests compare it with rclpy's own
serialisation, in both directions.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from math import floor
from typing import ClassVar

from teleop_system.exceptions import InvalidValueError

LITTLE_ENDIAN = b"\x00\x01\x00\x00"
START = len(LITTLE_ENDIAN)
"""Size of the encapsulation header in [byte]; alignment counts from its end."""
_ORDERS = {b"\x00\x01": "<", b"\x00\x00": ">"}


@dataclass(frozen=True, slots=True)
class StampedValues:
    """A header and the numbers that follow it.

    Attributes:
        stamp: Time stamp of the header in [s].
        frame: Frame of the header.
        values: The numbers, in the order of the message definition.
    """

    stamp: float
    frame: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class NamedPositions:
    """A decoded `sensor_msgs/JointState`; the lists may differ in length.

    Attributes:
        stamp: Time stamp of the header in [s].
        frame: Frame of the header.
        names: Joint names.
        positions: Positions in [rad] or [m].
        velocities: Velocities in [rad/s] or [m/s]; often empty.
        efforts: Efforts in [N m] or [N]; often empty.
    """

    stamp: float
    frame: str
    names: tuple[str, ...]
    positions: tuple[float, ...]
    velocities: tuple[float, ...] = ()
    efforts: tuple[float, ...] = ()


class StampedCodec:
    """Messages that are a header and a fixed number of floats, such as `PoseStamped`.

    Args:
        count: Number of floats that follow the header.
        frame: Frame of encoded messages.
        child: Second frame of encoded messages; None where the message has no such field.
    """

    POSE = 7
    """`geometry_msgs/PoseStamped`: x, y, z and the quaternion xyzw."""
    QUATERNION = 4
    """`geometry_msgs/QuaternionStamped`: xyzw."""
    WRENCH = 6
    """`geometry_msgs/WrenchStamped`: force and torque."""
    IMU = 37
    """`sensor_msgs/Imu`: quaternion, angular velocity, acceleration, each with covariance."""
    ODOMETRY = 85
    """`nav_msgs/Odometry`: pose and twist, each with covariance; has a child frame."""

    def __init__(self, count: int, frame: str = "", child: str | None = None) -> None:
        self._count = count
        self._has_child = child is not None
        self._floats = {order: struct.Struct(f"{order}{count}d") for order in _ORDERS.values()}
        strings = _string(frame, 8)
        if child is not None:
            strings += _string(child, 8 + len(strings))
        self._strings = strings + bytes(-(8 + len(strings)) % 8)
        self._head = struct.Struct(f"<4siI{len(self._strings)}s{count}d")

    def encode(self, stamp: float, values: Sequence[float]) -> bytes:
        """Return the bytes of a message stamped `stamp` [s]."""
        seconds, nanoseconds = split_stamp(stamp)
        try:
            return self._head.pack(LITTLE_ENDIAN, seconds, nanoseconds, self._strings, *values)
        except struct.error as error:
            raise InvalidValueError(
                f"the message needs {self._count} numbers, got {list(values)}"
            ) from error

    def decode(self, data: bytes) -> StampedValues:
        """Return the content of a message.

        Raises:
            InvalidValueError: The bytes are not such a message.
        """
        try:
            order = _order(data)
            stamp, frame, offset = _header(data, order)
            if self._has_child:
                _, offset = _read_string(data, offset, order)
            offset += -(offset - START) % 8
            return StampedValues(stamp, frame, self._floats[order].unpack_from(data, offset))
        except (struct.error, UnicodeDecodeError, IndexError) as error:
            raise InvalidValueError(
                f"not a message of {self._count} numbers: {len(data)} bytes, {error}"
            ) from error


class JointStateCodec:
    """`sensor_msgs/JointState`; caches the names, which rarely change.

    Args:
        names: Joint names of encoded messages.
        frame: Frame of encoded messages.
    """

    def __init__(self, names: Sequence[str] = (), frame: str = "") -> None:
        self._count = len(names)
        head = _string(frame, 8)
        offset = 8 + len(head)
        self._head = head + _names(names, offset)
        self._layouts: dict[tuple[int, int, int], struct.Struct] = {}
        self._cached: tuple[bytes, tuple[str, ...]] = (b"", ())

    def encode(
        self,
        stamp: float,
        positions: Sequence[float],
        velocities: Sequence[float] = (),
        efforts: Sequence[float] = (),
    ) -> bytes:
        """Return the bytes of a message stamped `stamp` [s].

        Raises:
            InvalidValueError: A list is neither empty nor as long as the names.
        """
        sizes = (len(positions), len(velocities), len(efforts))
        layout = self._layouts.get(sizes)
        if layout is None:
            if any(size not in (0, self._count) for size in sizes):
                raise InvalidValueError(f"needs 0 or {self._count} numbers per list, got {sizes}")
            layout = self._layouts[sizes] = self._layout(sizes)
        seconds, nanoseconds = split_stamp(stamp)
        return layout.pack(
            LITTLE_ENDIAN,
            seconds,
            nanoseconds,
            self._head,
            sizes[0],
            *positions,
            sizes[1],
            *velocities,
            sizes[2],
            *efforts,
        )

    def decode(self, data: bytes) -> NamedPositions:
        """Return the content of a message.

        Raises:
            InvalidValueError: The bytes are not such a message.
        """
        try:
            order = _order(data)
            stamp, frame, offset = _header(data, order)
            offset += -offset % 4
            names, offset = self._read_names(data, offset, order)
            positions, offset = _read_floats(data, offset, order)
            velocities, offset = _read_floats(data, offset, order)
            efforts, offset = _read_floats(data, offset, order)
        except (struct.error, UnicodeDecodeError, IndexError) as error:
            raise InvalidValueError(f"not a joint state: {len(data)} bytes, {error}") from error
        return NamedPositions(stamp, frame, names, positions, velocities, efforts)

    def _layout(self, sizes: tuple[int, int, int]) -> struct.Struct:
        offset, parts = 8 + len(self._head), []
        for size in sizes:
            gap = -offset % 4
            offset += gap + 4
            # An empty list has no padding after its length.
            pad = -offset % 8 if size else 0
            offset += pad + 8 * size
            parts.append(f"{gap}xI{pad}x{size}d")
        return struct.Struct(f"<4siI{len(self._head)}s{''.join(parts)}")

    def _read_names(self, data: bytes, offset: int, order: str) -> tuple[tuple[str, ...], int]:
        cached, names = self._cached
        end = offset + len(cached)
        if cached and data[offset:end] == cached:
            return names, end
        start = offset
        (count,) = struct.unpack_from(f"{order}I", data, offset)
        if count > len(data):
            raise struct.error(f"{count} names in {len(data)} bytes")
        offset += 4
        found = []
        for _ in range(count):
            name, offset = _read_string(data, offset, order)
            found.append(name)
        # Without the padding after the last name, which depends on what follows.
        self._cached = (bytes(data[start:offset]), tuple(found))
        return self._cached[1], offset


class TwistCodec:
    """`geometry_msgs/Twist`: linear x, y, z and angular x, y, z; it has no time stamp."""

    _layouts: ClassVar = {order: struct.Struct(f"{order}6d") for order in _ORDERS.values()}

    def encode(self, linear_x: float, linear_y: float, angular_z: float) -> bytes:
        """Return the bytes of a planar velocity [m/s, m/s, rad/s]."""
        values = (linear_x, linear_y, 0.0, 0.0, 0.0, angular_z)
        return LITTLE_ENDIAN + self._layouts["<"].pack(*values)

    def decode(self, data: bytes) -> tuple[float, float, float, float, float, float]:
        """Return linear [m/s] and angular [rad/s] velocity.

        Raises:
            InvalidValueError: The bytes are not such a message.
        """
        try:
            x, y, z, roll, pitch, yaw = self._layouts[_order(data)].unpack_from(data, START)
        except struct.error as error:
            raise InvalidValueError(f"not a velocity: {len(data)} bytes, {error}") from error
        return x, y, z, roll, pitch, yaw


def encode_clock(stamp: float) -> bytes:
    """Return the bytes of a `rosgraph_msgs/Clock` with the time `stamp` [s]."""
    return struct.pack("<4siI", LITTLE_ENDIAN, *split_stamp(stamp))


def split_stamp(stamp: float) -> tuple[int, int]:
    """Return whole seconds and nanoseconds of a time in [s]."""
    seconds = floor(stamp)
    nanoseconds = round((stamp - seconds) * 1e9)
    return (seconds + 1, 0) if nanoseconds >= 1_000_000_000 else (seconds, nanoseconds)


def _order(data: bytes) -> str:
    order = _ORDERS.get(bytes(data[:2]))
    if order is None:
        raise struct.error(f"{data[:4]!r} is not a plain CDR header")
    return order


def _header(data: bytes, order: str) -> tuple[float, str, int]:
    """Return time stamp [s], frame, and the offset of the end of the header."""
    seconds, nanoseconds = struct.unpack_from(f"{order}iI", data, START)
    frame, offset = _read_string(data, START + 8, order)
    return seconds + 1e-9 * nanoseconds, frame, offset


def _read_string(data: bytes, offset: int, order: str) -> tuple[str, int]:
    offset += -offset % 4
    (size,) = struct.unpack_from(f"{order}I", data, offset)
    offset += 4
    if size == 0 or offset + size > len(data):
        raise struct.error(f"a string of {size} bytes at offset {offset} of {len(data)}")
    return data[offset : offset + size - 1].decode(), offset + size


def _read_floats(data: bytes, offset: int, order: str) -> tuple[tuple[float, ...], int]:
    offset += -offset % 4
    (count,) = struct.unpack_from(f"{order}I", data, offset)
    offset += 4
    if count == 0:
        return (), offset
    if 8 * count > len(data):
        raise struct.error(f"{count} numbers in {len(data)} bytes")
    offset += -(offset - START) % 8
    return struct.unpack_from(f"{order}{count}d", data, offset), offset + 8 * count


def _string(text: str, offset: int) -> bytes:
    """Return the bytes of a string at `offset` of a little-endian message."""
    encoded = text.encode() + b"\x00"
    return bytes(-offset % 4) + struct.pack("<I", len(encoded)) + encoded


def _names(names: Sequence[str], offset: int) -> bytes:
    found = bytes(-offset % 4)
    found += struct.pack("<I", len(names))
    for name in names:
        found += _string(name, offset + len(found))
    return found
