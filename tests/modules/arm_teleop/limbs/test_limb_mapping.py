# SPDX-License-Identifier: Apache-2.0
"""A limb follows its tracker by the definition of the mapping."""

import numpy as np
import pytest

from teleop_system.modules.arm_teleop.limbs.limb_mapping import LimbMapping
from teleop_system.utils import transforms
from tests.utils.test_poses import RANDOM, pose


@pytest.mark.parametrize("_", range(10))
@pytest.mark.parametrize("rotation_scale", [1.0, 0.4])
def test_a_mapping_agrees_with_its_definition(rotation_scale: float, _: int) -> None:
    anchor, tool, now, heading = pose(), pose(), pose(), float(RANDOM.normal())
    mapping = LimbMapping(anchor, tool, heading, scale=0.7, rotation_scale=rotation_scale)
    position, orientation = mapping.apply(now)
    to_base = transforms.quat_exp([0.0, 0.0, -heading])
    moved = transforms.quat_rotate(to_base, np.subtract(now[0], anchor[0]))
    np.testing.assert_allclose(position, tool[0] + 0.7 * moved, atol=1e-12)
    log = transforms.quat_log(transforms.quat_multiply(now[1], transforms.quat_inverse(anchor[1])))
    rotated = transforms.quat_exp(rotation_scale * transforms.quat_rotate(to_base, log))
    assert transforms.quat_distance(orientation, transforms.quat_multiply(rotated, tool[1])) < 1e-7
    assert np.linalg.norm(orientation) == pytest.approx(1.0, abs=1e-12)


def test_a_mapping_maps_its_anchor_to_its_tool() -> None:
    anchor, tool = pose(), pose()
    position, orientation = LimbMapping(anchor, tool, 1.3).apply(anchor)
    np.testing.assert_allclose(position, tool[0], atol=1e-12)
    assert transforms.quat_distance(orientation, tool[1]) < 1e-7
