# SPDX-License-Identifier: Apache-2.0
"""The quaternion algebra and rigid transforms, against SciPy and the laws of the groups."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation, Slerp

from teleop_system.exceptions import InvalidPoseError
from teleop_system.interfaces.master_device import Pose6D
from teleop_system.utils import transforms as tf

IDENTITY = np.array([0.0, 0.0, 0.0, 1.0])
EXACT = 1e-14  # A few dozen rounding errors of numbers near one.

components = st.floats(-1.0, 1.0, allow_nan=False)
directions = st.tuples(components, components, components).filter(lambda v: math.hypot(*v) > 1e-3)


def random_quaternions(*shape: int, seed: int = 0) -> NDArray[np.float64]:
    drawn = np.random.default_rng(seed).normal(size=(*shape, 4))
    return drawn / np.linalg.norm(drawn, axis=-1, keepdims=True)


def random_vectors(*shape: int, seed: int = 1) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(size=(*shape, 3))


def assert_same_rotation(a: NDArray[np.float64], b: NDArray[np.float64], atol: float) -> None:
    distance = np.minimum(np.abs(a - b).max(axis=-1), np.abs(a + b).max(axis=-1))
    assert np.all(distance <= atol), f"off by up to {distance.max()}"


def test_product_agrees_with_scipy() -> None:
    a, b = random_quaternions(200), random_quaternions(200, seed=2)
    expected = (Rotation.from_quat(a) * Rotation.from_quat(b)).as_quat()
    assert_same_rotation(tf.quat_multiply(a, b), expected, EXACT)


def test_product_is_associative() -> None:
    a, b, c = (random_quaternions(200, seed=seed) for seed in range(3))
    left = tf.quat_multiply(tf.quat_multiply(a, b), c)
    np.testing.assert_allclose(left, tf.quat_multiply(a, tf.quat_multiply(b, c)), atol=EXACT)


def test_identity_is_neutral_on_either_side() -> None:
    q = random_quaternions(50)
    np.testing.assert_array_equal(tf.quat_multiply(q, IDENTITY), q)
    np.testing.assert_array_equal(tf.quat_multiply(IDENTITY, q), q)


def test_product_with_the_inverse_is_the_identity_at_any_length() -> None:
    q = 3.7 * random_quaternions(50)
    identities = np.broadcast_to(IDENTITY, (50, 4))
    np.testing.assert_allclose(tf.quat_multiply(q, tf.quat_inverse(q)), identities, atol=EXACT)
    np.testing.assert_allclose(tf.quat_multiply(tf.quat_inverse(q), q), identities, atol=EXACT)


def test_conjugate_is_the_inverse_of_a_unit_quaternion() -> None:
    q = random_quaternions(50)
    np.testing.assert_allclose(tf.quat_conjugate(q), tf.quat_inverse(q), atol=EXACT)


def test_normalised_quaternion_has_unit_length_and_the_same_direction() -> None:
    q = random_quaternions(50)
    np.testing.assert_allclose(tf.quat_normalize(1e-5 * q), q, atol=EXACT)


def test_canonical_form_is_the_same_for_both_signs() -> None:
    q = random_quaternions(50)
    np.testing.assert_array_equal(tf.quat_canonical(q), tf.quat_canonical(-q))
    assert np.all(tf.quat_canonical(q)[:, 3] >= 0.0)


def test_rotated_vectors_agree_with_scipy() -> None:
    q, v = random_quaternions(200), random_vectors(200)
    np.testing.assert_allclose(tf.quat_rotate(q, v), Rotation.from_quat(q).apply(v), atol=EXACT)


def test_length_of_the_quaternion_does_not_change_the_rotation() -> None:
    q, v = random_quaternions(20), random_vectors(20)
    np.testing.assert_allclose(tf.quat_rotate(9.0 * q, v), tf.quat_rotate(q, v), atol=EXACT)
    np.testing.assert_allclose(tf.quat_to_matrix(9.0 * q), tf.quat_to_matrix(q), atol=EXACT)


def test_90_degrees_about_z_rotate_x_to_y() -> None:
    quarter = [0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5)]
    np.testing.assert_allclose(tf.quat_rotate(quarter, [1.0, 0.0, 0.0]), [0, 1, 0], atol=EXACT)


def test_matrix_agrees_with_scipy() -> None:
    q = random_quaternions(200)
    np.testing.assert_allclose(tf.quat_to_matrix(q), Rotation.from_quat(q).as_matrix(), atol=EXACT)


@pytest.mark.parametrize("axis", range(4))
def test_matrix_gives_the_quaternion_back_whichever_component_is_largest(axis: int) -> None:
    q = random_quaternions(50, seed=axis)
    q[:, axis] += 3.0
    q = tf.quat_canonical(tf.quat_normalize(q))
    batch = tf.quat_from_matrix(tf.quat_to_matrix(q))
    np.testing.assert_allclose(batch, q, atol=EXACT)
    single = [tf.quat_from_matrix(tf.quat_to_matrix(row)) for row in q]
    np.testing.assert_allclose(single, q, atol=EXACT)


def test_rotations_by_180_degrees_are_unchanged_after_conversion_to_a_matrix_and_back() -> None:
    half_turns = np.eye(4)[:3]
    assert_same_rotation(tf.quat_from_matrix(tf.quat_to_matrix(half_turns)), half_turns, EXACT)


@pytest.mark.parametrize(
    "matrix",
    [
        np.diag([1.0, 1.0, -1.0]),
        2.0 * np.eye(3),
        np.array([[1.0, 0.1, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        np.full((3, 3), np.nan),
        np.zeros((3, 3)),
    ],
    ids=["reflection", "scaled", "sheared", "nan", "zero"],
)
def test_matrix_that_is_not_a_rotation_is_refused(matrix: NDArray[np.float64]) -> None:
    with pytest.raises(InvalidPoseError, match="not a rotation"):
        tf.quat_from_matrix(matrix)
    with pytest.raises(InvalidPoseError, match="not a rotation"):
        tf.quat_from_matrix(np.stack((np.eye(3), matrix)))


def test_single_precision_matrix_is_accepted() -> None:
    q = tf.quat_canonical(random_quaternions(20))
    rounded = tf.quat_to_matrix(q).astype(np.float32)
    np.testing.assert_allclose(tf.quat_from_matrix(rounded), q, atol=1e-6)


def test_distance_between_two_rotations_agrees_with_scipy() -> None:
    a, b = random_quaternions(200), random_quaternions(200, seed=5)
    expected = (Rotation.from_quat(a).inv() * Rotation.from_quat(b)).magnitude()
    np.testing.assert_allclose(tf.quat_distance(a, b), expected, atol=1e-13)


@pytest.mark.parametrize("angle", [1e-300, 1e-12, 1e-3, 1.0, math.pi - 1e-9, math.pi])
def test_angle_of_a_small_rotation_is_accurate(angle: float) -> None:
    rotation = tf.quat_exp([0.0, angle, 0.0])
    assert float(tf.quat_angle(rotation)) == pytest.approx(angle, rel=1e-14)


@settings(derandomize=True, deadline=None)
@given(direction=directions, exponent=st.floats(-200.0, 0.0))
def test_log_inverts_exp_at_every_scale(direction: tuple[float, ...], exponent: float) -> None:
    axis = np.array(direction) / math.hypot(*direction)
    vector = axis * 3.14 * 10.0**exponent
    # Below the smallest normal number, the number format loses digits.
    tiny = np.finfo(np.float64).tiny
    np.testing.assert_allclose(tf.quat_log(tf.quat_exp(vector)), vector, rtol=1e-12, atol=tiny)


@settings(derandomize=True, deadline=None)
@given(direction=directions, exponent=st.floats(-16.0, -1.0))
def test_log_is_exact_near_180_degrees(direction: tuple[float, ...], exponent: float) -> None:
    axis = np.array(direction) / math.hypot(*direction)
    vector = axis * (math.pi - 10.0**exponent)
    recovered = tf.quat_log(tf.quat_exp(vector))
    # At pi both directions of the axis are right.
    assert min(np.abs(recovered - vector).max(), np.abs(recovered + vector).max()) < 1e-13


def test_exp_and_log_agree_with_scipy() -> None:
    vectors = random_vectors(200)
    expected = Rotation.from_rotvec(vectors)
    assert_same_rotation(tf.quat_exp(vectors), expected.as_quat(), EXACT)
    q = random_quaternions(200)
    np.testing.assert_allclose(tf.quat_log(q), Rotation.from_quat(q).as_rotvec(), atol=1e-13)


def test_log_is_the_shorter_rotation_for_either_sign() -> None:
    q = random_quaternions(50)
    np.testing.assert_allclose(tf.quat_log(q), tf.quat_log(-q), atol=1e-13)
    assert np.all(np.linalg.norm(tf.quat_log(q), axis=-1) <= math.pi)


def test_log_of_the_identity_is_zero_alone_and_in_a_batch() -> None:
    np.testing.assert_array_equal(tf.quat_log(IDENTITY), np.zeros(3))
    np.testing.assert_array_equal(tf.quat_log([IDENTITY, -IDENTITY]), np.zeros((2, 3)))
    np.testing.assert_array_equal(tf.quat_exp(np.zeros(3)), IDENTITY)
    np.testing.assert_array_equal(tf.quat_exp(np.zeros((2, 3))), [IDENTITY, IDENTITY])


def test_slerp_agrees_with_scipy() -> None:
    ends = random_quaternions(2, seed=3)
    fractions = np.linspace(0.0, 1.0, 11)
    expected = Slerp([0.0, 1.0], Rotation.from_quat(ends))(fractions).as_quat()
    assert_same_rotation(tf.quat_slerp(ends[0], ends[1], fractions), expected, EXACT)


def test_slerp_uses_the_shorter_rotation_for_any_signs() -> None:
    start, end = tf.quat_exp([0.0, 0.0, 0.1]), -tf.quat_exp([0.0, 0.0, 0.3])
    middle = tf.quat_slerp(start, end, 0.5)
    np.testing.assert_allclose(tf.quat_log(middle), [0.0, 0.0, 0.2], atol=EXACT)


@pytest.mark.parametrize("gap", [0.0, 1e-300, 1e-20, 1e-9, 1e-4])
def test_slerp_between_nearly_equal_rotations_is_proportional(gap: float) -> None:
    start, end = IDENTITY, tf.quat_exp([gap, 0.0, 0.0])
    quarter = tf.quat_log(tf.quat_slerp(start, end, 0.25))
    # Below 1e-16 the ends differ by less than one rounding of their scalar parts.
    np.testing.assert_allclose(quarter, [0.25 * gap, 0.0, 0.0], rtol=1e-9, atol=0.0)


def test_average_ignores_signs_and_reduces_noise() -> None:
    rng = np.random.default_rng(7)
    centre = random_quaternions(1, seed=8)[0]
    noisy = tf.quat_multiply(centre, tf.quat_exp(rng.normal(scale=0.05, size=(2000, 3))))
    noisy *= rng.choice([-1.0, 1.0], size=(2000, 1))
    # The mean of 2000 draws of 0.05 rad scatters by 0.05 / sqrt(2000) = 1.1e-3 rad an axis.
    assert float(tf.quat_distance(tf.quat_average(noisy), centre)) < 5e-3


def test_weighted_average_is_nearer_to_the_heavier_rotation() -> None:
    ends = tf.quat_exp([[0.0, 0.0, 0.0], [0.0, 0.0, 0.2]])
    mean = tf.quat_log(tf.quat_average(ends, [1.0, 3.0]))
    expected = Rotation.from_quat(ends).mean([1.0, 3.0]).as_rotvec()
    np.testing.assert_allclose(mean, expected, atol=EXACT)


def test_euler_angles_agree_with_the_extrinsic_ones_of_scipy() -> None:
    q = random_quaternions(200)
    np.testing.assert_allclose(
        tf.quat_to_euler(q), Rotation.from_quat(q).as_euler("xyz"), atol=1e-13
    )
    angles = random_vectors(200)
    assert_same_rotation(
        tf.euler_to_quat(angles), Rotation.from_euler("xyz", angles).as_quat(), EXACT
    )


def test_euler_angles_are_roll_pitch_and_yaw() -> None:
    np.testing.assert_allclose(
        tf.quat_to_euler(tf.euler_to_quat(0.1, -0.2, 0.3)), [0.1, -0.2, 0.3], atol=EXACT
    )


@pytest.mark.parametrize("offset", [0.0, 1e-15, 1e-10, 1e-7, 1e-3])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_euler_angles_describe_the_same_rotation_near_gimbal_lock(
    offset: float, sign: float
) -> None:
    q = tf.euler_to_quat(0.7, sign * (0.5 * math.pi - offset), -0.4)
    recovered = tf.euler_to_quat(tf.quat_to_euler(q))
    assert_same_rotation(recovered, q, 1e-12)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_yaw_is_zero_in_gimbal_lock(sign: float) -> None:
    q = tf.euler_to_quat(0.7, sign * 0.5 * math.pi, -0.4)
    roll, pitch, yaw = tf.quat_to_euler(q)
    assert yaw == 0.0
    assert roll == pytest.approx(0.7 + sign * 0.4)
    assert pitch == pytest.approx(sign * 0.5 * math.pi)


def test_other_euler_conventions_are_refused_by_name() -> None:
    with pytest.raises(InvalidPoseError, match="'rzyx'"):
        tf.quat_to_euler(IDENTITY, axes="rzyx")
    with pytest.raises(InvalidPoseError, match="'rzyx'"):
        tf.euler_to_quat(0.0, 0.0, 0.0, axes="rzyx")


def test_two_euler_angles_are_refused() -> None:
    with pytest.raises(InvalidPoseError, match="got 2 values"):
        tf.euler_to_quat(0.0, 0.0)


def test_pose_and_matrix_convert_into_each_other() -> None:
    position, q = random_vectors(4, 5), tf.quat_canonical(random_quaternions(4, 5))
    matrix = tf.pose_to_homogeneous(position, q)
    assert matrix.shape == (4, 5, 4, 4)
    back_position, back_q = tf.homogeneous_to_pose(matrix)
    np.testing.assert_array_equal(back_position, position)
    np.testing.assert_allclose(back_q, q, atol=EXACT)


def test_pose_object_gives_the_matrix_of_its_position_and_orientation() -> None:
    pose = Pose6D(np.array([1.0, 2.0, 3.0]), tf.quat_exp([0.1, 0.2, 0.3]))
    expected = tf.pose_to_homogeneous(pose.position, pose.orientation)
    np.testing.assert_array_equal(tf.pose_to_homogeneous(pose), expected)
    np.testing.assert_array_equal(expected[3], [0.0, 0.0, 0.0, 1.0])


def test_matrix_product_transforms_points_as_the_quaternion_does() -> None:
    position, q, point = random_vectors(1)[0], random_quaternions(1)[0], [0.3, -0.2, 0.9]
    moved = tf.pose_to_homogeneous(position, q) @ [*point, 1.0]
    np.testing.assert_allclose(moved[:3], tf.quat_rotate(q, point) + position, atol=EXACT)


def test_product_of_a_transform_and_its_inverse_is_the_identity() -> None:
    matrix = tf.pose_to_homogeneous(random_vectors(20), random_quaternions(20))
    identity = np.broadcast_to(np.eye(4), (20, 4, 4))
    np.testing.assert_allclose(tf.homogeneous_inverse(matrix) @ matrix, identity, atol=EXACT)


def test_a_position_without_orientation_is_refused() -> None:
    with pytest.raises(InvalidPoseError, match="position and a quaternion"):
        tf.pose_to_homogeneous([1.0, 2.0, 3.0])  # type: ignore[call-overload]


UNARY = {
    "conjugate": tf.quat_conjugate,
    "inverse": tf.quat_inverse,
    "normalize": tf.quat_normalize,
    "canonical": tf.quat_canonical,
    "matrix": tf.quat_to_matrix,
    "angle": tf.quat_angle,
    "log": tf.quat_log,
    "euler": tf.quat_to_euler,
}
MEANINGLESS = ["inverse", "normalize", "matrix", "angle", "log", "euler"]


@pytest.mark.parametrize("name", UNARY)
def test_a_batch_of_any_shape_agrees_with_single_quaternions(name: str) -> None:
    q = random_quaternions(2, 3)
    batch = UNARY[name](q)
    for index in np.ndindex(2, 3):
        np.testing.assert_allclose(batch[index], UNARY[name](q[index]), atol=EXACT)


@pytest.mark.parametrize("function", [tf.quat_multiply, tf.quat_distance])
def test_leading_axes_of_two_quaternions_broadcast(function) -> None:  # type: ignore[no-untyped-def]
    a, b = random_quaternions(3, 1), random_quaternions(4)
    batch = function(a, b)
    assert batch.shape[:2] == (3, 4)
    for i, j in np.ndindex(3, 4):
        np.testing.assert_allclose(batch[i, j], function(a[i, 0], b[j]), atol=EXACT)


def test_one_quaternion_rotates_many_vectors() -> None:
    q, v = random_quaternions(1)[0], random_vectors(6)
    np.testing.assert_allclose(
        tf.quat_rotate(q, v), [tf.quat_rotate(q, row) for row in v], atol=EXACT
    )


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("shape", [(), (3,), (5,), (4, 3), (0,)])
def test_wrong_number_of_components_is_refused(name: str, shape: tuple[int, ...]) -> None:
    with pytest.raises(InvalidPoseError, match="quaternion needs 4 numbers"):
        UNARY[name](np.ones(shape))


@pytest.mark.parametrize("name", MEANINGLESS)
@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf])
def test_quaternion_that_is_not_a_rotation_is_refused(name: str, bad: float) -> None:
    with pytest.raises(InvalidPoseError, match="finite numbers that are not all zero"):
        UNARY[name](np.full(4, bad))
    with pytest.raises(InvalidPoseError, match="finite numbers that are not all zero"):
        UNARY[name]([IDENTITY, np.full(4, bad)])


def test_empty_batch_gives_an_empty_batch() -> None:
    empty = np.empty((0, 4))
    assert tf.quat_multiply(empty, empty).shape == (0, 4)
    assert tf.quat_from_matrix(np.empty((0, 3, 3))).shape == (0, 4)
