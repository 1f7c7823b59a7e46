# SPDX-License-Identifier: Apache-2.0
"""The velocity limiter against the differences of the velocities it emits."""

import math

import numpy as np
import pytest

from teleop_system.safety.velocity_limiter import VelocityLimiter

ACCELERATION, JERK = 3.0, 10.0
TOLERANCE = 1e-6


@pytest.mark.parametrize("hold", [1, 7, 150])
@pytest.mark.parametrize("is_even", [True, False], ids=["even", "uneven"])
def test_no_limit_is_ever_exceeded(hold: int, is_even: bool) -> None:
    rng = np.random.default_rng(hold)
    count = 2000
    targets = np.repeat(rng.uniform(-2.0, 2.0, count // hold + 1), hold)[:count]
    steps = np.full(count, 0.01) if is_even else 10.0 ** rng.uniform(-2.5, -0.5, count)
    limiter, velocities = VelocityLimiter(), [0.0]
    for target, dt in zip(targets.tolist(), steps.tolist(), strict=True):
        limiter.update(target, dt, acceleration=ACCELERATION, jerk=JERK)
        velocities.append(limiter.velocity)
    acceleration = np.diff(velocities) / steps
    jerk = np.diff(acceleration, prepend=0.0) / steps
    assert np.abs(acceleration).max() <= ACCELERATION * (1.0 + TOLERANCE)
    assert np.abs(jerk).max() <= JERK * (1.0 + TOLERANCE)


@pytest.mark.parametrize("dt", [0.002, 0.01, 1.0 / 30.0])
@pytest.mark.parametrize("target", [2.0, -0.1, 1e-3, -1e-6])
def test_a_target_is_reached_exactly_and_never_overshot(dt: float, target: float) -> None:
    limiter, fastest = VelocityLimiter(), 0.0
    for _ in range(int(2.0 / dt)):
        limiter.update(target, dt, acceleration=ACCELERATION, jerk=JERK)
        fastest = max(fastest, limiter.velocity * math.copysign(1.0, target))
    assert limiter.velocity == target
    assert fastest <= abs(target)
    limiter.update(target, dt, acceleration=ACCELERATION, jerk=JERK)
    assert limiter.acceleration == 0.0


def test_a_lowered_acceleration_is_met_as_soon_as_jerk_allows() -> None:
    limiter = VelocityLimiter()
    for _ in range(50):
        limiter.update(99.0, 0.01, acceleration=ACCELERATION, jerk=JERK)
    assert limiter.acceleration == pytest.approx(ACCELERATION)
    for _ in range(20):
        limiter.update(99.0, 0.01, acceleration=1.0, jerk=JERK)
    assert limiter.acceleration == pytest.approx(1.0)
