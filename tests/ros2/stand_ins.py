# SPDX-License-Identifier: Apache-2.0
"""A fake robot and a fake operator on the topics that real ones use."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped, QuaternionStamped
from sensor_msgs.msg import JointState

from teleop_system.interfaces import TrackerRole
from teleop_system.robots import load_robot
from teleop_system.ros2.cdr import JointStateCodec, StampedCodec
from teleop_system.ros2.status import ROBOT, StatusReport, to_message
from teleop_system.safety import RobotParts
from teleop_system.simulators.simulated_tracker import REFERENCE_POSITIONS
from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames
from tests.ros2.harness import Bench, Repeater

Clock = Callable[[], float]

IDENTITY = (0.0, 0.0, 0.0, 1.0)
STATUS_EVERY = 20
"""The robot publishes its status once per this many positions."""


class StandInRobot:
    """Publishes its state and its joint targets; it never moves.

    Args:
        bench: The bench whose node publishes.
        name: Name of the robot.
        clock: Time of its stamps in [s].
    """

    def __init__(self, bench: Bench, name: str = "rby1", clock: Clock = time.time) -> None:
        self._bench = bench
        self._clock = clock
        self.robot = load_robot(name)
        self.parts = RobotParts(self.robot)
        pose = self.robot.pose(self.robot.initial_pose)
        self.positions = [pose[joint] for joint in self.parts.joints]
        self._codec = JointStateCodec(self.parts.joints)
        self._targets = bench.publisher(
            JointState, TopicNames.JOINT_TARGETS, QoSPreset.SENSOR_DATA
        )
        self._status = bench.publisher(DiagnosticArray, TopicNames.STATUS, QoSPreset.STATUS)
        self._state, self._following = "ready", False
        self._count = 0
        self.is_silent = False
        self._repeater = Repeater(100.0, self._send)

    def __enter__(self) -> "StandInRobot":
        self._repeater.__enter__()
        return self

    def __exit__(self, *details: object) -> None:
        self._repeater.__exit__()

    def follow(self) -> None:
        """Follow the operator."""
        self._set("engaged", True)

    def release(self) -> None:
        """Ignore all commands."""
        self._set("ready", False)

    def _set(self, state: str, following: bool) -> None:
        self._state, self._following = state, following
        self._send_status()

    def _send_status(self) -> None:
        values = {"state": self._state, "following": str(self._following).lower()}
        report = StatusReport(ROBOT, values={**values, "reason": "set by the test"})
        stamp = self._bench.node.get_clock().now().to_msg()
        self._status.publish(to_message([report], stamp))

    def _send(self) -> None:
        if self.is_silent:
            return
        self._targets.publish(self._codec.encode(self._clock(), self.positions))
        if self._count % STATUS_EVERY == 0:
            self._send_status()
        self._count += 1


class StandInOperator:
    """Publishes samples of trackers and a headset, and moves the right hand.

    Args:
        bench: The bench whose node publishes.
        roles: The trackers that it has.
        rate: Samples per second in [Hz].
        clock: Time of its stamps in [s].

    Attributes:
        lost: Trackers that send nothing.
        spoil: Functions that change the values of a tracker before they are sent.
        sent: Stamp of the last set in [s].
    """

    def __init__(
        self,
        bench: Bench,
        roles: Sequence[TrackerRole] = tuple(REFERENCE_POSITIONS),
        rate: float = 100.0,
        clock: Clock = time.time,
    ) -> None:
        self._clock = clock
        self._codec = StampedCodec(StampedCodec.POSE, "map")
        self._rotation = StampedCodec(StampedCodec.QUATERNION, "map")
        sensor = QoSPreset.SENSOR_DATA
        self._publishers: dict[TrackerRole, Any] = {
            role: bench.publisher(QuaternionStamped, TopicNames.HMD_ORIENTATION, sensor)
            if role is TrackerRole.HEAD
            else bench.publisher(PoseStamped, TopicNames.tracker(role), sensor)
            for role in roles
        }
        self.lost: set[TrackerRole] = set()
        self.spoil: dict[TrackerRole, Callable[[list[float]], list[float]]] = {}
        self.sent = 0.0
        self._start = clock()
        self._repeater = Repeater(rate, self.send)

    def __enter__(self) -> "StandInOperator":
        self._repeater.__enter__()
        return self

    def __exit__(self, *details: object) -> None:
        self._repeater.__exit__()

    def send(self) -> None:
        """Send one sample of every tracker, all with the same stamp."""
        stamp = self._clock()
        moved = 0.05 * np.sin(2.0 * (stamp - self._start))
        for role, publisher in self._publishers.items():
            if role in self.lost:
                continue
            x, y, z = REFERENCE_POSITIONS[role]
            if role is TrackerRole.RIGHT_HAND:
                x += moved
            values = self.spoil.get(role, list)([x, y, z, *IDENTITY])
            if role is TrackerRole.HEAD:
                publisher.publish(self._rotation.encode(stamp, values[3:]))
            else:
                publisher.publish(self._codec.encode(stamp, values))
        self.sent = stamp
