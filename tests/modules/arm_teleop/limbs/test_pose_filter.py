# SPDX-License-Identifier: Apache-2.0
import dataclasses
import itertools
import math

import numpy as np
import pytest

from teleop_system.modules.arm_teleop.config import SmoothingConfig
from teleop_system.modules.arm_teleop.limbs.pose_filter import PoseFilter
from teleop_system.simulators.simulated_tracker import SimulatedTracker
from teleop_system.utils.filters import OneEuroRotationFilter
from teleop_system.utils.poses import IDENTITY
from teleop_system.utils.transforms import (
    quat_conjugate,
    quat_distance,
    quat_exp,
    quat_log,
    quat_rotate,
)
from teleop_system.utils.transforms import quat_multiply as multiply
from tests.modules.arm_teleop.rig import Array

DT = 0.01
FIXED = SmoothingConfig(min_cutoff=2.8, turn_min_cutoff=2.8, beta=0.0, turn_beta=0.0, lead=0.0)


def smoothed(config: SmoothingConfig, positions: Array, rotations: Array) -> tuple[Array, Array]:
    """Return the output of a filter for poses at 100 Hz."""
    made = PoseFilter(config)
    results = []
    for position, rotation in zip(positions.tolist(), rotations.tolist(), strict=True):
        made.update((tuple(position), tuple(rotation)), DT)
        results.append(made.predict(0.0))
    return np.array([p for p, _ in results]), np.array([q for _, q in results])


def noisy(positions: Array, rotations: Array, seed: int) -> tuple[Array, Array]:
    """Return poses with 2 mm and 0.5 degrees of noise on every axis."""
    random = np.random.default_rng(seed)
    shift = random.normal(scale=0.002, size=positions.shape)
    rotation = quat_exp(random.normal(scale=math.radians(0.5), size=positions.shape))
    return positions + shift, multiply(rotation, rotations)


def hand(seed: int, count: int = 2000) -> tuple[Array, Array]:
    tracker = SimulatedTracker("right_hand", seed=seed)
    poses = [tracker.pose_at(k * DT) for k in range(count)]
    return np.array([p.position for p in poses]), np.array([p.orientation for p in poses])


def lag(error: Array, speed: Array) -> float:
    """Return the lag of a signal in [s], from its error and its speed."""
    return -float((error * speed).sum() / np.square(speed).sum())


def lags(config: SmoothingConfig, seed: int) -> tuple[float, float]:
    """Return the lags of position and rotation on a noisy hand in [s]."""
    positions, rotations = hand(seed)
    filtered, filtered_rotations = smoothed(config, *noisy(positions, rotations, seed))
    speed = np.gradient(positions, DT, axis=0)
    error = quat_log(multiply(filtered_rotations, quat_conjugate(rotations)))
    rate = quat_log(multiply(rotations[2:], quat_conjugate(rotations[:-2]))) / (2.0 * DT)
    return lag(filtered - positions, speed), lag(error[1:-1], rate)


def unrest(config: SmoothingConfig) -> tuple[float, float]:
    """Return the remaining noise of a tracker at rest in [m] and [rad]."""
    still = np.zeros((2000, 3)), np.tile(IDENTITY, (2000, 1))
    filtered, filtered_rotations = smoothed(config, *noisy(*still, seed=5))
    angles = quat_distance(filtered_rotations, still[1])
    return (
        float(np.sqrt(np.square(filtered[200:]).sum(axis=1).mean())),
        float(np.sqrt(np.square(angles[200:]).mean())),
    )


def test_at_rest_it_reduces_noise_like_a_slow_low_pass() -> None:
    ours, fixed = unrest(SmoothingConfig()), unrest(FIXED)
    assert ours[0] == pytest.approx(fixed[0], rel=0.1)
    assert ours[1] == pytest.approx(fixed[1], rel=0.1)


@pytest.mark.parametrize("seed", range(3))
def test_in_motion_it_lags_far_less_than_that_low_pass(seed: int) -> None:
    ours, fixed = lags(SmoothingConfig(), seed), lags(FIXED, seed)
    assert ours[0] < 0.015 and fixed[0] > 0.045
    assert ours[1] < 0.025 and fixed[1] > 0.045


def one_euro(config: SmoothingConfig, positions: np.ndarray) -> np.ndarray:
    """Return the one-euro filter's output, with one cutoff for all axes from their speed."""

    def weight(cutoff: float) -> float:
        return -math.expm1(-2.0 * math.pi * cutoff * DT)

    value, velocity, result = positions[0], np.zeros(3), [positions[0]]
    for last, position in itertools.pairwise(positions):
        rate = (position - last) / DT
        velocity = velocity + weight(config.derivative_cutoff) * (rate - velocity)
        cutoff = config.min_cutoff + config.beta * float(np.linalg.norm(velocity))
        value = value + weight(cutoff) * (position - value)
        result.append(value)
    return np.array(result)


def test_without_lead_it_is_the_one_euro_filter() -> None:
    config = dataclasses.replace(SmoothingConfig(), lead=0.0)
    positions, rotations = noisy(*hand(1, 500), seed=1)
    filtered, filtered_rotations = smoothed(config, positions, rotations)
    rotation_filter = OneEuroRotationFilter(
        config.turn_min_cutoff, config.turn_beta, config.turn_derivative_cutoff
    )
    np.testing.assert_allclose(filtered, one_euro(config, positions), atol=1e-12)
    # Here rotations are chords instead of arcs, and their speed is averaged in the room frame.
    expected = np.array([rotation_filter.update(rotation, DT) for rotation in rotations])
    assert np.max(quat_distance(filtered_rotations, expected)) < 3e-4


def test_the_sign_of_a_quaternion_does_not_matter() -> None:
    positions, rotations = hand(0, 300)
    flipped = rotations * np.where(np.arange(300) % 3 == 0, -1.0, 1.0)[:, None]
    one = smoothed(SmoothingConfig(), positions, rotations)[1]
    other = smoothed(SmoothingConfig(), positions, flipped)[1]
    assert np.max(quat_distance(one, other)) < 1e-12


def test_a_rotated_room_gives_a_rotated_result() -> None:
    positions, rotations = noisy(*hand(2, 300), seed=2)
    room = quat_exp([0.4, -1.1, 2.0])
    one = smoothed(SmoothingConfig(), positions, rotations)
    other = smoothed(SmoothingConfig(), quat_rotate(room, positions), multiply(room, rotations))
    np.testing.assert_allclose(other[0], quat_rotate(room, one[0]), atol=1e-12)
    assert np.max(quat_distance(other[1], multiply(room, one[1]))) < 1e-12


def test_steady_motion_is_predicted() -> None:
    made = PoseFilter(SmoothingConfig(lead=1.0, rest_speed=1e-6, rest_turn=1e-6))
    tilted = quat_exp([1.2, 0.5, 0.0])
    for k in range(300):
        rotated = multiply(quat_exp([0.0, 0.0, 0.5 * k * DT]), tilted)
        x, y, z, w = rotated.tolist()
        made.update(((0.3 * k * DT, 0.0, 0.0), (x, y, z, w)), DT)
    position, rotation = made.predict(0.01)
    now = 299 * DT + 0.05 * -math.expm1(-0.2)
    assert position[0] == pytest.approx(0.3 * now, abs=1e-6)
    assert quat_distance(rotation, multiply(quat_exp([0.0, 0.0, 0.5 * now]), tilted)) < 1e-4


def test_without_samples_the_predicted_motion_ends() -> None:
    made = PoseFilter(SmoothingConfig())
    for k in range(100):
        made.update(((0.5 * k * DT, 0.0, 0.0), IDENTITY), DT)
    xs = [made.predict(0.01 * k)[0][0] for k in range(60)]
    steps = np.diff(xs)
    assert (steps > 0.0).all() and (np.diff(steps) < 0.0).all()
    assert xs[-1] - xs[0] < 0.5 * 0.05
    left, _ = made.remaining(0.1)
    assert made.predict(math.inf)[0][0] - made.predict(0.1)[0][0] == pytest.approx(left)


def test_a_repeated_stamp_changes_nothing() -> None:
    made = PoseFilter(SmoothingConfig())
    made.update(((0.0, 0.0, 0.0), IDENTITY), 0.0)
    made.update(((1.0, 0.0, 0.0), IDENTITY), 0.0)
    assert made.predict(0.0) == ((0.0, 0.0, 0.0), IDENTITY)
