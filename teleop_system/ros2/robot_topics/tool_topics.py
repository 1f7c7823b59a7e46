# SPDX-License-Identifier: Apache-2.0
"""Topics for other ROS 2 tools: joint trajectories, and positions of all joints at once."""

import functools
import math
from collections.abc import Hashable
from typing import Any

import numpy as np
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from teleop_system.exceptions import InvalidJointStateError
from teleop_system.interfaces.causes import Rule
from teleop_system.robot_side.intake import CommandIntake, Trajectory, TrajectoryPlayer
from teleop_system.robot_side.intake.trajectory import SETTLING_TIME, start_fault
from teleop_system.robot_side.robot_side import RobotSide
from teleop_system.robots import RobotDescription
from teleop_system.ros2.robot_topics.part_topics import trajectory_topics
from teleop_system.ros2.robot_topics.source_stamps import SourceStamps
from teleop_system.safety import Part, PartCommand
from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames


class ToolTopics:
    """Trajectory topics of arms and torso, and one topic for the positions of all joints.

    Args:
        node: The `TeleopNode` that owns the robot; messages count only while it is active.
        robot: The robot.
        robot_side: Its robot side.
        intake: Receives the commands.
    """

    def __init__(
        self, node: Any, robot: RobotDescription, robot_side: RobotSide, intake: CommandIntake
    ) -> None:
        self._node, self._robot_side, self._intake = node, robot_side, intake
        self._stamps = SourceStamps()
        self._players: dict[str, tuple[TrajectoryPlayer, Hashable]] = {}
        self.topics = trajectory_topics(robot, robot_side.safety.parts)
        for part, topic in self.topics.items():
            callback = functools.partial(self._on_trajectory, robot_side.safety.parts[part])
            node.subscribe(JointTrajectory, topic, callback, QoSPreset.COMMAND)
        node.subscribe(
            Float64MultiArray, TopicNames.JOINT_POSITIONS, self._on_positions, QoSPreset.COMMAND
        )

    @property
    def is_busy(self) -> bool:
        """Whether a trajectory is running or waits for the robot to be engaged."""
        return any(player.is_playing for player, _ in self._players.values())

    def clear(self) -> None:
        """Drop every trajectory."""
        for player, _ in self._players.values():
            player.cancel()
        self._players.clear()

    def play(
        self,
        part: str,
        trajectory: Trajectory,
        sender: Hashable,
        start_time: float | None = None,
        *,
        settling: float = SETTLING_TIME,
    ) -> TrajectoryPlayer | None:
        """Play a trajectory; None where another sender owns the part."""
        now = self._node.now()
        if not self._intake.admit(part, sender, now):
            return None
        player = TrajectoryPlayer()
        player.put(trajectory, now, start_time, settling=settling)
        self._players[part] = (player, sender)
        return player

    def stop(self, part: str, sender: Hashable) -> None:
        """Drop the trajectory that a sender plays, and release the part, which holds."""
        player, owner = self._players.get(part, (None, None))
        if player is not None and owner == sender:
            player.cancel()
            del self._players[part]
            self._intake.release(part, sender)

    def owner(self, part: str) -> str | None:
        """Return the name of the owner of a part, or None."""
        return self._intake.owner(part)

    def update(self, now: float) -> None:
        """Command the positions of every trajectory at time `now` [s]."""
        output = self._robot_side.output
        if not self._players or output is None:
            return
        following = self._robot_side.is_following
        for part, (player, sender) in list(self._players.items()):
            if not self._intake.admit(part, sender, now):
                player.cancel()
            positions = player.update(now, following=following, commanded=output.of(part))
            if positions is not None:
                self._intake.offer(part, sender, PartCommand(positions, now), now)
            if not player.is_playing:
                del self._players[part]
                self._intake.release(part, sender)
                if positions is None:
                    self._intake.refuse(Rule.NOT_ENGAGED, f"{part} trajectory", 0.0, 1.0, now)

    def _on_trajectory(self, part: Part, message: JointTrajectory, info: dict[str, Any]) -> None:
        if not self._node.is_active:
            return
        now, sender = self._node.now(), info["publisher_gid"]["data"]
        if not message.points:  # By convention, this requests a stop.
            if self._intake.admit(part.name, sender, now) and part.name in self._players:
                del self._players[part.name]
            return
        try:
            trajectory = read_trajectory(part, message)
        except InvalidJointStateError as error:
            self._warn(part, str(error))
            count = len(message.joint_names)
            subject = f"{part.name} trajectory"
            self._intake.refuse(Rule.WRONG_SHAPE, subject, count, len(part.joints), now)
            return
        start_time = seconds(message.header.stamp) or None
        if (found := start_fault(part.name, start_time, now)) is not None:
            fault, reason = found
            self._warn(part, reason)
            self._intake.refuse(*fault, now)
            return
        self.play(part.name, trajectory, sender, start_time)

    def _warn(self, part: Part, reason: str) -> None:
        self._node.get_logger().warning(
            f"trajectory of {part.name} refused: {reason}", throttle_duration_sec=1.0
        )

    def _on_positions(self, message: Float64MultiArray, info: dict[str, Any]) -> None:
        if not self._node.is_active:
            return
        now, sender = self._node.now(), info["publisher_gid"]["data"]
        parts, values = self._robot_side.safety.parts, np.asarray(message.data, dtype=np.float64)
        if values.shape != (parts.size,):
            subject = "joint_positions"
            self._intake.refuse(Rule.WRONG_SHAPE, subject, values.size, parts.size, now)
            return
        # The whole vector is rejected: a sender of one number that is not finite is faulty.
        if not np.isfinite(values).all():
            self._intake.refuse(Rule.NON_FINITE, "joint_positions", math.nan, 0.0, now)
            return
        stamp = self._stamps.stamp(info, now)
        for name, part in parts.items():
            self._intake.offer(name, sender, PartCommand(values[part.columns], stamp), now)


def read_trajectory(part: Part, message: JointTrajectory) -> Trajectory:
    """Return the trajectory in a message for a part.

    Raises:
        InvalidJointStateError: The message does not fit the part.
    """
    points = message.points
    return Trajectory.checked(
        part.joints,
        message.joint_names,
        [seconds(p.time_from_start) for p in points],
        [p.positions for p in points],
        [p.velocities for p in points],
    )


def seconds(time: Any) -> float:
    """Return a time or duration of ROS 2 in [s]."""
    return float(time.sec + 1e-9 * time.nanosec)
