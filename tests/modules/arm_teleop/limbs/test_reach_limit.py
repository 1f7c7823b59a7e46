# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest

from teleop_system.interfaces.causes import Rule
from teleop_system.modules.arm_teleop import LimbConfig, WorkspaceBox
from teleop_system.modules.arm_teleop.config import SmoothingConfig
from teleop_system.modules.arm_teleop.limbs.limb_mapping import LimbMapping
from teleop_system.modules.arm_teleop.limbs.pose_filter import PoseFilter
from teleop_system.modules.arm_teleop.limbs.reach_limit import ReachLimit
from teleop_system.safety.cause_log import CauseLog
from teleop_system.solvers.chain_kinematics import Reach
from teleop_system.utils.poses import IDENTITY, ORIGIN, PoseTuple
from teleop_system.utils.quaternion_kernels import Vector

REACH = Reach((0.0, 0.2, 0.1), 0.5, "torso")


TORSO: PoseTuple = ((0.0, 0.0, 1.0), IDENTITY)


def limit_of(config: LimbConfig | None = None, reach: Reach | None = REACH) -> ReachLimit:
    return ReachLimit("arm", config or LimbConfig(), reach, share=0.9, lean=0.0)


def limited(
    limit: ReachLimit, *position: float, torso: PoseTuple = TORSO
) -> tuple[Vector, list[Rule]]:
    log = CauseLog()
    log.begin(0.0)
    x, y, z = position
    tracker = PoseFilter(SmoothingConfig())
    tracker.update(((x, y, z), IDENTITY), 0.0)
    target = limit.target_of(tracker, 0.0, LimbMapping(ORIGIN, ORIGIN, 0.0), torso, log)
    return target[0], [cause.rule for cause in log.causes]


def test_a_target_within_reach_is_unchanged() -> None:
    assert limited(limit_of(), 0.4, 0.2, 1.1) == ((0.4, 0.2, 1.1), [])


def test_a_target_out_of_reach_becomes_the_nearest_within() -> None:
    position, rules = limited(limit_of(), 2.0, 0.2, 1.1)
    np.testing.assert_allclose(position, [0.45, 0.2, 1.1])
    assert rules == [Rule.UNREACHABLE]


def test_the_sphere_moves_and_rotates_with_the_torso() -> None:
    quarter = math.sqrt(0.5)
    torso = ((0.3, 0.0, 1.0), (0.0, 0.0, quarter, quarter))
    position = limited(limit_of(), 2.0, 0.0, 1.1, torso=torso)[0]
    np.testing.assert_allclose(position, [0.55, 0.0, 1.1], atol=1e-12)


def test_a_torso_that_may_lean_makes_the_sphere_larger() -> None:
    limit = ReachLimit("arm", LimbConfig(), REACH, share=0.9, lean=0.1)
    np.testing.assert_allclose(limited(limit, 2.0, 0.2, 1.1)[0], [0.55, 0.2, 1.1])


def test_limiting_a_target_does_not_make_it_faster() -> None:
    random = np.random.default_rng(0)
    limit = limit_of(LimbConfig(workspace=WorkspaceBox((-1, -1, 0.8), (0.3, 0.3, 1.3))))
    for _ in range(300):
        a = random.uniform(-2.0, 2.0, 3)
        b = a + random.normal(scale=0.01, size=3)
        one, other = limited(limit, *a)[0], limited(limit, *b)[0]
        assert math.dist(one, other) <= math.dist(a, b) + 1e-12


def test_the_workspace_is_a_box_in_the_base_frame() -> None:
    box = LimbConfig(workspace=WorkspaceBox((0.0, -1.0, 0.9), (0.3, 1.0, 1.2)))
    position, rules = limited(limit_of(box), 0.4, 0.2, 1.1)
    assert position == (0.3, 0.2, 1.1)
    assert rules == [Rule.WORKSPACE]


@pytest.mark.parametrize("reach", [None, Reach((0.0, 0.0, 0.3), 5.0)])
def test_without_a_sphere_or_within_it_only_the_workspace_limits(reach: Reach | None) -> None:
    limit = limit_of(reach=reach)
    assert limit.carrier is None
    assert limited(limit, 1.0, 2.0, 3.0, torso=ORIGIN) == ((1.0, 2.0, 3.0), [])
