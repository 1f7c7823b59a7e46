# SPDX-License-Identifier: Apache-2.0
"""All limbs at once go where each of them goes by itself."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from teleop_system.interfaces import TrackerRole
from teleop_system.interfaces.causes import Rule
from teleop_system.modules.arm_teleop import ArmOutput, ArmTeleopConfig, LimbConfig, WorkspaceBox
from teleop_system.modules.arm_teleop.limbs.limb_group import LimbGroup
from tests.modules.arm_teleop.rig import ALL, LEFT, RIGHT, WAIST, Poses, Rig, fresh_solver, pose

Worn = Callable[[TrackerRole, int], bool]

TICKS = 500
WEARING: dict[str, Worn] = {
    "all": lambda role, tick: True,
    "hands": lambda role, tick: role is not WAIST,
    "waist later": lambda role, tick: role is not WAIST or tick > 250,
}
"""Which trackers the operator wears in a tick."""
CONFIGS = {
    "plain": ArmTeleopConfig(),
    "scaled": ArmTeleopConfig(limbs={"arm": LimbConfig(scale=2.5, rotation_scale=0.5)}),
    "boxed": ArmTeleopConfig(
        limbs={"arm": LimbConfig(workspace=WorkspaceBox((0.2, -0.5, 0.8), (0.5, 0.5, 1.2)))}
    ),
}


def course(seed: int, worn: Worn) -> Iterator[tuple[Poses, tuple[str, ...]]]:
    """Yield trackers that move, pause, repeat themselves and get lost, and what is engaged."""
    random = np.random.default_rng(seed)
    last: Poses = {}
    for tick in range(TICKS):
        now = 0.01 * tick
        poses = {}
        for n, role in enumerate((RIGHT, LEFT, WAIST)):
            swing = 0.25 if role is not WAIST else 0.05
            offset = swing * np.sin(now * np.array([1.1, 1.7, 2.3]) + n) - swing * np.sin(n)
            turn = 0.4 * np.sin(now * np.array([1.3, 0.9, 1.9]))
            kind = random.random()
            if role in last and kind < 0.05:
                poses[role] = last[role]
            elif kind > 0.003 and worn(role, tick):
                poses[role] = pose(role, now, offset, turn)
        last = poses
        yield poses, ALL if tick % 200 != 150 else ALL[:2]


def outputs(config: ArmTeleopConfig, seed: int, worn: Worn) -> list[ArmOutput]:
    rig = Rig(config, real=fresh_solver())
    return [rig.tick(poses, engaged) for poses, engaged in course(seed, worn)]


@pytest.mark.parametrize(
    ("name", "seed", "wearing"),
    [(name, seed, "all") for name in CONFIGS for seed in (0, 1)]
    + [("plain", 0, "hands"), ("scaled", 1, "hands"), ("plain", 2, "waist later")],
)
def test_the_quick_way_leads_where_the_long_one_does(
    name: str, seed: int, wearing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    went_on: list[bool] = []
    go_on = LimbGroup.go_on

    def counted(*arguments: object) -> bool:
        went_on.append(go_on(*arguments))  # type: ignore[arg-type]
        return went_on[-1]

    monkeypatch.setattr(LimbGroup, "go_on", counted)
    worn = WEARING[wearing]
    quick = outputs(CONFIGS[name], seed, worn)
    assert sum(went_on) > 0.3 * TICKS
    monkeypatch.setattr(LimbGroup, "go_on", lambda *_: False)
    slow = outputs(CONFIGS[name], seed, worn)
    for one, other in zip(quick, slow, strict=True):
        assert one.states == other.states
        assert one.stamps == other.stamps
        assert sorted(one.causes, key=str) == sorted(other.causes, key=str)
        np.testing.assert_array_equal(one.positions, other.positions)
        assert one.targets.keys() == other.targets.keys()
        for chain, target in one.targets.items():
            np.testing.assert_array_equal(target.position, other.targets[chain].position)
            np.testing.assert_array_equal(target.orientation, other.targets[chain].orientation)
    limited = {c.rule for output in quick for c in output.causes}
    if name == "boxed":
        assert Rule.WORKSPACE in limited
    if name == "scaled":
        assert Rule.UNREACHABLE in limited
