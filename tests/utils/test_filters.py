# SPDX-License-Identifier: Apache-2.0
"""The one-euro filters: little noise at rest, little lag in motion, the same at any rate."""

import math

import numpy as np
import pytest

from teleop_system.exceptions import InvalidPoseError
from teleop_system.utils.filters import OneEuroFilter, OneEuroRotationFilter
from teleop_system.utils.transforms import quat_distance, quat_exp


def test_the_first_value_passes_unchanged() -> None:
    assert OneEuroFilter(1.0).update(3.5, 0.01) == 3.5


def test_an_output_does_not_change_with_the_array_it_came_from() -> None:
    filter_, values = OneEuroFilter(1.0, 0.5), np.zeros(3)
    output = filter_.update(values, 0.01)
    values[:] = 1.0
    assert not output.any()


def test_a_step_follows_the_exponential_of_the_cutoff() -> None:
    filter_ = OneEuroFilter(2.0)
    filter_.update(0.0, 0.01)
    for _ in range(10):
        value = filter_.update(1.0, 0.01)
    assert value == pytest.approx(1.0 - math.exp(-2.0 * math.pi * 2.0 * 0.1), abs=1e-12)


def test_the_sampling_rate_does_not_change_the_smoothing() -> None:
    slow, fast = OneEuroFilter(2.0), OneEuroFilter(2.0)
    slow.update(0.0, 0.02)
    fast.update(0.0, 0.01)
    for _ in range(10):
        fast.update(1.0, 0.01)
        expected = fast.update(1.0, 0.01)
        assert slow.update(1.0, 0.02) == pytest.approx(expected, abs=1e-12)


def test_noise_at_rest_is_reduced() -> None:
    rng = np.random.default_rng(0)
    filter_ = OneEuroFilter(1.0, 0.0)
    noise = rng.normal(0.0, 1.0, 2000)
    assert np.std([filter_.update(value, 0.01) for value in noise]) < 0.25


def test_motion_reduces_the_lag() -> None:
    calm, prompt = OneEuroFilter(1.0, 0.0), OneEuroFilter(1.0, 5.0)
    for tick in range(200):
        value = 2.0 * tick * 0.01
        lags = [value - filter_.update(value, 0.01) for filter_ in (calm, prompt)]
    assert lags[0] > 0.25
    assert lags[1] < 0.05


def test_elements_of_an_array_are_filtered_as_they_would_be_alone() -> None:
    rng = np.random.default_rng(1)
    together, alone = OneEuroFilter(1.0, 2.0), [OneEuroFilter(1.0, 2.0) for _ in range(3)]
    for _ in range(50):
        values = rng.normal(size=3)
        expected = [f.update(v, 0.01)[0] for f, v in zip(alone, values, strict=True)]
        np.testing.assert_allclose(together.update(values, 0.01), expected, atol=1e-12)


def test_without_time_nothing_changes() -> None:
    filter_ = OneEuroFilter(1.0)
    filter_.update(1.0, 0.01)
    assert filter_.update(9.0, 0.0) == 1.0


def test_a_reset_filter_starts_again() -> None:
    filter_ = OneEuroFilter(1.0)
    filter_.update(1.0, 0.01)
    filter_.reset()
    assert filter_.update(9.0, 0.01) == 9.0


def test_a_rotation_about_one_axis_is_filtered_like_its_angle() -> None:
    rotation, angle = OneEuroRotationFilter(1.0, 2.0), OneEuroFilter(1.0, 2.0)
    for tick in range(100):
        yaw = 0.5 * math.sin(0.05 * tick)
        expected = angle.update(yaw, 0.01)[0]
        quaternion = rotation.update(quat_exp([0.0, 0.0, yaw]), 0.01)
        assert float(quat_distance(quaternion, quat_exp([0.0, 0.0, expected]))) < 1e-9


def test_the_sign_of_a_quaternion_does_not_matter() -> None:
    rng = np.random.default_rng(2)
    plain, flipped = OneEuroRotationFilter(1.0, 1.0), OneEuroRotationFilter(1.0, 1.0)
    for _ in range(50):
        quaternion = quat_exp(rng.normal(0.0, 0.3, 3))
        a = plain.update(quaternion, 0.01)
        b = flipped.update(quaternion * rng.choice([-1.0, 1.0]), 0.01)
        assert float(quat_distance(a, b)) < 1e-7


def test_filtered_rotations_keep_unit_length() -> None:
    rng = np.random.default_rng(3)
    filter_ = OneEuroRotationFilter(1.0, 1.0)
    for _ in range(500):
        value = filter_.update(quat_exp(rng.normal(0.0, 1.0, 3)) * 1.0005, 0.01)
    assert np.linalg.norm(value) == pytest.approx(1.0, abs=1e-14)


def test_a_quaternion_without_length_is_refused() -> None:
    with pytest.raises(InvalidPoseError):
        OneEuroRotationFilter(1.0).update(np.zeros(4), 0.01)
