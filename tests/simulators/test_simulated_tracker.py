# SPDX-License-Identifier: Apache-2.0
"""The simulated person: smooth, reproducible and plausible."""

import functools

import numpy as np
import pytest

from teleop_system.exceptions import InvalidValueError, UnknownNameError
from teleop_system.interfaces import Pose6D, TrackerRole
from teleop_system.simulators.human.body import OperatorMotion, lift
from teleop_system.simulators.simulated_tracker import REFERENCE_POSITIONS, SimulatedTracker
from teleop_system.utils.minimum_jerk import PEAK_SPEED, minimum_jerk
from teleop_system.utils.transforms import quat_distance

DT = 0.01
DURATION = 24.0
TIMES = np.arange(0.0, DURATION, DT)
HANDS = (TrackerRole.RIGHT_HAND, TrackerRole.LEFT_HAND)


@functools.lru_cache
def positions(role: TrackerRole, seed: int = 0, **settings: float) -> np.ndarray:
    tracker = SimulatedTracker(role, seed=seed, **settings)
    return np.array([tracker.pose_at(time).position for time in TIMES])


def speeds(path: np.ndarray) -> np.ndarray:
    return np.linalg.norm(np.diff(path, axis=0), axis=1) / DT


def accelerations(path: np.ndarray) -> np.ndarray:
    return np.linalg.norm(np.diff(path, 2, axis=0), axis=1) / DT**2


@pytest.mark.parametrize("role", list(TrackerRole))
def test_every_tracker_starts_at_rest_at_its_reference(role: TrackerRole) -> None:
    path = positions(role)
    np.testing.assert_array_equal(path[0], REFERENCE_POSITIONS[role])
    assert speeds(path)[0] < 1e-3
    assert accelerations(path)[0] < 0.1


@pytest.mark.parametrize("role", HANDS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_hands_move_at_the_speed_of_people(role: TrackerRole, seed: int) -> None:
    path = positions(role, seed)
    assert 0.3 < speeds(path).max() < 0.8
    assert accelerations(path).max() < 4.0


@pytest.mark.parametrize("settings", [{"amplitude": 5.0}, {"frequency": 3.0}])
def test_no_setting_makes_a_hand_dangerously_fast(settings: dict[str, float]) -> None:
    assert speeds(positions(TrackerRole.LEFT_HAND, **settings)).max() < 0.8


@pytest.mark.parametrize("role", list(TrackerRole))
def test_acceleration_has_no_steps(role: TrackerRole) -> None:
    path = positions(role)
    # Jerk is bounded: between samples 10 ms apart an acceleration changes by 1 m/s^2 at
    # most, while a velocity step of only 0.1 m/s would appear as 10 m/s^2.
    acceleration = np.diff(path, 2, axis=0) / DT**2
    assert np.abs(np.diff(acceleration, axis=0)).max() < 1.0


@pytest.mark.parametrize("role", [TrackerRole.RIGHT_HAND, TrackerRole.WAIST, TrackerRole.HEAD])
def test_orientations_change_smoothly(role: TrackerRole) -> None:
    tracker = SimulatedTracker(role, seed=3)
    orientations = np.array([tracker.pose_at(time).orientation for time in TIMES[:2000]])
    rates = quat_distance(orientations[1:], orientations[:-1]) / DT
    assert 0.1 < rates.max() < 3.0
    assert np.abs(np.diff(rates)).max() < 0.15


@pytest.mark.parametrize("role", HANDS)
def test_hands_stay_within_a_workspace_and_use_it(role: TrackerRole) -> None:
    offset = positions(role, seed=4) - REFERENCE_POSITIONS[role]
    assert np.linalg.norm(offset, axis=1).max() < 0.3
    assert np.ptp(offset, axis=0).min() > 0.15
    assert (np.sign(positions(role, seed=4)[:, 1]) == np.sign(REFERENCE_POSITIONS[role][1])).all()


def test_the_same_seed_gives_the_same_motion_to_the_last_bit() -> None:
    first, second = (SimulatedTracker("right_hand", seed=5) for _ in range(2))
    times = [0.0, 33.3, 2.0, 10.7]
    forwards = [first.pose_at(time).position for time in times]
    backwards = [second.pose_at(time).position for time in reversed(times)]
    np.testing.assert_array_equal(forwards, backwards[::-1])


def test_another_seed_gives_another_motion() -> None:
    first, second = (SimulatedTracker("right_hand", seed=seed) for seed in (1, 2))
    assert np.abs(first.pose_at(5.0).position - second.pose_at(5.0).position).max() > 0.01


def test_the_body_follows_the_hands_of_the_same_person() -> None:
    mean = sum(positions(role, seed=6)[:, 0] - 0.4 for role in HANDS) / 2.0
    waist = positions(TrackerRole.WAIST, seed=6)[:, 0]
    stranger = positions(TrackerRole.WAIST, seed=7)[:, 0]
    assert np.corrcoef(mean, waist)[0, 1] > 0.8
    assert abs(np.corrcoef(mean, stranger)[0, 1]) < 0.6


def test_feet_stand_then_step_in_turn() -> None:
    right, left = (
        positions(role)[:, 2] - 0.05 for role in (TrackerRole.RIGHT_FOOT, TrackerRole.LEFT_FOOT)
    )
    standing = TIMES < 9.0
    assert np.abs(right[standing]).max() == 0.0
    assert 0.05 < right.max() < 0.15
    assert 0.05 < left.max() < 0.15
    assert (np.minimum(right, left) == 0.0).all()  # At least one foot is on the floor.


def test_the_sinusoid_is_a_sine() -> None:
    tracker = SimulatedTracker(
        TrackerRole.RIGHT_HAND, motion="sinusoid", amplitude=0.1, frequency=0.25
    )
    np.testing.assert_allclose(tracker.pose_at(1.0).position, [0.5, -0.2, 1.1])
    np.testing.assert_allclose(tracker.pose_at(3.0).position, [0.3, -0.4, 0.9])
    np.testing.assert_array_equal(tracker.pose_at(1.0).orientation, [0, 0, 0, 1])


def test_the_sinusoid_may_have_an_amplitude_for_each_axis() -> None:
    tracker = SimulatedTracker(
        "left_hand", motion="sinusoid", amplitude=(0.0, 0.0, 0.2), frequency=0.5
    )
    np.testing.assert_allclose(tracker.pose_at(0.5).position, [0.4, 0.3, 1.2])


def test_motion_starts_at_initialize_and_has_the_stamps_of_the_clock() -> None:
    now = [100.0]
    tracker = SimulatedTracker("right_hand", seed=1, clock=lambda: now[0])
    assert tracker.get_pose().valid is False
    tracker.initialize()
    now[0] = 103.5
    pose = tracker.get_pose()
    assert pose.timestamp == 103.5
    np.testing.assert_array_equal(pose.position, tracker.pose_at(3.5).position)


def test_the_reference_can_be_moved_and_rotated() -> None:
    half = np.sqrt(0.5)
    reference = Pose6D(np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.0, half, half]))
    pose = SimulatedTracker("waist", reference=reference).pose_at(0.0)
    np.testing.assert_array_equal(pose.position, reference.position)
    np.testing.assert_allclose(pose.orientation, reference.orientation)


@pytest.mark.parametrize("settings", [{"role": "right_fot"}, {"motion": "humn"}])
def test_unknown_names_are_reported_with_the_valid_ones(settings: dict[str, str]) -> None:
    with pytest.raises(UnknownNameError, match="did you mean"):
        SimulatedTracker(**{"role": "waist", **settings})


@pytest.mark.parametrize(
    "settings",
    [
        {"amplitude": -0.1},
        {"amplitude": np.nan},
        {"frequency": 0.0},
        {"frequency": -1.0},
        {"motion": "sinusoid", "amplitude": (0.1, 0.2)},
        {"motion": "sinusoid", "frequency": np.inf},
    ],
)
def test_values_that_give_no_motion_are_refused(settings: dict) -> None:
    with pytest.raises(InvalidValueError):
        SimulatedTracker("waist", **settings)


def test_operators_can_be_asked_directly() -> None:
    offset = OperatorMotion(seed=1).offset(TrackerRole.RIGHT_HAND, -1.0)
    np.testing.assert_array_equal(offset.translation, np.zeros(3))


def test_profiles_begin_and_end_at_rest() -> None:
    step = 1e-4
    for profile, ends in ((minimum_jerk, (0.0, 1.0)), (lift, (0.0, 0.0))):
        values = np.array([profile(s) for s in np.arange(-step, 1.0 + 2 * step, step)])
        assert (values[1], values[-1]) == pytest.approx(ends)
        slope = np.diff(values) / step
        assert abs(slope[1]) < 1e-5
        assert abs(slope[-2]) < 1e-5
    peak = np.diff([minimum_jerk(s) for s in np.arange(0.0, 1.0, step)]).max() / step
    assert peak == pytest.approx(PEAK_SPEED, rel=1e-6)
