# SPDX-License-Identifier: Apache-2.0
"""A robot and an operator that a test plays itself, over the same topics as real ones."""

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

UNTURNED = (0.0, 0.0, 0.0, 1.0)
STATUS_EVERY = 20
"""The robot says how it is with every so many of its positions."""


class StandInRobot:
    """Says that it follows, and where its joints were sent; it goes nowhere.

    Args:
        bench: The bench that it is played on.
        name: Which robot.
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
        """Let the operator move it."""
        self._say("engaged", True)

    def release(self) -> None:
        """Let nobody move it."""
        self._say("ready", False)

    def _say(self, state: str, following: bool) -> None:
        self._state, self._following = state, following
        self._tell()

    def _tell(self) -> None:
        values = {"state": self._state, "following": str(self._following).lower()}
        report = StatusReport(ROBOT, values={**values, "reason": "as the test wants"})
        stamp = self._bench.node.get_clock().now().to_msg()
        self._status.publish(to_message([report], stamp))

    def _send(self) -> None:
        if self.is_silent:
            return
        self._targets.publish(self._codec.encode(self._clock(), self.positions))
        if self._count % STATUS_EVERY == 0:
            self._tell()
        self._count += 1


class StandInOperator:
    """Wears trackers and a headset, and moves its right hand.

    Args:
        bench: The bench that it is played on.
        roles: The trackers that it wears.
        rate: Samples per second in [Hz].
        clock: Time of its stamps in [s].

    Attributes:
        lost: Trackers that send nothing.
        spoil: Changes the numbers of a tracker before they are sent.
        sent: When the last set was sent, by the clock of the stamps in [s].
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
        self._turn = StampedCodec(StampedCodec.QUATERNION, "map")
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
        self._begun = clock()
        self._repeater = Repeater(rate, self.send)

    def __enter__(self) -> "StandInOperator":
        self._repeater.__enter__()
        return self

    def __exit__(self, *details: object) -> None:
        self._repeater.__exit__()

    def send(self) -> None:
        """Send one sample of every tracker, all of one time."""
        stamp = self._clock()
        moved = 0.05 * np.sin(2.0 * (stamp - self._begun))
        for role, publisher in self._publishers.items():
            if role in self.lost:
                continue
            x, y, z = REFERENCE_POSITIONS[role]
            if role is TrackerRole.RIGHT_HAND:
                x += moved
            values = self.spoil.get(role, list)([x, y, z, *UNTURNED])
            if role is TrackerRole.HEAD:
                publisher.publish(self._turn.encode(stamp, values[3:]))
            else:
                publisher.publish(self._codec.encode(stamp, values))
        self.sent = stamp
