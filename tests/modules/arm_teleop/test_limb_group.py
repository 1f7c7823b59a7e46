# SPDX-License-Identifier: Apache-2.0
"""All limbs at once go where each of them goes by itself."""

from collections.abc import Iterator

import numpy as np
import pytest

from teleop_system.modules.arm_teleop import ArmOutput, ArmTeleopConfig, LimbConfig, WorkspaceBox
from teleop_system.modules.arm_teleop.limbs.limb_group import LimbGroup
from teleop_system.runtime.causes import Rule
from tests.modules.arm_teleop.rig import ALL, LEFT, RIGHT, WAIST, Poses, Rig, fresh_solver, pose

TICKS = 500
CONFIGS = {
    "plain": ArmTeleopConfig(),
    "scaled": ArmTeleopConfig(limbs={"arm": LimbConfig(scale=2.5, rotation_scale=0.5)}),
    "boxed": ArmTeleopConfig(
        limbs={"arm": LimbConfig(workspace=WorkspaceBox((0.2, -0.5, 0.8), (0.5, 0.5, 1.2)))}
    ),
}


def course(seed: int) -> Iterator[tuple[Poses, tuple[str, ...]]]:
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
            elif kind > 0.003:
                poses[role] = pose(role, now, offset, turn)
        last = poses
        yield poses, ALL if tick % 200 != 150 else ALL[:2]


def outputs(config: ArmTeleopConfig, seed: int) -> list[ArmOutput]:
    rig = Rig(config, real=fresh_solver())
    return [rig.tick(poses, engaged) for poses, engaged in course(seed)]


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", CONFIGS)
def test_the_quick_way_leads_where_the_long_one_does(
    name: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    went_on: list[bool] = []
    go_on = LimbGroup.go_on

    def counted(*arguments: object) -> bool:
        went_on.append(go_on(*arguments))  # type: ignore[arg-type]
        return went_on[-1]

    monkeypatch.setattr(LimbGroup, "go_on", counted)
    quick = outputs(CONFIGS[name], seed)
    assert sum(went_on) > 0.3 * TICKS
    monkeypatch.setattr(LimbGroup, "go_on", lambda *_: False)
    slow = outputs(CONFIGS[name], seed)
    for one, other in zip(quick, slow, strict=True):
        assert one.states == other.states
        assert one.stamps == other.stamps
        assert one.causes == other.causes
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
