# SPDX-License-Identifier: Apache-2.0
"""How the operator's motion moves the robot's targets."""

import math

import numpy as np
import pytest

from teleop_system.exceptions import UnknownNameError
from teleop_system.interfaces import Pose6D
from teleop_system.interfaces.causes import Rule
from teleop_system.modules.arm_teleop import (
    ArmTeleopConfig,
    LimbConfig,
    LimbState,
    WorkspaceBox,
)
from teleop_system.utils.transforms import (
    quat_conjugate,
    quat_distance,
    quat_exp,
    quat_multiply,
    ros2_to_webxr_position,
    ros2_to_webxr_quaternion,
)
from tests.modules.arm_teleop.rig import ALL, LEFT, RIGHT, WAIST, Rig, pose, rules, step_between

SETTLE = 180
"""Ticks after which the effect of ramp and smoothing is below 1e-4 m or rad."""


def follow(
    rig: Rig, offset: object, rotation: object = (0.0, 0.0, 0.0), yaw: float = 0.0
) -> Pose6D:
    """Close the clutch at the reference poses, move the right hand, and return its target."""
    start = rig.poses(yaw)
    rig.tick(start)
    for _ in range(SETTLE):
        poses = rig.poses(yaw) | {RIGHT: pose(RIGHT, rig.now, offset, rotation, yaw)}
        output = rig.tick(poses)
    assert output.states["right_arm"] is LimbState.FOLLOWING
    return output.targets["right_arm"]


def start_of(rig: Rig) -> Pose6D:
    return rig.controller.tool_poses(rig.joints)["right_arm"]


@pytest.mark.parametrize("offset", [(0.1, 0.0, 0.0), (0.0, 0.05, 0.0), (-0.05, 0.02, 0.1)])
def test_the_tool_moves_as_the_hand_moves(offset: tuple[float, float, float]) -> None:
    rig = Rig()
    moved = follow(rig, offset).position - start_of(rig).position
    np.testing.assert_allclose(moved, offset, atol=1e-4)


@pytest.mark.parametrize("rotation", [(0.4, 0.0, 0.0), (0.0, -0.3, 0.0), (0.1, 0.2, 0.5)])
def test_the_tool_rotates_as_the_hand_rotates(rotation: tuple[float, float, float]) -> None:
    rig = Rig()
    before = start_of(rig).orientation
    after = follow(rig, (0.0, 0.0, 0.0), rotation).orientation
    rotated = quat_multiply(after, quat_conjugate(before))
    assert quat_distance(rotated, quat_exp(rotation)) < 1e-3


@pytest.mark.parametrize("yaw", [math.pi / 2, -2.0, 3.1])
def test_the_heading_of_the_operator_is_forward(yaw: float) -> None:
    offset, rotation = (0.1, -0.03, 0.05), (0.2, 0.1, -0.3)
    plain, rotated = follow(Rig(), offset, rotation), follow(Rig(), offset, rotation, yaw)
    np.testing.assert_allclose(rotated.position, plain.position, atol=1e-9)
    assert quat_distance(rotated.orientation, plain.orientation) < 1e-9


def test_without_a_heading_the_room_decides() -> None:
    rig = Rig(ArmTeleopConfig(heading="room"))
    moved = follow(rig, (0.1, 0.0, 0.0), yaw=math.pi / 2).position - start_of(rig).position
    np.testing.assert_allclose(moved, [0.0, 0.1, 0.0], atol=1e-4)


def test_scales_apply_to_translation_and_rotation() -> None:
    config = ArmTeleopConfig(limbs={"right_arm": LimbConfig(scale=0.5, rotation_scale=0.25)})
    rig = Rig(config)
    before = start_of(rig)
    after = follow(rig, (0.1, 0.04, 0.0), (0.4, 0.0, 0.0))
    np.testing.assert_allclose(after.position - before.position, [0.05, 0.02, 0.0], atol=1e-4)
    rotated = quat_multiply(after.orientation, quat_conjugate(before.orientation))
    assert quat_distance(rotated, quat_exp([0.1, 0.0, 0.0])) < 1e-3


def test_the_waist_moves_the_torso_by_its_own_scale() -> None:
    rig = Rig(ArmTeleopConfig(limbs={"torso": LimbConfig(scale=0.5)}))
    first = rig.rest().targets["torso"]
    last = rig.rest(SETTLE, waist=(0.04, 0.0, -0.02)).targets["torso"]
    np.testing.assert_allclose(last.position - first.position, [0.02, 0.0, -0.01], atol=1e-4)


def test_the_torso_stays_where_only_arms_are_engaged() -> None:
    rig = Rig()
    rig.rest(engaged=("right_arm",))
    output = rig.rest(SETTLE, engaged=("right_arm",), waist=(0.05, 0.0, 0.0))
    assert output.states["torso"] is LimbState.IDLE
    assert "torso" not in output.targets
    assert Rule.NOT_ENGAGED in rules(output, "torso")


def test_opening_and_closing_the_clutch_moves_the_hand_without_the_tool() -> None:
    rig = Rig()
    rig.rest()
    before = rig.rest(SETTLE, right=(0.05, 0.0, 0.0)).targets["right_arm"].position
    rig.rest(SETTLE, engaged=("left_arm",), right=(-0.2, 0.1, 0.1))
    opened = rig.rest(engaged=ALL, right=(-0.2, 0.1, 0.1)).targets["right_arm"].position
    # The solver moves nothing, so the tool is still at its first pose.
    np.testing.assert_allclose(opened, start_of(rig).position, atol=1e-12)
    again = rig.rest(SETTLE, right=(-0.15, 0.1, 0.1)).targets["right_arm"].position
    np.testing.assert_allclose(again, before, atol=1e-4)


def test_limbs_can_be_given_as_a_mapping_or_a_set() -> None:
    rig = Rig()
    output = rig.rest(engaged={"right_arm": True, "left_arm": False, "base": True})
    assert set(output.following) == {"right_arm"}
    assert output.active


@pytest.mark.parametrize("frame", ["steamvr", "webxr"])
def test_steamvr_axes_give_what_ros_axes_give(frame: str) -> None:
    ros, other = Rig(), Rig()
    for k in range(120):
        offset, rotation = (0.001 * k, 0.0005 * k, -0.0002 * k), (0.003 * k, 0.0, 0.001 * k)
        poses = ros.poses(0.3) | {RIGHT: pose(RIGHT, ros.now, offset, rotation, 0.3)}
        converted = {
            role: Pose6D(
                ros2_to_webxr_position(each.position),
                ros2_to_webxr_quaternion(each.orientation),
                each.timestamp,
            )
            for role, each in poses.items()
        }
        expected, output = ros.tick(poses), other.tick(converted, frame=frame)
        for chain in ALL:
            np.testing.assert_array_equal(
                output.targets[chain].position, expected.targets[chain].position
            )
            np.testing.assert_array_equal(
                output.targets[chain].orientation, expected.targets[chain].orientation
            )


def test_an_unknown_frame_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="steamvr"):
        Rig().tick({}, frame="steam")


def test_a_target_out_of_reach_is_projected_onto_the_sphere() -> None:
    rig = Rig()
    rig.rest()
    shoulder = np.array([0.0, -0.22, 1.16497])  # Of the RB-Y1 in its ready pose.
    last = rig.rest(SETTLE)
    for k in range(1, 400):
        output = rig.rest(right=(0.005 * min(k, 200), 0.0, 0.0))
        # No faster than the hand and its smoothing.
        assert step_between(last, output, "right_arm") < 0.0065
        last = output
    away = last.targets["right_arm"].position - shoulder
    assert np.linalg.norm(away) == pytest.approx(0.97 * 0.66171 + 0.1, abs=1e-3)
    assert Rule.UNREACHABLE in rules(last, "right_arm")
    assert Rule.UNREACHABLE not in rules(last, "left_arm")


def test_targets_stay_in_the_workspace() -> None:
    box = WorkspaceBox((0.0, -1.0, 0.85), (0.4, 1.0, 1.5))
    rig = Rig(ArmTeleopConfig(limbs={"arm": LimbConfig(workspace=box)}))
    rig.rest()
    rig.glide(100, right=(0.2, 0.0, -0.3))
    output = rig.rest(SETTLE, right=(0.2, 0.0, -0.3))
    np.testing.assert_allclose(output.targets["right_arm"].position[[0, 2]], [0.4, 0.85])
    assert Rule.WORKSPACE in rules(output, "right_arm")


def test_stamps_are_those_of_the_samples() -> None:
    rig = Rig()
    rig.rest(5)
    late = rig.poses()
    late[LEFT] = pose(LEFT, rig.now - 0.004)
    output = rig.tick(late, ("left_arm", "right_arm"))
    assert output.stamps["left_arm"] == late[LEFT].timestamp
    assert output.stamps["right_arm"] == late[RIGHT].timestamp
    assert output.stamps["torso"] >= late[LEFT].timestamp


def test_nothing_moves_before_a_limb_is_engaged() -> None:
    rig = Rig(real=True)
    start = rig.joints
    output = rig.rest(20, engaged=(), right=(0.3, 0.0, 0.0))
    np.testing.assert_array_equal(output.positions, start)
    assert not output.active
    assert set(output.states.values()) == {LimbState.IDLE}


def test_waist_and_head_may_be_missing() -> None:
    rig = Rig()
    for _ in range(SETTLE):
        poses = rig.poses()
        del poses[WAIST]
        output = rig.tick(poses, ("right_arm", "left_arm"))
    assert set(output.following) == {"right_arm", "left_arm"}
