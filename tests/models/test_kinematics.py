# SPDX-License-Identifier: Apache-2.0
"""Both descriptions of every robot put its frames where the published figures say.

The figures are rounded to six decimals (5e-7), and so are the joint angles of the random poses,
which adds up to 5e-7 per joint and metre of lever: together they stay below 1e-6.
"""

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

from tests.models import figures
from tests.models.loading import (
    BODY,
    HEAD,
    RIGHT_ARM,
    TORSO,
    MuJoCoRobot,
    PinocchioRobot,
    hand_joints,
    matrix_of,
)

ROUNDING = 1e-6

# Chain from the base to the right flange: joint, offset from the parent [m], axis.
RIGHT_CHAIN = (
    ("torso_0", (0, 0, 0.2805), (1, 0, 0)),
    ("torso_1", (0, 0, 0), (0, 1, 0)),
    ("torso_2", (0, 0, 0.35), (0, 1, 0)),
    ("torso_3", (0, 0, 0.35), (0, 1, 0)),
    ("torso_4", (0, 0, 0), (1, 0, 0)),
    ("torso_5", (0, 0, 0.309426548461), (0, 0, 1)),
    ("right_arm_0", (0, -0.22, 0.080073451539), (0, 0.93969262, -0.34202014)),
    ("right_arm_1", (0, 0, 0), (1, 0, 0)),
    ("right_arm_2", (0, 0, 0), (0, 0, 1)),
    ("right_arm_3", (0.031, 0, -0.276), (0, 1, 0)),
    ("right_arm_4", (-0.031, 0, -0.256), (0, 0, 1)),
    ("right_arm_5", (0, 0, 0), (0, 1, 0)),
    ("right_arm_6", (0, 0, 0), (0, 0, 1)),
)
FLANGE = (0, 0, -0.1261)
MIRROR = np.diag([1.0, -1.0, 1.0])
HAND_SIGNS = np.array([-1, -1, -1, -1, *[-1, 1, 1, 1] * 3, -1, -1, 1, 1], dtype=float)


def assert_quaternion(rotation: NDArray[np.float64], xyzw: tuple[float, ...]) -> None:
    wxyz = np.empty(4)
    mujoco.mju_mat2Quat(wxyz, rotation.flatten())
    measured = wxyz[[1, 2, 3, 0]] * np.sign(wxyz @ np.array([xyzw[3], *xyzw[:3]]))
    np.testing.assert_allclose(measured, xyzw, atol=ROUNDING)


@pytest.mark.parametrize("pose", figures.RBY1_FRAMES)
def test_mjcf_frames_are_where_published(rby1: MuJoCoRobot, pose: str) -> None:
    rby1.set_joints(figures.RBY1_POSES[pose])
    for frame, (position, quaternion) in figures.RBY1_FRAMES[pose].items():
        measured, rotation = rby1.pose(frame)
        np.testing.assert_allclose(measured, position, atol=ROUNDING, err_msg=frame)
        assert_quaternion(rotation, quaternion)


@pytest.mark.parametrize("pose", figures.RBY1_FRAMES)
def test_urdf_frames_are_where_published(rby1_urdf: PinocchioRobot, pose: str) -> None:
    rby1_urdf.set_joints(figures.RBY1_POSES[pose])
    for frame, (position, quaternion) in figures.RBY1_FRAMES[pose].items():
        measured, rotation = rby1_urdf.pose(frame)
        np.testing.assert_allclose(measured, position, atol=ROUNDING, err_msg=frame)
        assert_quaternion(rotation, quaternion)


@pytest.mark.parametrize("pose", figures.RBY1_CENTRES)
def test_centre_of_mass_is_where_published(rby1: MuJoCoRobot, pose: str) -> None:
    rby1.set_joints(figures.RBY1_POSES[pose])
    np.testing.assert_allclose(rby1.data.subtree_com[0], figures.RBY1_CENTRES[pose], atol=ROUNDING)


@pytest.mark.parametrize("pose", figures.RBY1_HOLDING_TORQUES)
def test_holding_torques_are_as_published(rby1_urdf: PinocchioRobot, pose: str) -> None:
    model, data = rby1_urdf.model, rby1_urdf.data
    q = rby1_urdf.configuration(figures.RBY1_POSES[pose])
    gravity = pin.computeGeneralizedGravity(model, data, q)
    measured = [gravity[model.joints[model.getJointId(name)].idx_v] for name in BODY]
    # Four decimals printed; six-decimal angles move 305 N.m by up to another 1e-4.
    np.testing.assert_allclose(measured, figures.RBY1_HOLDING_TORQUES[pose], atol=2e-4)


def test_simulated_gravity_is_that_of_the_urdf(
    rby1: MuJoCoRobot, rby1_urdf: PinocchioRobot
) -> None:
    pose = figures.RBY1_POSES["random_1"]
    rby1.set_joints(pose)
    gravity = pin.computeGeneralizedGravity(
        rby1_urdf.model, rby1_urdf.data, rby1_urdf.configuration(pose)
    )
    for name in BODY:
        expected = gravity[rby1_urdf.model.joints[rby1_urdf.model.getJointId(name)].idx_v]
        assert rby1.data.joint(name).qfrc_bias[0] == pytest.approx(expected, abs=1e-6)


def test_the_right_flange_agrees_with_the_chain_computed_by_hand(rby1: MuJoCoRobot) -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        angles = dict(zip(TORSO + RIGHT_ARM, rng.uniform(-1.5, 1.5, 13), strict=True))
        position, rotation = np.zeros(3), np.eye(3)
        for joint, offset, axis in RIGHT_CHAIN:
            position = position + rotation @ offset
            rotation = rotation @ pin.exp3(np.array(axis, dtype=float) * angles[joint])
        position = position + rotation @ FLANGE
        rby1.set_joints(angles)
        measured, measured_rotation = rby1.pose("ee_right")
        # MuJoCo normalises the shoulder axis, which is published with eight decimals.
        np.testing.assert_allclose(measured, position, atol=1e-8)
        np.testing.assert_allclose(measured_rotation, rotation, atol=1e-8)


@pytest.mark.parametrize(("side", "pose"), figures.DG5F_TIPS)
def test_hand_tips_are_where_published(side: str, pose: str) -> None:
    joints = figures.DG5F_FLEXED[side] if pose == "flexed" else {}
    hands = MuJoCoRobot(f"dg5f_{side}"), PinocchioRobot(f"dg5f_{side}")
    for hand in hands:
        hand.set_joints(joints)
        origin, _ = hand.pose(f"{side[0]}l_dg_mount")
        for frame, (position, quaternion) in figures.DG5F_TIPS[side, pose].items():
            measured, rotation = hand.pose(frame)
            np.testing.assert_allclose(measured - origin, position, atol=ROUNDING, err_msg=frame)
            assert_quaternion(rotation, quaternion)


def test_left_hand_mirrors_the_right() -> None:
    right, left = MuJoCoRobot("dg5f_right"), MuJoCoRobot("dg5f_left")
    rng = np.random.default_rng(2)
    low, high = right.model.jnt_range.T
    for _ in range(100):
        q = rng.uniform(low, high)
        right.set_joints(dict(zip(hand_joints("right"), q, strict=True)))
        left.set_joints(dict(zip(hand_joints("left"), HAND_SIGNS * q, strict=True)))
        for finger in range(1, 6):
            position, rotation = right.pose(f"rl_dg_{finger}_tip")
            mirrored, mirrored_rotation = left.pose(f"ll_dg_{finger}_tip")
            np.testing.assert_allclose(mirrored, MIRROR @ position, atol=1e-12)
            np.testing.assert_allclose(mirrored_rotation, MIRROR @ rotation @ MIRROR, atol=1e-12)


def test_limits_of_the_left_hand_mirror_the_right() -> None:
    right, left = MuJoCoRobot("dg5f_right").model, MuJoCoRobot("dg5f_left").model
    mirrored = np.sort(HAND_SIGNS[:, None] * right.jnt_range, axis=1)
    np.testing.assert_array_equal(left.jnt_range, mirrored)


def test_palms_face_each_other_with_thumbs_forward_when_the_arms_hang(
    rby1_dg5f: MuJoCoRobot,
) -> None:
    rby1_dg5f.set_joints({})
    for side, sign in (("right", 1.0), ("left", -1.0)):
        _, rotation = rby1_dg5f.pose(f"{side[0]}l_dg_mount")
        palm, thumb, fingers = rotation[:, 0], sign * rotation[:, 1], rotation[:, 2]
        np.testing.assert_allclose(palm, [0.0, sign, 0.0], atol=1e-12)
        np.testing.assert_allclose(thumb, [1.0, 0.0, 0.0], atol=1e-12)
        np.testing.assert_allclose(fingers, [0.0, 0.0, -1.0], atol=1e-12)


def test_camera_looks_along_x_of_its_frame_and_tilts_down_with_a_positive_angle(
    rby1: MuJoCoRobot,
) -> None:
    rby1.set_joints({HEAD[1]: 0.3})
    _, frame = rby1.pose("head_camera")
    camera = rby1.data.camera("head_camera")
    view = -camera.xmat.reshape(3, 3)[:, 2]
    np.testing.assert_allclose(view, frame[:, 0], atol=1e-12)
    np.testing.assert_allclose(view, [np.cos(0.3), 0.0, -np.sin(0.3)], atol=1e-12)


def test_optical_frame_of_the_urdf_looks_along_its_z(rby1_urdf: PinocchioRobot) -> None:
    rby1_urdf.set_joints({})
    _, rotation = rby1_urdf.pose("head_camera_optical")
    np.testing.assert_allclose(rotation, matrix_of((-0.5, 0.5, -0.5, 0.5)), atol=1e-12)
