# SPDX-License-Identifier: Apache-2.0
"""A limb always begins to follow without a jump, and bad input never becomes NaN."""

import numpy as np
import pytest

from teleop_system.interfaces import IIKSolver, Pose6D, TrackerRole
from teleop_system.modules.arm_teleop import ArmOutput, LimbState
from teleop_system.utils.transforms import quat_exp, quat_multiply
from tests.modules.arm_teleop.rig import (
    ALL,
    DT,
    LEFT,
    POSITIONS,
    RIGHT,
    WAIST,
    Array,
    Rig,
    fresh_solver,
)

CASES = 1000
JOINT_STEP = 0.002
TOOL_STEP = 0.001


class Wanderer:
    """A person who moves at up to 1 m/s, independently of the trackers' faults."""

    def __init__(self, random: np.random.Generator) -> None:
        self._random = random
        self._offsets = {role: np.zeros(6) for role in POSITIONS}
        self._speeds = {role: np.zeros(6) for role in POSITIONS}

    def poses(self, now: float) -> dict[TrackerRole, Pose6D | None]:
        """Advance by a tick and return the poses of the trackers."""
        poses: dict[TrackerRole, Pose6D | None] = {}
        for role, reference in POSITIONS.items():
            speed, offset = self._speeds[role], self._offsets[role]
            speed += self._random.normal(size=6) * 0.1 - 0.05 * speed - 0.02 * offset
            offset += speed * DT * (0.3 if role is WAIST else 1.0)
            poses[role] = Pose6D(np.array(reference) + offset[:3], quat_exp(offset[3:]), now)
        return poses

    def go_elsewhere(self) -> None:
        """Move to another position, as after a walk without tracking."""
        for offset in self._offsets.values():
            offset[:] = self._random.uniform(-0.5, 0.5, 6)


def test_a_thousand_engagements_begin_without_a_jump() -> None:
    random = np.random.default_rng(7)
    rig, person = Rig(real=True), Wanderer(random)
    cases, following = 0, tuple[str, ...]()
    while cases < CASES:
        # Some are disengaged and some lost, for a moment or until they rest; some go elsewhere.
        is_lost = random.random() < 0.5
        for _ in range(int(random.choice([2, 10, 14]))):
            lost = dict.fromkeys(person.poses(rig.now))
            following = rig.tick(lost, ALL if is_lost else ()).following
        if random.random() < 0.5:
            person.go_elsewhere()
        more = int(random.choice([0, 2, 18]))
        while more >= 0:
            before, followed = rig.joints, following
            output = rig.tick(person.poses(rig.now), ALL)
            following = output.following
            if following and not followed:
                cases += len(following)
                _assert_no_jump(rig, before, output)
            more -= bool(following)


def _assert_no_jump(rig: Rig, before: Array, output: ArmOutput) -> None:
    assert np.abs(output.positions - before).max() <= JOINT_STEP
    old, new = (rig.controller.tool_poses(joints) for joints in (before, output.positions))
    for chain in ALL:
        assert np.linalg.norm(new[chain].position - old[chain].position) <= TOOL_STEP
    for chain in output.following:
        tool = old[chain].position
        assert np.linalg.norm(output.targets[chain].position - tool) <= TOOL_STEP


def hostile(random: np.random.Generator, now: float, pose: Pose6D) -> Pose6D | None:
    """Return a pose as a broken device might send it."""
    kind = int(random.integers(14))
    position, orientation, stamp = pose.position, pose.orientation, now
    if kind == 0:
        return None
    if kind == 1:
        return Pose6D.lost(now)
    if kind == 2:
        position = position + random.normal(size=3) * 10.0 ** random.integers(0, 300)
    if kind == 3:
        orientation = orientation * random.choice([0.0, 1e-200, 0.5, 1.0009, 1e200])
    if kind == 4:
        stamp = now + float(random.normal()) * 10.0 ** random.integers(-3, 12)
    if kind == 5:
        orientation = quat_multiply(quat_exp(random.normal(size=3) * 2.0), orientation)
    if kind == 6:
        orientation = -orientation
    if kind == 7:
        position = position + np.array([0.0, 0.0, 1.0])
    return Pose6D(position, orientation, stamp)


def torment(seed: int, ticks: int, real: bool | IIKSolver = True) -> list[ArmOutput]:
    """Run a controller on hostile input; return its outputs."""
    random = np.random.default_rng(seed)
    rig, person = Rig(real=real), Wanderer(random)
    outputs, anger = [], 0.0
    for _ in range(ticks):
        if random.random() < 0.02:
            anger = float(random.choice([0.0, 0.1, 0.9]))
        poses = person.poses(rig.now)
        for role, pose in poses.items():
            if pose is not None and random.random() < anger:
                poses[role] = hostile(random, rig.now, pose)
        if random.random() < 0.1 * anger:
            poses[RIGHT], poses[LEFT] = poses[LEFT], poses[RIGHT]
        if random.random() < 0.05 * anger:
            rig.now += float(random.choice([-1.0, -DT, 1.0, 100.0]))
        engaged = [name for name in ALL if random.random() < 0.995]
        dt = float(random.choice([0.0, -1.0, 1e-9, np.nan, 2.0])) if random.random() < 0.02 else DT
        outputs.append(rig.tick(poses, engaged, dt=dt))
    return outputs


@pytest.mark.parametrize("seed", range(3))
def test_whatever_arrives_the_command_is_finite_and_moves_no_faster_than_the_joints(
    seed: int,
) -> None:
    outputs = torment(seed, 1200)
    commands = np.array([output.positions for output in outputs])
    fastest = np.array([2.1] * 3 + [3.2] * 3 + ([3.2] * 4 + [6.3] * 2 + [2.1]) * 2)
    assert (np.abs(np.diff(commands, axis=0)) <= fastest * DT + 1e-9).all()
    for output in outputs:
        for target in output.targets.values():
            assert np.isfinite(target.position).all()
            assert abs(np.linalg.norm(target.orientation) - 1.0) < 1e-9
        held = [n for n, state in output.states.items() if state is not LimbState.FOLLOWING]
        assert output.causes or len(held) < 3 or output.states["torso"] is LimbState.RAMPING


def test_the_same_inputs_give_the_same_commands_to_the_last_bit() -> None:
    first, second = (torment(11, 500, fresh_solver()) for _ in range(2))
    for a, b in zip(first, second, strict=True):
        assert a.positions.tobytes() == b.positions.tobytes()
        assert [str(cause) for cause in a.causes] == [str(cause) for cause in b.causes]
        assert a.states == b.states and a.stamps == b.stamps
