# SPDX-License-Identifier: Apache-2.0
"""Messages agree with rclpy in both directions."""

import struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teleop_system.exceptions import InvalidValueError
from teleop_system.ros2.cdr import (
    JointStateCodec,
    StampedCodec,
    TwistCodec,
    encode_clock,
    split_stamp,
)

pytest.importorskip("rclpy")
from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped, QuaternionStamped, Twist, WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.serialization import deserialize_message, serialize_message
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState

FLOATS = st.floats(allow_nan=False, width=64)
STAMPS = st.integers(0, 2_000_000_000_000).map(lambda milliseconds: milliseconds / 1000.0)
FRAMES = st.text("abcdefgh_/é", max_size=9)


def numbers(count: int) -> st.SearchStrategy[list[float]]:
    return st.lists(FLOATS, min_size=count, max_size=count)


def stamp_of(stamp: float) -> Time:
    seconds, nanoseconds = split_stamp(stamp)
    return Time(sec=seconds, nanosec=nanoseconds)


def pose(stamp: float, frame: str, v: list[float]) -> PoseStamped:
    message = PoseStamped()
    message.header.stamp, message.header.frame_id = stamp_of(stamp), frame
    p, q = message.pose.position, message.pose.orientation
    p.x, p.y, p.z, q.x, q.y, q.z, q.w = v
    return message


def quaternion(stamp: float, frame: str, v: list[float]) -> QuaternionStamped:
    message = QuaternionStamped()
    message.header.stamp, message.header.frame_id = stamp_of(stamp), frame
    q = message.quaternion
    q.x, q.y, q.z, q.w = v
    return message


def wrench(stamp: float, frame: str, v: list[float]) -> WrenchStamped:
    message = WrenchStamped()
    message.header.stamp, message.header.frame_id = stamp_of(stamp), frame
    f, t = message.wrench.force, message.wrench.torque
    f.x, f.y, f.z, t.x, t.y, t.z = v
    return message


def imu(stamp: float, frame: str, v: list[float]) -> Imu:
    message = Imu()
    message.header.stamp, message.header.frame_id = stamp_of(stamp), frame
    q, w, a = message.orientation, message.angular_velocity, message.linear_acceleration
    q.x, q.y, q.z, q.w = v[:4]
    message.orientation_covariance = v[4:13]
    w.x, w.y, w.z = v[13:16]
    message.angular_velocity_covariance = v[16:25]
    a.x, a.y, a.z = v[25:28]
    message.linear_acceleration_covariance = v[28:37]
    return message


def odometry(stamp: float, frame: str, v: list[float]) -> Odometry:
    message = Odometry()
    message.header.stamp, message.header.frame_id = stamp_of(stamp), frame
    message.child_frame_id = "base_link"
    p, q = message.pose.pose.position, message.pose.pose.orientation
    p.x, p.y, p.z, q.x, q.y, q.z, q.w = v[:7]
    message.pose.covariance = v[7:43]
    t, w = message.twist.twist.linear, message.twist.twist.angular
    t.x, t.y, t.z, w.x, w.y, w.z = v[43:49]
    message.twist.covariance = v[49:85]
    return message


MESSAGES: list[tuple[int, Any, str | None]] = [
    (StampedCodec.POSE, pose, None),
    (StampedCodec.QUATERNION, quaternion, None),
    (StampedCodec.WRENCH, wrench, None),
    (StampedCodec.IMU, imu, None),
    (StampedCodec.ODOMETRY, odometry, "base_link"),
]


@pytest.mark.parametrize(("count", "make", "child"), MESSAGES)
@settings(max_examples=60, deadline=None)
@given(data=st.data(), stamp=STAMPS, frame=FRAMES)
def test_stamped_numbers_agree_with_rclpy(
    count: int, make: Any, child: str | None, data: st.DataObject, stamp: float, frame: str
) -> None:
    values = data.draw(numbers(count))
    message = make(stamp, frame, values)
    codec = StampedCodec(count, frame, child)
    assert deserialize_message(codec.encode(stamp, values), type(message)) == message
    decoded = codec.decode(bytes(serialize_message(message)))
    assert decoded.frame == frame
    assert decoded.stamp == pytest.approx(stamp, abs=1e-9, rel=1e-15)
    assert list(decoded.values) == values


@settings(max_examples=200, deadline=None)
@given(
    data=st.data(),
    stamp=STAMPS,
    frame=FRAMES,
    names=st.lists(st.text("abc_é0", max_size=7), max_size=6),
)
def test_joint_states_agree_with_rclpy(
    data: st.DataObject, stamp: float, frame: str, names: list[str]
) -> None:
    full = numbers(len(names))
    lists = [data.draw(st.one_of(full, st.just([]))) for _ in range(3)]
    message = JointState(name=names, position=lists[0], velocity=lists[1], effort=lists[2])
    message.header.stamp, message.header.frame_id = stamp_of(stamp), frame
    theirs = bytes(serialize_message(message))
    codec = JointStateCodec(names, frame)
    assert deserialize_message(codec.encode(stamp, *lists), JointState) == message
    for _ in range(2):  # The second time, the names are cached.
        decoded = codec.decode(theirs)
        assert decoded.names == tuple(names)
        assert [list(decoded.positions), list(decoded.velocities), list(decoded.efforts)] == lists


def test_changed_names_are_detected() -> None:
    reader = JointStateCodec()
    for names in (["a", "bcd"], ["a", "bce"], ["a"], ["a", "bcd", "e"], []):
        data = JointStateCodec(names).encode(1.0, [0.5] * len(names))
        assert reader.decode(data).names == tuple(names)


def test_lists_of_different_lengths_are_decoded_unchanged() -> None:
    message = JointState(name=["a", "b"], position=[1.0, 2.0, 3.0], velocity=[4.0])
    decoded = JointStateCodec().decode(bytes(serialize_message(message)))
    assert decoded.names == ("a", "b")
    assert decoded.positions == (1.0, 2.0, 3.0)
    assert decoded.velocities == (4.0,)
    with pytest.raises(InvalidValueError, match="needs 0 or 2 numbers"):
        JointStateCodec(["a", "b"]).encode(0.0, [1.0])


def test_velocities_and_clocks_agree_with_rclpy() -> None:
    twist = Twist()
    twist.linear.x, twist.linear.y, twist.angular.z = 0.3, -0.1, 0.7
    theirs = bytes(serialize_message(twist))
    assert TwistCodec().encode(0.3, -0.1, 0.7) == theirs
    assert TwistCodec().decode(theirs) == (0.3, -0.1, 0.0, 0.0, 0.0, 0.7)
    clock = deserialize_message(encode_clock(12.345678901), Clock)
    assert (clock.clock.sec, clock.clock.nanosec) == (12, 345678901)


def test_a_stamp_never_has_a_full_second_of_nanoseconds() -> None:
    assert split_stamp(1.9999999999) == (2, 0)


def test_big_endian_messages_can_be_read() -> None:
    frame = struct.pack(">I", 2) + b"a\x00"
    body = struct.pack(">iI", 3, 500_000_000) + frame
    body += bytes(-len(body) % 8) + struct.pack(">4d", 0.1, 0.2, 0.3, 0.4)
    decoded = StampedCodec(StampedCodec.QUATERNION).decode(b"\x00\x00\x00\x00" + body)
    assert decoded.stamp == 3.5
    assert decoded.values == (0.1, 0.2, 0.3, 0.4)


@settings(max_examples=500, deadline=None)
@given(data=st.data())
def test_broken_bytes_raise_an_invalid_value_error(data: st.DataObject) -> None:
    whole = bytearray(JointStateCodec(["left_arm_0", "left_arm_1"]).encode(1.0, [0.1, 0.2]))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    broken = bytes(whole[: data.draw(st.integers(0, len(whole)))])
    for codec in (JointStateCodec(), StampedCodec(7), TwistCodec()):
        try:
            codec.decode(broken)
        except InvalidValueError as error:
            assert str(len(broken)) in str(error)
