# SPDX-License-Identifier: Apache-2.0
"""Names of topics and services, and their QoS; importable without ROS 2."""

import enum
import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from teleop_system.exceptions import ConfigError, MissingExtraError, UnknownNameError

if TYPE_CHECKING:
    from rclpy.qos import QoSProfile

_NAME = re.compile(r"(/[A-Za-z_][A-Za-z0-9_]*)+")


class TopicNames:
    """Names of all topics and services; absolute and without prefix."""

    RIGHT_TRACKER = "/master/tracker/right"
    LEFT_TRACKER = "/master/tracker/left"
    WAIST_TRACKER = "/master/tracker/waist"
    RIGHT_FOOT_TRACKER = "/master/tracker/right_foot"
    LEFT_FOOT_TRACKER = "/master/tracker/left_foot"
    HMD_ORIENTATION = "/master/hmd/orientation"
    LEFT_HAND_JOINTS = "/master/hand/left/joints"
    RIGHT_HAND_JOINTS = "/master/hand/right/joints"

    LEFT_ARM_CMD = "/slave/arm/left/joint_cmd"
    RIGHT_ARM_CMD = "/slave/arm/right/joint_cmd"
    TORSO_CMD = "/slave/torso/joint_cmd"
    LEFT_HAND_CMD = "/slave/hand/left/joint_cmd"
    RIGHT_HAND_CMD = "/slave/hand/right/joint_cmd"
    LEFT_ARM_TRAJECTORY = "/slave/arm/left/joint_trajectory"
    RIGHT_ARM_TRAJECTORY = "/slave/arm/right/joint_trajectory"
    TORSO_TRAJECTORY = "/slave/torso/joint_trajectory"
    JOINT_POSITIONS = "/slave/joint_positions"
    BASE_CMD_VEL = "/slave/base/cmd_vel"
    BASE_ODOM = "/slave/base/odom"
    CAMERA_PAN_TILT_CMD = "/slave/camera/pan_tilt_cmd"
    CAMERA_COLOR_IMAGE = "/slave/camera/color/image_raw"
    CAMERA_DEPTH_IMAGE = "/slave/camera/depth/image_raw"
    CAMERA_INFO = "/slave/camera/camera_info"
    IMU = "/slave/imu"
    FORCE_TORQUE = "/slave/ft"
    JOINT_STATES = "/mujoco/joint_states"
    JOINT_TARGETS = "/slave/joint_targets"

    CLOCK = "/clock"
    STATUS = "/teleop/status"
    DIAGNOSTICS = "/diagnostics"
    CLUTCH = "/teleop/clutch"

    ESTOP = "/teleop/estop"
    RESET_ESTOP = "/teleop/reset_estop"
    ENGAGE = "/teleop/engage"
    DISENGAGE = "/teleop/disengage"
    CALIBRATE = "/teleop/calibrate"
    START_PLAYBACK = "/teleop/start_playback"
    STOP_PLAYBACK = "/teleop/stop_playback"
    SIMULATION_PAUSE = "/mujoco/pause"
    SIMULATION_RESUME = "/mujoco/resume"
    SIMULATION_STEP = "/mujoco/step"
    SIMULATION_RESET = "/mujoco/reset"

    @classmethod
    def tracker(cls, role: str | enum.Enum) -> str:
        """Return the topic of a tracker by its role, a `TrackerRole` or its value.

        The head has no tracker topic: its orientation is on `HMD_ORIENTATION`.
        """
        topics = {
            "right_hand": cls.RIGHT_TRACKER,
            "left_hand": cls.LEFT_TRACKER,
            "waist": cls.WAIST_TRACKER,
            "right_foot": cls.RIGHT_FOOT_TRACKER,
            "left_foot": cls.LEFT_FOOT_TRACKER,
        }
        return _look_up("tracker topic", role, topics)

    @classmethod
    def arm_command(cls, side: str | enum.Enum) -> str:
        """Return the command topic of an arm or the torso, by `ArmSide` or its value."""
        topics = {"left": cls.LEFT_ARM_CMD, "right": cls.RIGHT_ARM_CMD, "torso": cls.TORSO_CMD}
        return _look_up("arm command topic", side, topics)

    @classmethod
    def hand_command(cls, side: str) -> str:
        """Return the command topic of the "left" or "right" robot hand."""
        topics = {"left": cls.LEFT_HAND_CMD, "right": cls.RIGHT_HAND_CMD}
        return _look_up("hand command topic", side, topics)

    @classmethod
    def hand_joints(cls, side: str) -> str:
        """Return the topic of the operator's "left" or "right" finger angles."""
        topics = {"left": cls.LEFT_HAND_JOINTS, "right": cls.RIGHT_HAND_JOINTS}
        return _look_up("hand input topic", side, topics)

    @classmethod
    def imu(cls, sensor: str) -> str:
        """Return the topic of the inertial sensor with this name in the robot model."""
        return f"{cls.IMU}/{sensor}"

    @classmethod
    def force_torque(cls, sensor: str) -> str:
        """Return the topic of the force/torque sensor with this name in the robot model."""
        return f"{cls.FORCE_TORQUE}/{sensor}"

    @classmethod
    def with_prefix(cls, topic: str, prefix: str = "") -> str:
        """Return `topic` below `prefix`, so that several robots can share one network.

        `/clock` and `/diagnostics` have no prefix, because ROS 2 tools expect these names.

        Raises:
            ConfigError: The result is not a valid ROS 2 name.
        """
        stem = prefix.strip("/")
        if not stem or topic in (cls.CLOCK, cls.DIAGNOSTICS):
            return topic
        name = f"/{stem}{topic}"
        if not _NAME.fullmatch(name):
            raise ConfigError(
                f"topic_prefix {prefix!r} may contain letters, digits, '_' and '/', "
                "and no part may start with a digit"
            )
        return name


class QoSPreset(enum.Enum):
    """QoS presets by kind of data."""

    SENSOR_DATA = "sensor_data"
    """The newest sample only: best effort, volatile, depth 1."""
    COMMAND = "command"
    """The newest command, delivered: reliable, volatile, depth 1."""
    STATUS = "status"
    """State for late subscribers too: reliable, transient local, depth 10."""


@dataclass(frozen=True, slots=True)
class _Delivery:
    """Fields of a QoS profile, with the names of rclpy's enums."""

    reliability: str
    durability: str
    depth: int


_DELIVERY = {
    QoSPreset.SENSOR_DATA: _Delivery("BEST_EFFORT", "VOLATILE", 1),
    QoSPreset.COMMAND: _Delivery("RELIABLE", "VOLATILE", 1),
    QoSPreset.STATUS: _Delivery("RELIABLE", "TRANSIENT_LOCAL", 10),
}


def is_ros_available() -> bool:
    """Return whether rclpy can be imported."""
    try:
        importlib.import_module("rclpy.qos")
    except ImportError:
        return False
    return True


def get_qos_profile(preset: QoSPreset) -> "QoSProfile":
    """Return the QoS profile of a preset.

    Raises:
        MissingExtraError: rclpy is not installed.
    """
    try:
        from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
    except ImportError as error:
        raise MissingExtraError("rclpy (or a sourced ROS 2)", "ros") from error
    delivery = _DELIVERY[preset]
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=delivery.depth,
        reliability=ReliabilityPolicy[delivery.reliability],
        durability=DurabilityPolicy[delivery.durability],
    )


def _look_up(kind: str, key: str | enum.Enum, topics: Mapping[str, str]) -> str:
    name = str(key.value if isinstance(key, enum.Enum) else key)
    if name not in topics:
        raise UnknownNameError(kind, name, topics)
    return topics[name]
