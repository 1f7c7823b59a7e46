# SPDX-License-Identifier: Apache-2.0
"""Plain floats give the same results as the transforms for arrays."""

import numpy as np
import pytest
from numpy.typing import ArrayLike

from teleop_system.utils import poses, transforms
from teleop_system.utils import quaternion_kernels as kernels
from teleop_system.utils.poses import PoseTuple
from teleop_system.utils.quaternion_kernels import Quaternion, Vector

RANDOM = np.random.default_rng(1)


def vector() -> Vector:
    x, y, z = RANDOM.normal(size=3).tolist()
    return x, y, z


def quaternion() -> Quaternion:
    x, y, z, w = transforms.quat_normalize(RANDOM.normal(size=4)).tolist()
    return x, y, z, w


def pose() -> PoseTuple:
    return vector(), quaternion()


@pytest.mark.parametrize("_", range(20))
def test_rotations_agree_with_the_array_functions(_: int) -> None:
    a, b, v = quaternion(), quaternion(), vector()
    pairs: list[tuple[ArrayLike, ArrayLike]] = [
        (kernels.multiply(a, b), transforms.quat_multiply(a, b)),
        (kernels.rotate(a, v), transforms.quat_rotate(a, v)),
        (kernels.rotation_vector(a), transforms.quat_log(a)),
        (kernels.from_rotation_vector(v), transforms.quat_exp(v)),
        (poses.angle_between(a, b), transforms.quat_distance(a, b)),
    ]
    for ours, theirs in pairs:
        np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), atol=1e-12)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_a_blend_lies_between_both_poses(share: float) -> None:
    a, b = pose(), pose()
    position, orientation = poses.blend(a, b, share)
    np.testing.assert_allclose(position, np.add(a[0], share * np.subtract(b[0], a[0])))
    assert transforms.quat_distance(orientation, transforms.quat_slerp(a[1], b[1], share)) < 1e-7


def test_a_pose_and_its_inverse_cancel() -> None:
    a = pose()
    position, orientation = poses.compose(a, poses.inverse(a))
    np.testing.assert_allclose(position, np.zeros(3), atol=1e-12)
    assert transforms.quat_angle(orientation) < 1e-7


@pytest.mark.parametrize("lean", [0.0, 0.7, -1.2])
def test_roll_and_pitch_do_not_change_the_heading(lean: float) -> None:
    orientation = transforms.quat_multiply(
        transforms.quat_exp([0.0, 0.0, 0.8]), transforms.quat_exp([0.0, lean, 0.0])
    )
    x, y, z, w = orientation.tolist()
    assert poses.heading_of((x, y, z, w)) == pytest.approx(0.8)
