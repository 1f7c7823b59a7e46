# SPDX-License-Identifier: Apache-2.0
"""The motion of least cost within limits, compared with known optimal motions."""

import numpy as np
import pytest

from teleop_system.solvers.planning.limited_motion import MotionLimits, limited_motion

STEP = 0.04
FREE = 1e3


def limits(size: int = 1, **given: float) -> MotionLimits:
    values = {"lower": -FREE, "upper": FREE, "velocity": FREE, "acceleration": FREE, "jerk": 1e6}
    return MotionLimits(**{name: np.full(size, given.get(name, values[name])) for name in values})


def nearest(course: np.ndarray, within: MotionLimits) -> np.ndarray:
    count, size = course.shape
    prices = np.tile(np.eye(size), (count, 1, 1))
    return limited_motion(prices, course, course[0], within, STEP)


def derivatives(motion: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return tuple(np.diff(motion, n, axis=0) / STEP**n for n in (1, 2, 3))  # type: ignore[return-value]


def swing(amplitude: float, frequency: float, seconds: float = 6.0) -> np.ndarray:
    time = np.arange(0.0, seconds, STEP)
    return amplitude * np.sin(2.0 * np.pi * frequency * time)[:, None]


def test_a_motion_within_the_limits_is_unchanged() -> None:
    course = np.column_stack([swing(0.3, 0.3), swing(-0.2, 0.5)])
    found = nearest(course, limits(2, velocity=2.0, acceleration=5.0, jerk=100.0))
    np.testing.assert_allclose(found, course, atol=1e-5)


def test_no_limit_is_ever_exceeded_for_any_requested_motion() -> None:
    course = np.cumsum(np.random.default_rng(1).normal(size=(200, 3)), axis=0)
    within = limits(3, lower=-2.0, upper=2.0, velocity=2.0, acceleration=10.0, jerk=200.0)
    course[0] = 0.0
    found = nearest(course, within)
    speed, acceleration, jerk = derivatives(found)
    assert np.abs(found).max() <= 2.0
    assert np.abs(speed).max() <= 2.0 * (1.0 + 1e-9)
    assert np.abs(acceleration).max() <= 10.0 * (1.0 + 1e-9)
    assert np.abs(jerk).max() <= 200.0 * (1.0 + 1e-6)  # Rounding errors of thousands of sums.


def test_a_swing_that_is_too_fast_keeps_its_timing_and_loses_amplitude() -> None:
    """A sine needs (2 pi f)^2 of its amplitude; with half of that, it swings half as far."""
    amplitude, frequency = 0.5, 1.0
    needed = amplitude * (2.0 * np.pi * frequency) ** 2
    found = nearest(swing(amplitude, frequency), limits(acceleration=0.5 * needed))
    middle = slice(40, 110)
    course, kept = swing(amplitude, frequency)[middle, 0], found[middle, 0]
    # A swing at full acceleration throughout is a row of parabolas, a quarter wider than a sine.
    assert np.ptp(kept) / np.ptp(course) == pytest.approx(0.5 * np.pi**2 / 8.0, rel=0.03)
    lags = [float(np.dot(course[5:-5], np.roll(kept, lag)[5:-5])) for lag in range(-4, 5)]
    assert int(np.argmax(lags)) == 4  # The correlation is largest without a shift.


def test_a_step_begins_early_and_is_half_done_when_it_is_due() -> None:
    """The future is known, so half of a step is made before it is due."""
    course = np.concatenate([np.zeros((75, 1)), np.ones((75, 1))])
    found = nearest(course, limits(velocity=2.0))
    assert found[74, 0] + found[75, 0] == pytest.approx(1.0, abs=1e-3)
    assert found[60, 0] == pytest.approx(0.0, abs=1e-3)


def test_weights_decide_which_joint_deviates() -> None:
    """The sum of two joints is a swing: the fast one compensates for the slow one."""
    course = swing(0.4, 1.0)
    count = len(course)
    row = np.ones((1, 2))
    prices = np.tile(row.T @ row + 1e-3 * np.eye(2), (count, 1, 1))
    within = MotionLimits(
        *(np.full(2, value) for value in (-FREE, FREE)),
        np.full(2, FREE),
        np.array([1.0, 100.0]),
        np.full(2, 1e6),
    )
    found = limited_motion(prices, course @ row, np.zeros(2), within, STEP)
    np.testing.assert_allclose(found.sum(axis=1), course[:, 0], atol=2e-3)
    assert np.abs(derivatives(found)[1][:, 0]).max() <= 1.0 + 1e-9
