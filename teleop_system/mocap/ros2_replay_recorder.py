# SPDX-License-Identifier: Apache-2.0
"""Records the samples of a replay and the robot's response from their topics, for scoring."""

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
        replay: The replay that it plays.
        path: The file to write.
        notes: Facts for scoring: file, speed, loop and settings.
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
        for topic, callback in (
            (TopicNames.JOINT_STATES, self._on_joints),
            (TopicNames.JOINT_TARGETS, self._on_targets),
        ):
            node.subscribe(JointState, topic, callback, QoSPreset.SENSOR_DATA)
        node.subscribe(Odometry, TopicNames.BASE_ODOM, self._on_odometry, QoSPreset.SENSOR_DATA)
        node.resources.callback(self._data.join)

    def sample(self) -> None:
        """Record the present samples; write the file once the motion is over."""
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
            self._node.get_logger().info(f"recorded {self._path}; score it with teleop replay")

    def record_report(self, report: StatusReport) -> None:
        """Record the robot's status report while the motion plays."""
        if self._is_done or self._replay.state is PlaybackState.READY:
            return
        # A camera fault does not hold the robot.
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
        """Write the recording in the background."""
        if len(self._data):
            self._data.save_in_background(self._path)

    @property
    def is_done(self) -> bool:
        """Whether the motion is over and the file is written or being written."""
        return self._is_done

    def _on_joints(self, message: JointState) -> None:
        self._data.notes["measured"] = list(message.name)
        self._record("measured", message, message.position)

    def _on_targets(self, message: JointState) -> None:
        self._data.notes["commands"] = list(message.name)
        self._record("commands", message, message.position)
        self._record("speeds", message, message.velocity)

    def _on_odometry(self, message: Odometry) -> None:
        p, q = message.pose.pose.position, message.pose.pose.orientation
        self._record("odometry", message, (p.x, p.y, p.z, q.x, q.y, q.z, q.w))

    def _record(self, name: str, message: Any, values: Any) -> None:
        if self._node.is_active and not self._is_done and len(values):
            stamp = message.header.stamp
            self._data.record(name, stamp.sec + 1e-9 * stamp.nanosec, values)
