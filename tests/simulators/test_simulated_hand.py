# SPDX-License-Identifier: Apache-2.0
"""The simulated hand: plausible gestures, with matching fingertips."""

import functools
from typing import Any

import numpy as np
import pytest

from teleop_system.exceptions import InvalidValueError, UnknownNameError
from teleop_system.simulators.human.gestures import GESTURES
from teleop_system.simulators.human.hand_model import BONES, KNUCKLES, LOWER, UPPER, finger_tips
from teleop_system.simulators.simulated_hand import SimulatedHand

DT = 0.01
TIMES = np.arange(0.0, 24.0, DT)


@functools.lru_cache
def angles(**settings: Any) -> np.ndarray:
    hand = SimulatedHand(with_tips=False, **settings)
    return np.array([hand.state_at(time).joint_angles for time in TIMES])


@pytest.mark.parametrize("motion", ["gestures", "sinusoid", *GESTURES])
def test_angles_stay_in_the_range_of_a_human_hand(motion: str) -> None:
    path = angles(motion=motion)
    assert (path >= LOWER - 1e-12).all()
    assert (path <= UPPER + 1e-12).all()


@pytest.mark.parametrize("motion", ["gestures", "sinusoid"])
def test_fingers_move_without_steps(motion: str) -> None:
    path = angles(motion=motion)
    assert 1.0 < np.abs(np.diff(path, axis=0)).max() / DT < 5.0
    # Rates change by the acceleration times 10 ms; a step would change them by a whole rate.
    assert np.abs(np.diff(path, 2, axis=0)).max() / DT < 0.2


def test_gestures_use_the_whole_hand() -> None:
    reach = np.ptp(angles(seed=1), axis=0).reshape(5, 4)
    assert (reach[1:, [0, 2, 3]] > 1.0).all()
    assert (reach[0] > 0.2).all()


def test_the_same_seed_gives_the_same_gestures_to_the_last_bit() -> None:
    first, second = SimulatedHand(seed=3), SimulatedHand(seed=3)
    times = [0.0, 33.3, 2.5, 10.7]
    forwards = [first.state_at(time).joint_angles for time in times]
    backwards = [second.state_at(time).joint_angles for time in reversed(times)]
    np.testing.assert_array_equal(forwards, backwards[::-1])


def test_the_two_hands_of_a_person_make_different_gestures() -> None:
    assert np.abs(angles(side="left") - angles(side="right")).max() > 0.5


def test_a_single_gesture_is_approached_and_held() -> None:
    hand = SimulatedHand(motion="fist")
    np.testing.assert_array_equal(hand.state_at(0.0).joint_angles, GESTURES["relaxed"])
    np.testing.assert_allclose(hand.state_at(5.0).joint_angles, GESTURES["fist"])


def test_the_sinusoid_opens_and_closes() -> None:
    hand = SimulatedHand(motion="sinusoid", frequency=0.5)
    np.testing.assert_allclose(hand.state_at(0.0).joint_angles, GESTURES["open"])
    np.testing.assert_allclose(hand.state_at(1.0).joint_angles, GESTURES["fist"])


def test_a_straight_fingertip_is_a_finger_length_from_its_knuckle() -> None:
    tips = finger_tips(np.zeros(20), "right")
    np.testing.assert_allclose(tips[1:, 0], KNUCKLES[1:, 0] + BONES[1:].sum(axis=1))
    np.testing.assert_allclose(tips[1:, 1:], KNUCKLES[1:, 1:])


def test_flexion_curls_towards_the_palm_and_abduction_towards_the_thumb() -> None:
    straight = finger_tips(np.zeros(20), "right")
    curled = np.zeros(20)
    curled[[4, 6, 7]] = 0.5
    assert finger_tips(curled, "right")[1, 2] < straight[1, 2] - 0.02
    spread = np.zeros(20)
    spread[5] = 0.3
    assert finger_tips(spread, "right")[1, 1] > straight[1, 1] + 0.02
    assert straight[0, 1] > straight[1, 1]  # The right thumb is on the left of the index.


def test_bones_have_the_same_length_in_every_gesture() -> None:
    for gesture in GESTURES.values():
        reach = np.linalg.norm(finger_tips(gesture, "right") - KNUCKLES, axis=1)
        assert (reach <= BONES.sum(axis=1) + 1e-12).all()


def test_a_pinch_brings_thumb_and_index_together() -> None:
    tips = finger_tips(GESTURES["pinch"], "right")
    assert np.linalg.norm(tips[0] - tips[1]) < 0.005


def test_the_left_hand_is_the_mirror_of_the_right() -> None:
    for gesture in GESTURES.values():
        mirrored = finger_tips(gesture, "right") * (1, -1, 1)
        np.testing.assert_array_equal(finger_tips(gesture, "left"), mirrored)


def test_states_contain_matching_fingertips_or_none() -> None:
    state = SimulatedHand("left", seed=2).state_at(3.0)
    np.testing.assert_array_equal(
        state.finger_tip_positions, finger_tips(state.joint_angles, "left")
    )
    assert SimulatedHand(with_tips=False).state_at(3.0).finger_tip_positions is None


@pytest.mark.parametrize("settings", [{"side": "rigth"}, {"motion": "gesture"}])
def test_unknown_names_are_reported_with_the_valid_ones(settings: dict[str, str]) -> None:
    with pytest.raises(UnknownNameError, match="did you mean"):
        SimulatedHand(**settings)


@pytest.mark.parametrize("frequency", [0.0, -1.0, np.nan])
def test_a_frequency_has_to_be_positive(frequency: float) -> None:
    with pytest.raises(InvalidValueError, match="frequency"):
        SimulatedHand(frequency=frequency)
