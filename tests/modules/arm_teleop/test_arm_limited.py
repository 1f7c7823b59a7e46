# SPDX-License-Identifier: Apache-2.0
"""What the arms do where something blocks them: joints that fall behind, the robot itself."""

import numpy as np
import pytest

from teleop_system.interfaces.causes import Rule
from teleop_system.modules.arm_teleop import ArmTeleopConfig, LimbConfig, WorkspaceBox
from tests.modules.arm_teleop.rig import Rig, rules

SETTLE = 150


def test_the_solver_follows_joints_that_fall_behind() -> None:
    rig = Rig(real=True)
    rig.rest(SETTLE)
    stuck = rig.joints.copy()
    for k in range(1, 150):
        rig.joints = stuck
        output = rig.rest(right=(0.002 * min(k, 100), 0.0, 0.0))
    # Nothing moves, and the command is not far ahead.
    assert np.abs(output.positions - stuck).max() < 0.25
    for _ in range(200):
        output = rig.rest(right=(0.2, 0.0, 0.0))
    assert output.error_position < 0.005


def test_a_hand_with_an_unreachable_target_reports_it_and_recovers() -> None:
    rig = Rig(real=True)
    rig.rest(SETTLE)
    inside = np.array([0.0, 0.5, 0.0])  # From the ready pose to the position of the other hand.
    for k in range(1, 300):
        output = rig.rest(right=inside * min(k / 200, 1.0))
    assert Rule.UNREACHABLE in rules(output, "right_arm")
    for k in range(1, 300):
        output = rig.rest(right=inside * max(1.0 - k / 200, 0.0))
    assert Rule.UNREACHABLE not in rules(output, "right_arm")
    assert output.error_position < 0.005


def test_targets_stay_in_the_workspace_and_within_reach_with_a_cause() -> None:
    box = WorkspaceBox((0.2, -0.5, 0.8), (0.5, 0.5, 1.2))
    rig = Rig(ArmTeleopConfig(limbs={"arm": LimbConfig(workspace=box)}))
    rig.rest(SETTLE)
    output = rig.glide(100, right=(0.3, 0.0, 0.0))
    assert output.targets["right_arm"].position[0] == pytest.approx(0.5)
    assert Rule.WORKSPACE in rules(output, "right_arm")
    rig = Rig(ArmTeleopConfig(limbs={"arm": LimbConfig(scale=2.5)}))
    rig.rest(SETTLE)
    output = rig.glide(100, right=(0.5, 0.0, 0.0))
    assert Rule.UNREACHABLE in rules(output, "right_arm")


@pytest.mark.parametrize("lost", [(), ("waist",), ("waist", "left")])
def test_a_limb_follows_independently_of_the_others(lost: tuple[str, ...]) -> None:
    rig, other = Rig(), Rig()
    for k in range(SETTLE + 100):
        offset = (0.001 * max(k - SETTLE, 0), 0.0, 0.0)
        output = rig.tick(rig.poses(right=offset))
        poses = other.poses(right=offset)
        worn = {role: p for role, p in poses.items() if not role.value.startswith(lost)}
        expected = other.tick(worn if lost else poses)
    np.testing.assert_allclose(
        output.targets["right_arm"].position, expected.targets["right_arm"].position, atol=1e-12
    )
