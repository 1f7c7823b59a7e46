# SPDX-License-Identifier: Apache-2.0
"""No input makes a command break a limit: checked on the commands alone.

The oracle shares nothing with the controller: its limits are the figures of the maker's table, and
gaps between fingers are found by trying points along their links.
"""

import math

import numpy as np
import pytest

from teleop_system.interfaces import HandJointState
from teleop_system.modules.hand_teleop import HandController, HandTeleopConfig
from teleop_system.modules.hand_teleop.dg5f import finger_positions
from teleop_system.simulators.human.hand_model import finger_tips
from teleop_system.simulators.simulated_hand import SimulatedHand

from .operators import Array, random_angles

CURL = ((0, 90), (0, 90))
DEGREES = np.array(
    [
        *((-22, 51), (-180, 0), *CURL),
        *((-24, 35), (0, 115), *CURL),
        *((-35, 35), (0, 112), *CURL),
        *((-35, 24), (0, 109), *CURL),
        *((-1, 60), (-24, 35), *CURL),
    ]
)
MIRRORED = [0, 1, 2, 3, 4, 8, 12, 16, 17]
ROUNDING = 1e-9
TICKS = 300


def ranges(side: str) -> tuple[Array, Array]:
    low, high = np.radians(DEGREES.T)
    if side == "left":
        low[MIRRORED], high[MIRRORED] = -high[MIRRORED], -low[MIRRORED]
    return low, high


def smallest_gaps(positions: Array, side: str) -> tuple[float, float]:
    """Return the smallest gap of the thumb, and of the other fingers, to any finger in [m]."""
    signs = np.ones(20)
    if side == "left":
        signs[MIRRORED] = -1.0
    ends = finger_positions((signs * positions)[None], extension=0.0071)[:, 0]
    shares = np.linspace(0.0, 1.0, 25)[:, None]
    along = [
        np.concatenate([finger[k] + shares * (finger[k + 1] - finger[k]) for k in range(3)])
        for finger in ends
    ]
    gaps = {
        (a, b): np.linalg.norm(along[a][:, None] - along[b][None], axis=-1).min() - 0.021
        for a in range(5)
        for b in range(a + 1, 5)
    }
    thumb = min(gap for (a, _), gap in gaps.items() if a == 0)
    return float(thumb), float(min(gap for (a, _), gap in gaps.items() if a != 0))


class Oracle:
    """Checks the commands of one hand."""

    def __init__(self, side: str, start: Array) -> None:
        self._low, self._high = ranges(side)
        self._side = side
        self._last = start
        self.count = 0

    def check(self, positions: Array, elapsed: float) -> None:
        """Judge a command given `elapsed` [s] after the last."""
        self.count += 1
        assert np.isfinite(positions).all()
        assert (positions >= self._low - ROUNDING).all()
        assert (positions <= self._high + ROUNDING).all()
        speed = (positions - self._last) / elapsed
        assert np.abs(speed).max() <= math.pi * (1.0 + ROUNDING)
        if self.count % 10 == 0:
            thumb, others = smallest_gaps(positions, self._side)
            assert thumb >= -0.0021
            assert others >= 0.0
        self._last = positions


def hostile_sample(rng: np.random.Generator, now: float, side: str) -> HandJointState | None:
    """Return a sample as a broken device could send it."""
    kind = rng.integers(10)
    if kind == 0:
        return None
    angles = random_angles(rng) if kind < 8 else rng.normal(0.0, 1e6, 20)
    tips = finger_tips(angles, side)
    if kind == 1:
        tips = rng.normal(0.0, 0.2, (5, 3))
    stamp = now + (rng.normal(0.0, 0.5) if kind == 2 else 0.0)
    other = "left" if side == "right" else "right"
    valid = bool(kind != 4)
    return HandJointState(angles, tips, stamp, other if kind == 3 else side, valid)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("retargeter", ["angles", "fingertips"])
def test_no_sequence_of_samples_breaks_a_limit(retargeter: str, side: str) -> None:
    rng = np.random.default_rng(12)
    controller = HandController(side, HandTeleopConfig(retargeter=retargeter))
    oracle = Oracle(side, np.zeros(20))
    now = 1.0
    for tick in range(TICKS):
        # For a while a person, then anything; engaged most of the time.
        dt = 0.01 if rng.random() < 0.9 else float(rng.uniform(0.001, 0.3))
        now += dt
        engaged = bool(tick % 150 < 135)
        sample = hostile_sample(rng, now, side)
        if tick % 100 < 60 and tick // 4 % 2:
            angles = random_angles(np.random.default_rng(tick // 25))
            sample = HandJointState(angles, finger_tips(angles, side), now, side)
        output = controller.update(sample, now=now, dt=dt, engaged=engaged)
        oracle.check(output.positions, dt)
    assert oracle.count == TICKS


@pytest.mark.parametrize("retargeter", ["angles", "fingertips"])
def test_speed_and_acceleration_hold_for_a_lively_hand(retargeter: str) -> None:
    controller = HandController("right", HandTeleopConfig(retargeter=retargeter))
    person = SimulatedHand("right", seed=1, frequency=1.25)
    commands = [
        controller.update(person.state_at(k * 0.01), now=k * 0.01, dt=0.01).positions
        for k in range(200)
    ]
    speeds = np.diff(commands, axis=0) / 0.01
    assert np.abs(speeds).max() > 1.0
    assert np.abs(speeds).max() <= math.pi * (1.0 + ROUNDING)
    assert np.abs(np.diff(speeds, axis=0)).max() / 0.01 <= 50.0 * (1.0 + 1e-6)


@pytest.mark.parametrize("retargeter", ["angles", "fingertips"])
def test_fingers_that_touched_separate_again(retargeter: str) -> None:
    controller = HandController("right", HandTeleopConfig(retargeter=retargeter))
    fist, flat = (SimulatedHand("right", motion=name).state_at(9.0) for name in ("fist", "open"))

    def hold(sample: HandJointState, start: float) -> Array:
        for k in range(1, 181):
            now = start + k * 0.01
            fresh = HandJointState(
                sample.joint_angles, sample.finger_tip_positions, now, sample.side
            )
            output = controller.update(fresh, now=now, dt=0.01)
        return output.positions

    closed, opened = hold(fist, 0.0), hold(flat, 1.8)
    assert closed[[5, 9, 13]].min() > 0.5
    assert opened[[5, 9, 13]].max() < 0.1
