# SPDX-License-Identifier: Apache-2.0
"""Promise: no jump on engaging, re-engaging and resuming.

The first step is <= 0.002 rad and <= 1 mm, and full speed comes after >= 0.8 s.
"""

import dataclasses

import mujoco
import numpy as np
import pytest

from teleop_system.interfaces.causes import Rule
from tests.safety.rig import Rig, robot_named, subjects_of

STEP = 0.002
"""Largest first step in [rad]."""
HAND_STEP = 0.001
"""Largest first step of a hand in [m]."""
RAMP = 0.8
"""Shortest time to full speed in [s]."""
START = 0.011
"""Share of the full speed that a ramp may begin with."""
FREE = dataclasses.replace(robot_named("rby1"), collision_pairs=())
"""A robot whose links may touch."""
CASES = 1000
"""Engagements of one part each: a third after engaging, after silence, after bad commands."""


class Hands:
    """Positions of the hands, computed by MuJoCo."""

    def __init__(self, rig: Rig) -> None:
        self._model = mujoco.MjModel.from_xml_path(str(rig.robot.mjcf))
        self._data = mujoco.MjData(self._model)
        self._qpos = [self._model.joint(name).qposadr[0] for name in rig.names]

    def at(self, positions: np.ndarray) -> np.ndarray:
        self._data.qpos[self._qpos] = positions
        mujoco.mj_kinematics(self._model, self._data)
        bodies = [self._data.body(f"ee_{side}").xpos for side in ("left", "right")]
        return np.array(bodies)


def check_first_step(rig: Rig, hands: Hands) -> int:
    """Check the parts that began to follow in the last cycle; return their number."""
    begun = rig.outputs[-2].holding - rig.outputs[-1].holding - {"base"}
    before, after = rig.positions_of_last(2)
    # Parts that moved already do not take their first step now.
    first = before.copy()
    for name in begun:
        first[rig.parts[name].columns] = after[rig.parts[name].columns]
    assert np.abs(first - before).max() <= STEP
    assert np.linalg.norm(hands.at(first) - hands.at(before), axis=1).max() <= HAND_STEP
    return len(begun)


def test_a_thousand_engagements_never_jump() -> None:
    rig = Rig(FREE)  # Guards can only make a first step smaller.
    hands = Hands(rig)
    random = np.random.default_rng(11)
    lower, upper = rig.manager.parts.lower, rig.manager.parts.upper
    begun = round_ = 0
    rig.cycle()
    while begun < CASES:
        rig.target = np.clip(rig.start + random.normal(0.0, 1.0, lower.size), lower, upper)
        # Sometimes interrupted within the ramp, sometimes long after it.
        for _ in range(int(random.choice([5, 20, 100]))):
            rig.cycle()
        interrupt(rig, ("engage", "resume", "bad")[round_ % 3])
        for _ in range(int(random.integers(10, 30))):
            rig.cycle()
        rig.engaged, rig.silent = {*rig.parts, "base"}, set()
        rig.target = random.uniform(lower, upper)
        while rig.outputs[-1].holding & set(rig.parts):
            rig.cycle()
            begun += check_first_step(rig, hands)
        round_ += 1


def interrupt(rig: Rig, kind: str) -> None:
    """Make all parts hold, in one of three ways."""
    if kind == "engage":
        rig.engaged = set()
    elif kind == "resume":
        rig.silent = set(rig.parts)
    else:
        rig.target[:] = np.nan


def test_full_speed_is_not_reached_before_the_ramp_ends() -> None:
    rig = Rig(FREE)
    rig.target = np.where(rig.start > 0.0, rig.manager.parts.lower, rig.manager.parts.upper)
    rig.run(1.5)
    speeds = np.abs(np.diff(rig.positions, axis=0)) / rig.config.period
    times = rig.config.period * np.arange(1, len(speeds) + 1)
    allowed = np.maximum(np.minimum(times / RAMP, 1.0), START)
    assert (speeds <= allowed[:, None] * rig.manager.parts.velocity * (1.0 + 1e-9)).all()
    assert speeds.max() > 2.0  # It does reach full speed.


def test_a_part_that_resumes_first_comes_to_rest() -> None:
    rig = Rig()
    rig.aim(head_0=1.5)
    rig.run(1.0)
    rig.silent = {"head"}
    while "head" not in rig.cycle().holding:
        pass
    rig.silent = set()
    while "head" in rig.cycle().holding:
        pass
    columns = rig.parts["head"].columns
    assert not rig.outputs[-2].velocities[columns].any()
    assert not rig.outputs[-2].accelerations[columns].any()


def test_engaging_far_from_the_robot_yields_a_cause() -> None:
    rig = Rig()
    rig.aim(head_0=1.0)
    assert "head" in subjects_of(rig.cycle(), Rule.ENGAGE_JUMP)
    assert "right_arm" not in subjects_of(rig.outputs[-1], Rule.ENGAGE_JUMP)


def test_parts_engage_one_by_one() -> None:
    rig = Rig()
    rig.engaged = {"right_arm"}
    rig.aim(right_arm_2=0.3, left_arm_2=-0.3)
    output = rig.run(2.0)
    assert output.holding == {*rig.parts, "base"} - {"right_arm"}
    assert output.positions[rig.column("right_arm_2")] == pytest.approx(0.3, abs=1e-4)
    assert output.positions[rig.column("left_arm_2")] == rig.start[rig.column("left_arm_2")]
    assert "left_arm" in subjects_of(output, Rule.NOT_ENGAGED)
