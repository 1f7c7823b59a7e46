# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from teleop_system.robots.inference import InferredParts, infer_parts, side_of
from teleop_system.robots.joint_tree import words
from teleop_system.robots.mjcf import read_mjcf
from tests.robots.models import MOBILE_DUAL, SIX_AXIS, SIX_AXIS_JOINTS, pendulum


def infer(folder: Path, text: str) -> InferredParts:
    path = folder / "robot.xml"
    path.write_text(text, encoding="utf-8")
    return infer_parts(read_mjcf(path))


@pytest.fixture
def mobile(tmp_path: Path) -> InferredParts:
    return infer(tmp_path, MOBILE_DUAL)


def test_joints_in_series_are_one_arm(tmp_path: Path) -> None:
    parts = infer(tmp_path, SIX_AXIS)
    assert list(parts.chains) == ["arm"]
    assert parts.chains["arm"].joints == SIX_AXIS_JOINTS


def test_a_site_with_the_name_of_a_tool_is_the_end_effector(tmp_path: Path) -> None:
    assert infer(tmp_path, SIX_AXIS).chains["arm"].end_effector == "attachment_site"


def test_without_a_tool_the_last_body_is_the_end_effector(tmp_path: Path) -> None:
    text = SIX_AXIS.replace('name="attachment_site"', 'name="mark"').replace(
        'name="flange"', 'name="last"'
    )
    assert infer(tmp_path, text).chains["arm"].end_effector == "last"


def test_a_fixed_arm_has_no_base_hand_or_head(tmp_path: Path) -> None:
    parts = infer(tmp_path, SIX_AXIS)
    assert (parts.base, parts.hands, parts.head) == (None, {}, None)


def test_the_joints_before_a_branching_are_the_torso(mobile: InferredParts) -> None:
    assert mobile.chains["torso"].joints == ("rise", "turn")
    assert mobile.chains["torso"].kind == "torso"


def test_the_sides_of_unnamed_arms_follow_from_their_positions(
    mobile: InferredParts,
) -> None:
    assert mobile.chains["left_arm"].joints == ("p1", "p2")
    assert mobile.chains["right_arm"].joints == ("s1", "s2")


def test_prismatic_joints_after_the_wrist_are_a_gripper_that_closes_towards_zero(
    mobile: InferredParts,
) -> None:
    hand = mobile.hands["left"]
    assert (hand.kind, hand.joints) == ("gripper", ("p_a", "p_b"))
    assert (hand.open, hand.closed) == ((0.04, 0.04), (0.0, 0.0))


def test_a_tool_body_before_the_fingers_is_the_end_effector(mobile: InferredParts) -> None:
    assert mobile.chains["left_arm"].end_effector == "port_tcp"


def test_a_short_branch_with_a_camera_is_the_head(mobile: InferredParts) -> None:
    assert mobile.head is not None
    assert mobile.head.joints == ("look_around", "look_down")
    assert mobile.head.camera == "eye_camera"


def test_two_velocity_driven_hinges_are_a_differential_base(mobile: InferredParts) -> None:
    base = mobile.base
    assert base is not None and base.kind == "differential"
    assert base.joints == ("drive_l", "drive_r")
    assert (base.wheel_radius, base.wheel_sign) == (0.1, 1)
    assert base.track == pytest.approx(0.5)
    assert base.axle_offset == pytest.approx(0.1)
    assert base.max_linear == pytest.approx(0.4)


def test_a_gripper_in_series_with_the_wrist_does_not_belong_to_the_arm(tmp_path: Path) -> None:
    finger = """<body name="jaw_body" pos="0.05 0 0">
      <joint name="jaw" type="slide" axis="0 1 0" range="0 0.05"/><geom size="0.01 0.01"/>
    </body>"""
    text = SIX_AXIS.replace('<site name="attachment_site" pos="0.08 0 0"/>', finger)
    text = text.replace("</actuator>", '<position name="m7" joint="jaw"/></actuator>')
    text = text.replace('0.5 0"', '0.5 0 0"')
    parts = infer(tmp_path, text)
    assert parts.chains["arm"].joints == SIX_AXIS_JOINTS
    assert parts.hands["gripper"].joints == ("jaw",)


def test_an_arm_with_a_camera_at_its_wrist_is_not_a_head(tmp_path: Path) -> None:
    text = pendulum().replace("</body>", '<camera name="wrist_camera"/></body>')
    parts = infer(tmp_path, text)
    assert parts.head is None
    assert list(parts.chains) == ["arm"]


def test_joints_without_a_motor_belong_to_no_chain(tmp_path: Path) -> None:
    text = SIX_AXIS.replace('<position name="m6" joint="wrist_3"/>', "")
    text = text.replace('ctrl="0.2 -0.4 0.6 0.1 0.5 0"', "")
    assert infer(tmp_path, text).chains["arm"].joints == SIX_AXIS_JOINTS[:5]


def test_joints_driven_through_a_tendon_count_as_driven(tmp_path: Path) -> None:
    text = pendulum().replace(
        '<actuator><position joint="swing"', '<actuator><position tendon="pull"'
    )
    tendon = '<tendon><fixed name="pull"><joint joint="swing" coef="1"/></fixed></tendon>'
    text = text.replace("</worldbody>", f"</worldbody>{tendon}")
    assert infer(tmp_path, text).chains["arm"].joints == ("swing",)


def test_a_free_object_does_not_belong_to_the_robot(tmp_path: Path) -> None:
    cube = '<body name="cube"><freejoint/><geom type="box" size="0.02 0.02 0.02"/></body>'
    parts = infer(tmp_path, pendulum().replace("</worldbody>", f"{cube}</worldbody>"))
    assert list(parts.chains) == ["arm"]
    assert parts.base is None


def test_fingers_without_an_arm_are_a_hand_without_a_side(tmp_path: Path) -> None:
    finger = """<body name="{side}_pad" pos="0 {y} 0">
      <joint name="{side}_slide" type="slide" axis="0 1 0" range="0 0.04"/><geom size="0.01"/>
    </body>"""
    pads = finger.format(side="left", y=0.05) + finger.format(side="right", y=-0.05)
    motors = '<position joint="left_slide"/><position joint="right_slide"/>'
    parts = infer(
        tmp_path,
        f"<mujoco><worldbody>{pads}</worldbody><actuator>{motors}</actuator></mujoco>",
    )
    assert list(parts.hands) == ["gripper"]
    assert parts.hands["gripper"].joints == ("left_slide", "right_slide")
    assert {chain.kind for chain in parts.chains.values()} == {"finger"}


@pytest.mark.parametrize(
    ("name", "side"),
    [("left_arm_3", "left"), ("RightElbow", "right"), ("r_hip", "right"), ("wrist", None)],
)
def test_sides_are_read_from_whole_words(name: str, side: str | None) -> None:
    assert side_of(name) == side


def test_names_are_split_at_underscores_digits_and_capitals() -> None:
    assert words("LeftArm_joint2") == {"left", "arm", "joint", "2"}
