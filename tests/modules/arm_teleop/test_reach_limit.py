# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest

from teleop_system.interfaces.causes import Rule
from teleop_system.modules.arm_teleop import LimbConfig, WorkspaceBox
from teleop_system.modules.arm_teleop.chain_kinematics import Reach
from teleop_system.modules.arm_teleop.limbs.reach_limit import ReachLimit
from teleop_system.modules.arm_teleop.spatial import IDENTITY, Placement, Vector
from teleop_system.safety.cause_log import CauseLog

REACH = Reach((0.0, 0.2, 0.1), 0.5, "torso")


class Torso:
    """Stands where it is put."""

    def __init__(self) -> None:
        self.place: Placement = ((0.0, 0.0, 1.0), IDENTITY)

    def __call__(self, chain: str) -> Placement:
        assert chain == "torso"
        return self.place


def limit_of(torso: Torso, config: LimbConfig | None = None) -> ReachLimit:
    return ReachLimit("arm", config or LimbConfig(), REACH, share=0.9, lean=0.0, aim=torso)


def limited(limit: ReachLimit, *position: float) -> tuple[Vector, list[Rule]]:
    log = CauseLog()
    log.begin(0.0)
    x, y, z = position
    return limit.apply(((x, y, z), IDENTITY), log)[0], [cause.rule for cause in log.causes]


def test_a_target_within_reach_stays_as_it_is() -> None:
    assert limited(limit_of(Torso()), 0.4, 0.2, 1.1) == ((0.4, 0.2, 1.1), [])


def test_a_target_out_of_reach_becomes_the_nearest_within() -> None:
    position, rules = limited(limit_of(Torso()), 2.0, 0.2, 1.1)
    np.testing.assert_allclose(position, [0.45, 0.2, 1.1])
    assert rules == [Rule.UNREACHABLE]


def test_the_sphere_is_carried_and_turned_by_the_torso() -> None:
    torso = Torso()
    limit = limit_of(torso)
    limited(limit, 2.0, 0.0, 1.0)
    quarter = math.sqrt(0.5)
    torso.place = ((0.3, 0.0, 1.0), (0.0, 0.0, quarter, quarter))
    np.testing.assert_allclose(limited(limit, 2.0, 0.0, 1.1)[0], [0.55, 0.0, 1.1], atol=1e-12)


def test_a_torso_that_may_lean_makes_the_sphere_larger() -> None:
    limit = ReachLimit("arm", LimbConfig(), REACH, share=0.9, lean=0.1, aim=Torso())
    np.testing.assert_allclose(limited(limit, 2.0, 0.2, 1.1)[0], [0.55, 0.2, 1.1])


def test_a_target_moves_no_faster_for_being_limited() -> None:
    random = np.random.default_rng(0)
    limit = limit_of(Torso(), LimbConfig(workspace=WorkspaceBox((-1, -1, 0.8), (0.3, 0.3, 1.3))))
    for _ in range(300):
        a = random.uniform(-2.0, 2.0, 3)
        b = a + random.normal(scale=0.01, size=3)
        one, other = limited(limit, *a)[0], limited(limit, *b)[0]
        assert math.dist(one, other) <= math.dist(a, b) + 1e-12


def test_the_workspace_is_a_box_in_the_base_frame() -> None:
    box = LimbConfig(workspace=WorkspaceBox((0.0, -1.0, 0.9), (0.3, 1.0, 1.2)))
    position, rules = limited(limit_of(Torso(), box), 0.4, 0.2, 1.1)
    assert position == (0.3, 0.2, 1.1)
    assert rules == [Rule.WORKSPACE]


@pytest.mark.parametrize("reach", [None, Reach((0.0, 0.0, 0.3), 5.0)])
def test_without_a_carrier_nobody_is_asked_where_it_is(reach: Reach | None) -> None:
    def never(chain: str) -> Placement:
        raise AssertionError(chain)

    limit = ReachLimit("arm", LimbConfig(), reach, share=0.9, lean=0.1, aim=never)
    assert limited(limit, 1.0, 2.0, 3.0) == ((1.0, 2.0, 3.0), [])
