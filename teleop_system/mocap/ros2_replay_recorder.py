# SPDX-License-Identifier: Apache-2.0
"""Keeps what a replay sent and what a robot made of it, off the topics, to be scored later."""

from collections import Counter
from pathlib import Path
from typing import Any

from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

from teleop_system.mocap.data_recorder import DataRecorder
from teleop_system.mocap.playback import PlaybackState
from teleop_system.mocap.replay import Replay
from teleop_system.ros2.status import CAMERA_CAUSE, Level, StatusReport
from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames


class ReplayRecorder:
    """Records a replay over ROS 2 from READY to its end.

    Args:
        node: The `TeleopNode` that plays.
        replay: What it plays.
        path: The file to write.
        notes: What whoever scores it has to know: file, speed, loop and settings.
    """

    def __init__(self, node: Any, replay: Replay, path: Path, notes: dict[str, Any]) -> None:
        self._node = node
        self._replay = replay
        self._path = path
        self._data = DataRecorder()
        self._data.notes.update(notes)
        self._interventions: Counter[str] = Counter()
        self._holds = 0
        self._was_held = self._is_done = False
        for topic, take in (
            (TopicNames.JOINT_STATES, self._hear_joints),
            (TopicNames.JOINT_TARGETS, self._hear_targets),
        ):
            node.subscribe(JointState, topic, take, QoSPreset.SENSOR_DATA)
        node.subscribe(Odometry, TopicNames.BASE_ODOM, self._hear_odometry, QoSPreset.SENSOR_DATA)
        node.resources.callback(self._data.join)

    def sample(self) -> None:
        """Keep what was sent in this moment, and write everything once the motion is over."""
        if self._is_done:
            return
        replay, data = self._replay, self._data
        data.record("playback", self._node.now(), [replay.playback.time()])
        for role, tracker in replay.trackers.items():
            data.record_pose(role.value, tracker.get_pose())
        for side, glove in replay.gloves.items():
            data.record_hand(f"{side}_fingers", glove.get_joint_state())
        if replay.playback.is_over:
            self._is_done = True
            self.save()
            self._node.get_logger().info(f"recorded {self._path}; teleop replay scores it")

    def hear(self, report: StatusReport) -> None:
        """Keep what the robot says of itself while the motion plays."""
        if self._is_done or self._replay.state is PlaybackState.READY:
            return
        # A robot without pictures is not well, but moves.
        rules = {cause.partition(":")[0] for cause in report.causes} - {CAMERA_CAUSE}
        is_held = report.level >= Level.WARN and bool(rules)
        self._holds += is_held and not self._was_held
        self._was_held = is_held
        self._interventions.update(rules)
        self._data.notes.update(
            state=report.values.get("state", ""),
            holds=self._holds,
            interventions=dict(self._interventions),
        )

    def save(self) -> None:
        """Write what was kept in the background."""
        if len(self._data):
            self._data.save_in_background(self._path)

    @property
    def is_done(self) -> bool:
        """Whether the motion is over, and everything written or about to be."""
        return self._is_done

    def _hear_joints(self, message: JointState) -> None:
        self._data.notes["measured"] = list(message.name)
        self._keep("measured", message, message.position)

    def _hear_targets(self, message: JointState) -> None:
        self._data.notes["commands"] = list(message.name)
        self._keep("commands", message, message.position)
        self._keep("speeds", message, message.velocity)

    def _hear_odometry(self, message: Odometry) -> None:
        place, turn = message.pose.pose.position, message.pose.pose.orientation
        self._keep(
            "odometry", message, (place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w)
        )

    def _keep(self, name: str, message: Any, values: Any) -> None:
        if self._node.is_active and not self._is_done and len(values):
            stamp = message.header.stamp
            self._data.record(name, stamp.sec + 1e-9 * stamp.nanosec, values)
