# SPDX-License-Identifier: Apache-2.0
import re
import subprocess
import sys

import pytest

from teleop_system.exceptions import ConfigError, UnknownNameError
from teleop_system.interfaces.master_device import TrackerRole
from teleop_system.interfaces.slave_robot import ArmSide
from teleop_system.utils.ros2_helpers import (
    QoSPreset,
    TopicNames,
    get_qos_profile,
    is_ros_available,
)

CONTRACT = {
    "/master/tracker/right",
    "/master/tracker/left",
    "/master/tracker/waist",
    "/master/tracker/right_foot",
    "/master/tracker/left_foot",
    "/master/hmd/orientation",
    "/master/hand/left/joints",
    "/master/hand/right/joints",
    "/slave/arm/left/joint_cmd",
    "/slave/arm/right/joint_cmd",
    "/slave/torso/joint_cmd",
    "/slave/hand/left/joint_cmd",
    "/slave/hand/right/joint_cmd",
    "/slave/base/cmd_vel",
    "/slave/base/odom",
    "/slave/camera/pan_tilt_cmd",
    "/slave/camera/color/image_raw",
    "/slave/camera/depth/image_raw",
    "/slave/camera/camera_info",
    "/slave/imu",
    "/slave/ft",
    "/mujoco/joint_states",
    "/slave/joint_targets",
    "/slave/joint_positions",
    "/slave/arm/left/joint_trajectory",
    "/slave/arm/right/joint_trajectory",
    "/slave/torso/joint_trajectory",
    "/clock",
    "/teleop/status",
    "/diagnostics",
    "/teleop/clutch",
    "/teleop/estop",
    "/teleop/reset_estop",
    "/teleop/engage",
    "/teleop/disengage",
    "/teleop/calibrate",
    "/teleop/start_playback",
    "/teleop/stop_playback",
    "/mujoco/pause",
    "/mujoco/resume",
    "/mujoco/step",
    "/mujoco/reset",
}

WITHOUT_ROS = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "rclpy":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocker())
from teleop_system.exceptions import MissingExtraError
from teleop_system.utils.ros2_helpers import *
assert TopicNames.CLOCK == "/clock"
assert not is_ros_available()
try:
    get_qos_profile(QoSPreset.COMMAND)
except MissingExtraError as error:
    print(error)
"""


def constants() -> dict[str, str]:
    return {name: value for name, value in vars(TopicNames).items() if name.isupper()}


def test_names_are_those_of_the_contract_without_duplicates() -> None:
    values = list(constants().values())
    assert len(values) == len(set(values))
    assert set(values) == CONTRACT


def test_names_of_the_developer_guide_are_kept() -> None:
    assert TopicNames.RIGHT_TRACKER == "/master/tracker/right"
    assert TopicNames.LEFT_ARM_CMD == "/slave/arm/left/joint_cmd"
    assert TopicNames.CAMERA_COLOR_IMAGE == "/slave/camera/color/image_raw"


@pytest.mark.parametrize("topic", sorted(CONTRACT))
def test_names_are_absolute_and_valid_in_ros(topic: str) -> None:
    assert re.fullmatch(r"(/[a-z][a-z_]*)+", topic)


@pytest.mark.parametrize("role", [role for role in TrackerRole if role is not TrackerRole.HEAD])
def test_every_tracked_part_but_the_head_has_a_tracker_topic(role: TrackerRole) -> None:
    topic = TopicNames.tracker(role)
    assert topic in CONTRACT
    assert topic == TopicNames.tracker(role.value)
    assert topic.rsplit("/", maxsplit=1)[1] == role.value.removesuffix("_hand")


def test_head_has_no_tracker_topic() -> None:
    with pytest.raises(UnknownNameError, match="no tracker topic named 'head'"):
        TopicNames.tracker(TrackerRole.HEAD)


def test_arms_and_torso_are_looked_up_by_side() -> None:
    assert TopicNames.arm_command(ArmSide.RIGHT) == "/slave/arm/right/joint_cmd"
    assert TopicNames.arm_command("torso") == "/slave/torso/joint_cmd"


def test_hands_are_looked_up_by_side() -> None:
    assert TopicNames.hand_command("left") == "/slave/hand/left/joint_cmd"
    assert TopicNames.hand_joints("right") == "/master/hand/right/joints"
    with pytest.raises(UnknownNameError, match="valid choices: left, right"):
        TopicNames.hand_command("middle")


def test_sensor_topics_are_below_their_kind() -> None:
    assert TopicNames.imu("chest") == "/slave/imu/chest"
    assert TopicNames.force_torque("right_wrist") == "/slave/ft/right_wrist"


@pytest.mark.parametrize("prefix", ["robot_1", "/robot_1", "/robot_1/", "robot_1/"])
def test_prefix_is_added_with_or_without_slashes(prefix: str) -> None:
    assert TopicNames.with_prefix(TopicNames.STATUS, prefix) == "/robot_1/teleop/status"


def test_prefix_may_have_several_parts() -> None:
    assert TopicNames.with_prefix("/teleop/status", "lab/a") == "/lab/a/teleop/status"


@pytest.mark.parametrize("prefix", ["", "/"])
def test_empty_prefix_changes_nothing(prefix: str) -> None:
    assert TopicNames.with_prefix(TopicNames.STATUS, prefix) == TopicNames.STATUS


@pytest.mark.parametrize("topic", [TopicNames.CLOCK, TopicNames.DIAGNOSTICS])
def test_topics_of_ros_itself_get_no_prefix(topic: str) -> None:
    assert TopicNames.with_prefix(topic, "robot_1") == topic


@pytest.mark.parametrize("prefix", ["1robot", "robot 1", "robot-1", "a//b", "röbot"])
def test_prefix_that_ros_refuses_is_refused_here(prefix: str) -> None:
    with pytest.raises(ConfigError, match="topic_prefix"):
        TopicNames.with_prefix(TopicNames.STATUS, prefix)


@pytest.mark.parametrize(
    ("preset", "reliability", "durability", "depth"),
    [
        (QoSPreset.SENSOR_DATA, "BEST_EFFORT", "VOLATILE", 1),
        (QoSPreset.COMMAND, "RELIABLE", "VOLATILE", 1),
        (QoSPreset.STATUS, "RELIABLE", "TRANSIENT_LOCAL", 10),
    ],
)
def test_profile_has_the_fields_of_its_preset(
    preset: QoSPreset, reliability: str, durability: str, depth: int
) -> None:
    pytest.importorskip("rclpy")
    profile = get_qos_profile(preset)
    assert profile.reliability.name == reliability
    assert profile.durability.name == durability
    assert profile.history.name == "KEEP_LAST"
    assert profile.depth == depth


def test_ros_is_detected_where_it_is_installed() -> None:
    pytest.importorskip("rclpy")
    assert is_ros_available()


def test_module_works_without_ros_and_names_the_extra() -> None:
    result = subprocess.run(
        [sys.executable, "-c", WITHOUT_ROS], capture_output=True, text=True, check=True
    )
    assert "teleop_system[ros]" in result.stdout
    assert "sourced ROS 2" in result.stdout
