# SPDX-License-Identifier: Apache-2.0
"""Fingertip retargeting: tips reached, pinches closed, fingers apart, results reproducible."""

import dataclasses

import numpy as np
import pytest

from teleop_system.exceptions import ConfigError, InvalidHandStateError
from teleop_system.interfaces import HandJointState
from teleop_system.modules.hand_teleop import (
    FingertipConfig,
    FingertipRetargeter,
    HandTeleopConfig,
)
from teleop_system.modules.hand_teleop.dg5f import (
    CURL_LOWER,
    MIRROR,
    UPPER,
    finger_points,
    finger_positions,
)
from teleop_system.modules.hand_teleop.finger_clearance import finger_gaps
from teleop_system.modules.hand_teleop.fingertip_solver import FingertipSolver
from teleop_system.modules.hand_teleop.retargeting import FingertipBatch
from teleop_system.simulators.human.gestures import GESTURES
from teleop_system.simulators.human.hand_model import finger_tips as human_tips

from .limits import joint_limits
from .operators import SIDES, Array, gesture

EXTENSION = 0.0071


def as_human(tips: Array, config: FingertipConfig) -> Array:
    """Return the human tips, in the right wrist frame, that correspond to these robot tips."""
    x, y, z = ((tips - np.array(config.origin)) / config.hand_scale).T
    return np.stack([z, y, -x], axis=1)


def settle(tips: Array, side: str = "right", count: int = 50) -> Array:
    batch = FingertipBatch((side,))
    for _ in range(count):
        positions = batch.retarget({side: tips})[side]
    return positions


def tips_at(positions: Array) -> Array:
    return finger_positions(positions[None], extension=EXTENSION)[:, 0, 3]


def test_residual_derivatives_are_finite_differences() -> None:
    rng = np.random.default_rng(5)
    solver = FingertipSolver(FingertipConfig(), 2)
    here = rng.uniform(CURL_LOWER, UPPER, (2, 20)) * 0.6
    targets = finger_points(here + 0.1, extension=EXTENSION).tips
    problem = solver._define_problem(targets, rng.uniform(0.0, 0.06, (4, 2)))

    def residuals(positions: Array) -> Array:
        return solver._residuals(problem, finger_points(positions, extension=EXTENSION))

    solver._fill_rows(problem, finger_points(here, extension=EXTENSION))
    step = 1e-6
    for joint in range(20):
        change = np.zeros(20)
        change[joint] = step
        rates = (residuals(here + change) - residuals(here - change)) / (2.0 * step)
        np.testing.assert_allclose(solver._rows[:, :, joint], rates, atol=1e-8)


def test_tips_that_the_robot_can_reach_are_reached() -> None:
    config = FingertipConfig()
    rng = np.random.default_rng(6)
    low = np.array([0.2, -1.2, 0.1, 0.1] + [0.0, 0.1, 0.2, 0.2] * 3 + [0.0, 0.0, 0.2, 0.2])
    high = np.array([0.8, -0.2, 0.5, 0.5] + [0.0, 0.6, 1.2, 1.0] * 3 + [0.1, 0.1, 1.2, 1.2])
    tried = 0
    for _ in range(25):
        pose = rng.uniform(low, high)
        pose[[4, 8, 12]] = (-0.1, 0.0, 0.1)
        tips = tips_at(pose)
        human = as_human(tips, config)
        pinches = np.linalg.norm(human[1:] - human[0], axis=1).min() < config.pinch_open
        if finger_gaps(pose[None]).min() < 0.003 or pinches:
            continue  # Such tips cannot be followed exactly.
        tried += 1
        error = np.linalg.norm(tips_at(settle(human, count=80)) - tips, axis=1)
        assert error.max() < 1e-3
    assert tried >= 6


@pytest.mark.parametrize("name", sorted(GESTURES))
def test_gestures_are_recognisable(name: str) -> None:
    positions = settle(human_tips(GESTURES[name], "right"))
    config = FingertipConfig()
    x, y, z = human_tips(GESTURES[name], "right").T
    wanted = np.array(config.origin) + config.hand_scale * np.stack([-z, y, x], axis=1)
    error = np.linalg.norm(tips_at(positions) - wanted, axis=1)
    # The robot's thumb begins further from the fingers than a person's, and its pinky lacks a
    # joint.
    assert error[1:4].max() < 0.008
    assert max(error[0], error[4]) < 0.017


@pytest.mark.parametrize("finger", [1, 2, 3])
def test_a_pinch_stays_closed_at_any_position(finger: int) -> None:
    rest = human_tips(GESTURES["pinch"], "right")
    meeting = rest[0].copy()
    batch = FingertipBatch(("right",))
    gaps = []
    for step in range(240):
        phase = 2.0 * np.pi * step / 120.0
        tips = rest.copy()
        away = 0.015 * np.array([np.sin(phase), 0.7 * np.cos(phase), np.sin(2.0 * phase)])
        # Tracked tips are inside the finger, so those of a closed pinch are still apart.
        tips[0] = meeting + away + [0.0, 0.0, -0.006]
        tips[finger] = meeting + away + [0.0, 0.0, 0.006]
        if finger != 1:
            tips[1] = human_tips(GESTURES["open"], "right")[1]
        positions = batch.retarget({"right": tips})["right"]
        gaps.append(finger_gaps(positions[None])[0, finger - 1])
    assert np.abs(gaps[60:]).max() < 0.003


def test_a_pinch_closes_and_opens_without_a_jump() -> None:
    rest = human_tips(GESTURES["pinch"], "right")
    batch = FingertipBatch(("right",))
    for _ in range(100):
        before = batch.retarget({"right": rest})["right"]
    for distance in np.concatenate([np.linspace(0.0, 0.07, 140), np.linspace(0.07, 0.0, 140)]):
        tips = rest.copy()
        tips[0] = rest[1] + [0.0, distance, 0.0]
        after = batch.retarget({"right": tips})["right"]
        # Half a millimetre per sample is 5 cm/s; the solver itself could take 0.16 rad.
        assert np.abs(after - before).max() < 0.1
        before = after


def test_fingers_are_kept_apart_where_the_operators_touch() -> None:
    tips = human_tips(GESTURES["open"], "right")
    tips[1:, 1] = tips[2, 1]  # All four on one line, as no robot can.
    gaps = finger_gaps(settle(tips, count=200)[None])[0]
    assert gaps[4:].min() > 0.0


@pytest.mark.parametrize("side", SIDES)
def test_limits_hold_for_any_tips(side: str) -> None:
    lower, upper = joint_limits(side)
    rng = np.random.default_rng(8)
    batch = FingertipBatch((side,))
    for _ in range(300):
        positions = batch.retarget({side: rng.uniform(-0.4, 0.4, (5, 3))})[side]
        assert np.isfinite(positions).all()
        assert ((positions >= lower) & (positions <= upper)).all()


def test_the_left_hand_is_the_mirror_of_the_right() -> None:
    right, left = (settle(human_tips(GESTURES["pinch"], side), side) for side in ("right", "left"))
    np.testing.assert_allclose(left, MIRROR * right, atol=1e-12)


def test_two_hands_together_agree_with_single_hands() -> None:
    both = FingertipBatch(("left", "right"))
    alone = {side: FingertipBatch((side,)) for side in SIDES}
    names = {"left": "fist", "right": "pinch"}
    tips = {side: human_tips(GESTURES[names[side]], side) for side in SIDES}
    for _ in range(30):
        together = both.retarget(tips)
        for side in SIDES:
            apart = alone[side].retarget({side: tips[side]})[side]
            # Together, a hand may get a step more than it needs.
            np.testing.assert_allclose(together[side], apart, atol=1e-2)


def test_the_same_tips_give_the_same_joints_to_the_last_bit() -> None:
    rng = np.random.default_rng(9)
    samples = rng.uniform(-0.2, 0.2, (100, 5, 3))

    def run() -> Array:
        batch = FingertipBatch(("right",))
        return np.array([batch.retarget({"right": tips})["right"] for tips in samples])

    assert run().tobytes() == run().tobytes()


def test_a_state_without_tips_is_refused() -> None:
    retargeter = FingertipRetargeter("right")
    assert retargeter.needs_tips
    with pytest.raises(InvalidHandStateError, match="finger_tip_positions"):
        retargeter.retarget(HandJointState(np.zeros(20)))


def test_a_retargeter_starts_from_the_measured_hand() -> None:
    far, near = (FingertipRetargeter("right", HandTeleopConfig()) for _ in range(2))
    target = settle(human_tips(GESTURES["fist"], "right"), count=300)
    near.reset(target)
    found = near.retarget(gesture("fist"))
    np.testing.assert_allclose(found, target, atol=1e-2)
    assert np.abs(far.retarget(gesture("fist")) - target).max() > 0.1


def test_a_pinch_that_opens_before_it_closes_is_refused() -> None:
    with pytest.raises(ConfigError, match="pinch_open"):
        dataclasses.replace(FingertipConfig(), pinch_open=0.01)
