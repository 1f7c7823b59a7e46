# SPDX-License-Identifier: Apache-2.0
"""The messages of high rate, straight from and to the bytes on the wire; needs no ROS 2.

rclpy makes an object of every field of a message, in Python, for each that comes and goes: some
65 us for a pose that is 76 bytes long. A subscription with `raw=True` delivers those bytes, and a
publisher takes bytes. This module reads and writes them with `struct`, as the Common Data
Representation of the OMG lays them out (plain CDR, either byte order; what we write is little
endian). Tests compare it with rclpy's own serialisation, both ways.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from math import floor
from typing import ClassVar

from teleop_system.exceptions import InvalidValueError

LITTLE_ENDIAN = b"\x00\x01\x00\x00"
START = len(LITTLE_ENDIAN)
"""Bytes before the message itself; alignment counts from here."""
_ORDERS = {b"\x00\x01": "<", b"\x00\x00": ">"}


@dataclass(frozen=True, slots=True)
class StampedValues:
    """A header and the numbers behind it.

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
    """A `sensor_msgs/JointState` as it came; the lists may disagree in length.

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
        count: How many floats follow the header.
        frame: Frame of the messages that are encoded.
        child: Second frame of encoded messages; None where the message has no such field.
    """

    POSE = 7
    """`geometry_msgs/PoseStamped`: x, y, z and the quaternion xyzw."""
    QUATERNION = 4
    """`geometry_msgs/QuaternionStamped`: xyzw."""
    WRENCH = 6
    """`geometry_msgs/WrenchStamped`: force and torque."""
    IMU = 37
    """`sensor_msgs/Imu`: quaternion, its covariance, rates, theirs, accelerations, theirs."""
    ODOMETRY = 85
    """`nav_msgs/Odometry`: pose, its covariance, twist, its covariance; has a child frame."""

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
        """Return what a message says.

        Raises:
            InvalidValueError: These are not the bytes of such a message.
        """
        try:
            order = _order(data)
            stamp, frame, place = _header(data, order)
            if self._has_child:
                _, place = _read_string(data, place, order)
            place += -(place - START) % 8
            return StampedValues(stamp, frame, self._floats[order].unpack_from(data, place))
        except (struct.error, UnicodeDecodeError, IndexError) as error:
            raise InvalidValueError(
                f"not a message of {self._count} numbers: {len(data)} bytes, {error}"
            ) from error


class JointStateCodec:
    """`sensor_msgs/JointState`; remembers the names, which hardly ever change.

    Args:
        names: Names of the messages that are encoded.
        frame: Frame of the messages that are encoded.
    """

    def __init__(self, names: Sequence[str] = (), frame: str = "") -> None:
        self._count = len(names)
        head = _string(frame, 8)
        place = 8 + len(head)
        self._head = head + _names(names, place)
        self._layouts: dict[tuple[int, int, int], struct.Struct] = {}
        self._known: tuple[bytes, tuple[str, ...]] = (b"", ())

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
                raise InvalidValueError(f"{self._count} joints were named, got {sizes} numbers")
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
        """Return what a message says.

        Raises:
            InvalidValueError: These are not the bytes of such a message.
        """
        try:
            order = _order(data)
            stamp, frame, place = _header(data, order)
            place += -place % 4
            names, place = self._read_names(data, place, order)
            positions, place = _read_floats(data, place, order)
            velocities, place = _read_floats(data, place, order)
            efforts, place = _read_floats(data, place, order)
        except (struct.error, UnicodeDecodeError, IndexError) as error:
            raise InvalidValueError(f"not a joint state: {len(data)} bytes, {error}") from error
        return NamedPositions(stamp, frame, names, positions, velocities, efforts)

    def _layout(self, sizes: tuple[int, int, int]) -> struct.Struct:
        place, parts = 8 + len(self._head), []
        for size in sizes:
            gap = -place % 4
            place += gap + 4
            # An empty list is only its length: there is nothing to align.
            pad = -place % 8 if size else 0
            place += pad + 8 * size
            parts.append(f"{gap}xI{pad}x{size}d")
        return struct.Struct(f"<4siI{len(self._head)}s{''.join(parts)}")

    def _read_names(self, data: bytes, place: int, order: str) -> tuple[tuple[str, ...], int]:
        known, names = self._known
        end = place + len(known)
        if known and data[place:end] == known:
            return names, end
        start = place
        (count,) = struct.unpack_from(f"{order}I", data, place)
        if count > len(data):
            raise struct.error(f"{count} names in {len(data)} bytes")
        place += 4
        found = []
        for _ in range(count):
            name, place = _read_string(data, place, order)
            found.append(name)
        # What follows the last name is kept out: it may lie differently behind other names.
        self._known = (bytes(data[start:place]), tuple(found))
        return self._known[1], place


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
            InvalidValueError: These are not the bytes of such a message.
        """
        try:
            x, y, z, roll, pitch, yaw = self._layouts[_order(data)].unpack_from(data, START)
        except struct.error as error:
            raise InvalidValueError(f"not a velocity: {len(data)} bytes, {error}") from error
        return x, y, z, roll, pitch, yaw


def encode_clock(stamp: float) -> bytes:
    """Return the bytes of a `rosgraph_msgs/Clock` that shows `stamp` [s]."""
    return struct.pack("<4siI", LITTLE_ENDIAN, *split_stamp(stamp))


def split_stamp(stamp: float) -> tuple[int, int]:
    """Return whole seconds and nanoseconds of a time in [s]."""
    seconds = floor(stamp)
    nanoseconds = round((stamp - seconds) * 1e9)
    return (seconds + 1, 0) if nanoseconds >= 1_000_000_000 else (seconds, nanoseconds)


def _order(data: bytes) -> str:
    order = _ORDERS.get(bytes(data[:2]))
    if order is None:
        raise struct.error(f"encoding {data[:4]!r} is not plain CDR")
    return order


def _header(data: bytes, order: str) -> tuple[float, str, int]:
    """Return time stamp [s], frame, and where the header ends."""
    seconds, nanoseconds = struct.unpack_from(f"{order}iI", data, START)
    frame, place = _read_string(data, START + 8, order)
    return seconds + 1e-9 * nanoseconds, frame, place


def _read_string(data: bytes, place: int, order: str) -> tuple[str, int]:
    place += -place % 4
    (size,) = struct.unpack_from(f"{order}I", data, place)
    place += 4
    if size == 0 or place + size > len(data):
        raise struct.error(f"a string of {size} bytes at {place} of {len(data)}")
    return data[place : place + size - 1].decode(), place + size


def _read_floats(data: bytes, place: int, order: str) -> tuple[tuple[float, ...], int]:
    place += -place % 4
    (count,) = struct.unpack_from(f"{order}I", data, place)
    place += 4
    if count == 0:
        return (), place
    if 8 * count > len(data):
        raise struct.error(f"{count} numbers in {len(data)} bytes")
    place += -(place - START) % 8
    return struct.unpack_from(f"{order}{count}d", data, place), place + 8 * count


def _string(text: str, place: int) -> bytes:
    """Return a string as it stands at `place` of a little-endian message."""
    encoded = text.encode() + b"\x00"
    return bytes(-place % 4) + struct.pack("<I", len(encoded)) + encoded


def _names(names: Sequence[str], place: int) -> bytes:
    found = bytes(-place % 4)
    found += struct.pack("<I", len(names))
    for name in names:
        found += _string(name, place + len(found))
    return found
