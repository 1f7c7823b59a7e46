# SPDX-License-Identifier: Apache-2.0
"""Plain floats give what the transforms for arrays give."""

import numpy as np
import pytest
from numpy.typing import ArrayLike

from teleop_system.modules.arm_teleop import spatial
from teleop_system.modules.arm_teleop.limbs.limb_mapping import LimbMapping
from teleop_system.modules.arm_teleop.spatial import Placement, Quaternion, Vector
from teleop_system.utils import transforms

RANDOM = np.random.default_rng(1)


def vector() -> Vector:
    x, y, z = RANDOM.normal(size=3).tolist()
    return x, y, z


def quaternion() -> Quaternion:
    x, y, z, w = transforms.quat_normalize(RANDOM.normal(size=4)).tolist()
    return x, y, z, w


def placement() -> Placement:
    return vector(), quaternion()


@pytest.mark.parametrize("_", range(20))
def test_rotations_agree_with_those_of_arrays(_: int) -> None:
    a, b, v = quaternion(), quaternion(), vector()
    pairs: list[tuple[ArrayLike, ArrayLike]] = [
        (spatial.multiply(a, b), transforms.quat_multiply(a, b)),
        (spatial.rotate(a, v), transforms.quat_rotate(a, v)),
        (spatial.rotation_vector(a), transforms.quat_log(a)),
        (spatial.from_rotation_vector(v), transforms.quat_exp(v)),
        (spatial.angle_between(a, b), transforms.quat_distance(a, b)),
    ]
    for ours, theirs in pairs:
        np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), atol=1e-12)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_a_blend_lies_on_the_way(share: float) -> None:
    a, b = placement(), placement()
    position, turn = spatial.blend(a, b, share)
    np.testing.assert_allclose(position, np.add(a[0], share * np.subtract(b[0], a[0])))
    assert transforms.quat_distance(turn, transforms.quat_slerp(a[1], b[1], share)) < 1e-7


def test_a_placement_and_its_inverse_cancel() -> None:
    a = placement()
    position, turn = spatial.compose(a, spatial.inverse(a))
    np.testing.assert_allclose(position, np.zeros(3), atol=1e-12)
    assert transforms.quat_angle(turn) < 1e-7


@pytest.mark.parametrize("_", range(10))
@pytest.mark.parametrize("rotation_scale", [1.0, 0.4])
def test_a_mapping_is_what_its_definition_says(rotation_scale: float, _: int) -> None:
    anchor, tool, now, heading = placement(), placement(), placement(), float(RANDOM.normal())
    mapping = LimbMapping(anchor, tool, heading, scale=0.7, rotation_scale=rotation_scale)
    position, turn = mapping.apply(now)
    to_base = transforms.quat_exp([0.0, 0.0, -heading])
    moved = transforms.quat_rotate(to_base, np.subtract(now[0], anchor[0]))
    np.testing.assert_allclose(position, tool[0] + 0.7 * moved, atol=1e-12)
    log = transforms.quat_log(transforms.quat_multiply(now[1], transforms.quat_inverse(anchor[1])))
    turned = transforms.quat_exp(rotation_scale * transforms.quat_rotate(to_base, log))
    assert transforms.quat_distance(turn, transforms.quat_multiply(turned, tool[1])) < 1e-7
    assert np.linalg.norm(turn) == pytest.approx(1.0, abs=1e-12)


def test_a_mapping_takes_its_anchor_to_its_tool() -> None:
    anchor, tool = placement(), placement()
    position, turn = LimbMapping(anchor, tool, 1.3).apply(anchor)
    np.testing.assert_allclose(position, tool[0], atol=1e-12)
    assert transforms.quat_distance(turn, tool[1]) < 1e-7


@pytest.mark.parametrize("lean", [0.0, 0.7, -1.2])
def test_leaning_does_not_change_the_heading(lean: float) -> None:
    turn = transforms.quat_multiply(
        transforms.quat_exp([0.0, 0.0, 0.8]), transforms.quat_exp([0.0, lean, 0.0])
    )
    x, y, z, w = turn.tolist()
    assert spatial.heading_of((x, y, z, w)) == pytest.approx(0.8)
