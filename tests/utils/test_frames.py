# SPDX-License-Identifier: Apache-2.0
"""The conventions of headsets, simulators, motion files and cameras, checked by hand."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from teleop_system.exceptions import InvalidPoseError
from teleop_system.utils import transforms as tf

EXACT = 1e-14
Convert = Callable[[ArrayLike], NDArray[np.float64]]

# Rows: forward, left and up of ROS, in the axes of the other convention.
STEAMVR_AXES = np.array([[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
BVH_AXES = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
OPTICAL_AXES = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])

POSITIONS: list[tuple[Convert, Convert, NDArray[np.float64]]] = [
    (tf.steamvr_to_ros2_position, tf.ros2_to_steamvr_position, STEAMVR_AXES),
    (tf.webxr_to_ros2_position, tf.ros2_to_webxr_position, STEAMVR_AXES),
    (tf.bvh_to_ros2_position, tf.ros2_to_bvh_position, BVH_AXES),
    (tf.optical_to_camera_position, tf.camera_to_optical_position, OPTICAL_AXES),
]
ORIENTATIONS: list[tuple[Convert, Convert, bool, NDArray[np.float64]]] = [
    (tf.steamvr_to_ros2_quaternion, tf.ros2_to_steamvr_quaternion, True, STEAMVR_AXES),
    (tf.webxr_to_ros2_quaternion, tf.ros2_to_webxr_quaternion, False, STEAMVR_AXES),
    (tf.bvh_to_ros2_quaternion, tf.ros2_to_bvh_quaternion, True, BVH_AXES),
    (tf.mujoco_to_ros2_quaternion, tf.ros2_to_mujoco_quaternion, True, np.eye(3)),
]


def random_xyzw(*shape: int) -> NDArray[np.float64]:
    drawn = np.random.default_rng(0).normal(size=(*shape, 4))
    return drawn / np.linalg.norm(drawn, axis=-1, keepdims=True)


@pytest.mark.parametrize(("to_ros", "from_ros", "axes"), POSITIONS)
def test_forward_left_and_up_become_the_axes_of_ros(
    to_ros: Convert, from_ros: Convert, axes: NDArray[np.float64]
) -> None:
    np.testing.assert_array_equal(to_ros(axes), np.eye(3))
    for axis, expected in zip(axes, np.eye(3), strict=True):
        np.testing.assert_array_equal(to_ros(axis), expected)


@pytest.mark.parametrize(("to_ros", "from_ros", "axes"), POSITIONS)
def test_position_is_unchanged_after_conversion_there_and_back(
    to_ros: Convert, from_ros: Convert, axes: NDArray[np.float64]
) -> None:
    points = np.random.default_rng(1).normal(size=(3, 5, 3))
    np.testing.assert_array_equal(from_ros(to_ros(points)), points)
    np.testing.assert_array_equal(to_ros(from_ros(points[0, 0])), points[0, 0])


@pytest.mark.parametrize(("to_ros", "from_ros", "scalar_first", "axes"), ORIENTATIONS)
def test_orientation_is_the_rotation_in_the_axes_of_ros(
    to_ros: Convert, from_ros: Convert, scalar_first: bool, axes: NDArray[np.float64]
) -> None:
    xyzw = random_xyzw(20)
    given = np.roll(xyzw, 1, axis=-1) if scalar_first else xyzw
    expected = axes @ Rotation.from_quat(xyzw).as_matrix() @ axes.T
    np.testing.assert_allclose(tf.quat_to_matrix(to_ros(given)), expected, atol=EXACT)


@pytest.mark.parametrize(("to_ros", "from_ros", "scalar_first", "axes"), ORIENTATIONS)
def test_orientation_is_unchanged_after_conversion_there_and_back(
    to_ros: Convert, from_ros: Convert, scalar_first: bool, axes: NDArray[np.float64]
) -> None:
    q = random_xyzw(2, 3)
    np.testing.assert_array_equal(from_ros(to_ros(q)), q)
    np.testing.assert_array_equal(to_ros(from_ros(q[0, 0])), q[0, 0])


@pytest.mark.parametrize("convert", [row[index] for row in ORIENTATIONS for index in (0, 1)])
def test_wrong_quaternion_shape_is_refused(convert: Convert) -> None:
    with pytest.raises(InvalidPoseError, match=r"needs 4 numbers, got shape \(3,\)"):
        convert([0.0, 0.0, 1.0])


def test_one_metre_ahead_of_a_headset_is_one_metre_along_x() -> None:
    np.testing.assert_array_equal(tf.steamvr_to_ros2_position([0.0, 0.0, -1.0]), [1, 0, 0])


def test_rotation_of_a_headset_to_the_left_is_positive_yaw() -> None:
    # A rotation to the left is positive about the upward axis, here y: wxyz, scalar first.
    left = [math.cos(0.25), 0.0, math.sin(0.25), 0.0]
    np.testing.assert_allclose(
        tf.quat_to_euler(tf.steamvr_to_ros2_quaternion(left)), [0.0, 0.0, 0.5], atol=EXACT
    )


def test_tracker_at_rest_is_the_identity() -> None:
    np.testing.assert_array_equal(
        tf.steamvr_to_ros2_quaternion([1.0, 0.0, 0.0, 0.0]), [0.0, 0.0, 0.0, 1.0]
    )


def test_openvr_matrix_gives_position_and_orientation_of_ros() -> None:
    rotation = Rotation.from_rotvec([0.0, 0.5, 0.0]).as_matrix()
    matrix = np.column_stack((rotation, [1.0, 2.0, -3.0]))
    position, q = tf.openvr_matrix_to_ros2(matrix)
    np.testing.assert_array_equal(position, [3.0, -1.0, 2.0])
    np.testing.assert_allclose(tf.quat_log(q), [0.0, 0.0, 0.5], atol=EXACT)


def test_openvr_matrices_convert_in_a_batch() -> None:
    rotations = Rotation.from_quat(random_xyzw(6)).as_matrix()
    matrices = np.concatenate((rotations, np.ones((6, 3, 1))), axis=-1)
    positions, quaternions = tf.openvr_matrix_to_ros2(matrices)
    assert positions.shape == (6, 3)
    expected = STEAMVR_AXES @ rotations @ STEAMVR_AXES.T
    np.testing.assert_allclose(tf.quat_to_matrix(quaternions), expected, atol=1e-13)


def test_openvr_matrix_with_a_lost_position_is_refused() -> None:
    matrix = np.column_stack((np.eye(3), [np.nan, 0.0, 0.0]))
    with pytest.raises(InvalidPoseError, match="finite"):
        tf.openvr_matrix_to_ros2(matrix)


def test_bvh_position_is_scaled_to_metres() -> None:
    # Left 1, up 2, forward 3 inches.
    np.testing.assert_allclose(
        tf.bvh_to_ros2_position([1.0, 2.0, 3.0], scale=0.0254), [0.0762, 0.0254, 0.0508]
    )
    np.testing.assert_allclose(
        tf.ros2_to_bvh_position([0.0762, 0.0254, 0.0508], scale=0.0254), [1.0, 2.0, 3.0]
    )


def test_bvh_quaternion_is_converted_as_in_the_contract() -> None:
    np.testing.assert_array_equal(
        tf.bvh_to_ros2_quaternion([0.1, 0.2, 0.3, 0.4]), [0.4, 0.2, 0.3, 0.1]
    )


@pytest.mark.parametrize("scale", [0.0, -1.0, math.nan])
def test_length_of_a_bvh_unit_must_be_positive(scale: float) -> None:
    with pytest.raises(InvalidPoseError, match="positive"):
        tf.ros2_to_bvh_position([1.0, 0.0, 0.0], scale=scale)


def test_optical_frame_is_rotated_as_in_rep_103() -> None:
    rep_103 = tf.euler_to_quat(-0.5 * math.pi, 0.0, -0.5 * math.pi)
    np.testing.assert_allclose(tf.OPTICAL_IN_CAMERA, rep_103, atol=EXACT)


def test_point_and_orientation_of_the_optical_frame_agree() -> None:
    camera, point = random_xyzw(1)[0], np.array([0.3, -0.2, 2.0])
    through_optical = tf.quat_rotate(tf.camera_to_optical_quaternion(camera), point)
    through_camera = tf.quat_rotate(camera, tf.optical_to_camera_position(point))
    np.testing.assert_allclose(through_optical, through_camera, atol=EXACT)


def test_camera_orientation_is_unchanged_after_conversion_to_the_optical_frame_and_back() -> None:
    q = random_xyzw(10)
    back = tf.optical_to_camera_quaternion(tf.camera_to_optical_quaternion(q))
    np.testing.assert_allclose(back, q, atol=EXACT)


def test_opengl_camera_looks_where_its_optical_frame_looks() -> None:
    camera = random_xyzw(1)[0]
    optical = tf.opengl_to_optical_quaternion(camera)
    ahead = tf.quat_rotate(camera, [0.0, 0.0, -1.0])
    np.testing.assert_allclose(tf.quat_rotate(optical, [0.0, 0.0, 1.0]), ahead, atol=EXACT)
    upward = tf.quat_rotate(camera, [0.0, 1.0, 0.0])
    np.testing.assert_allclose(tf.quat_rotate(optical, [0.0, -1.0, 0.0]), upward, atol=EXACT)


def test_opengl_matrix_and_quaternion_give_one_optical_frame() -> None:
    q = random_xyzw(5)
    np.testing.assert_allclose(
        tf.opengl_to_optical_matrix(tf.quat_to_matrix(q)),
        tf.quat_to_matrix(tf.opengl_to_optical_quaternion(q)),
        atol=EXACT,
    )
