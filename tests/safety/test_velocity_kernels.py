# SPDX-License-Identifier: Apache-2.0
"""The limited velocity against the differences of the velocities it emits."""

import math

import numpy as np
import pytest

from teleop_system.safety.velocity_kernels import VelocityStep, approach_velocity

ACCELERATION, JERK = 3.0, 10.0
TOLERANCE = 1e-6
AT_REST = VelocityStep(0.0, 0.0)


@pytest.mark.parametrize("hold", [1, 7, 150])
@pytest.mark.parametrize("is_even", [True, False], ids=["even", "uneven"])
def test_no_limit_is_ever_exceeded(hold: int, is_even: bool) -> None:
    rng = np.random.default_rng(hold)
    count = 2000
    targets = np.repeat(rng.uniform(-2.0, 2.0, count // hold + 1), hold)[:count]
    steps = np.full(count, 0.01) if is_even else 10.0 ** rng.uniform(-2.5, -0.5, count)
    now, velocities = AT_REST, [0.0]
    for target, dt in zip(targets.tolist(), steps.tolist(), strict=True):
        now = approach_velocity(*now, target, ACCELERATION, JERK, dt)
        velocities.append(now.velocity)
    acceleration = np.diff(velocities) / steps
    jerk = np.diff(acceleration, prepend=0.0) / steps
    assert np.abs(acceleration).max() <= ACCELERATION * (1.0 + TOLERANCE)
    assert np.abs(jerk).max() <= JERK * (1.0 + TOLERANCE)


@pytest.mark.parametrize("dt", [0.002, 0.01, 1.0 / 30.0])
@pytest.mark.parametrize("target", [2.0, -0.1, 1e-3, -1e-6])
def test_a_target_is_reached_exactly_and_never_overshot(dt: float, target: float) -> None:
    now, fastest = AT_REST, 0.0
    for _ in range(int(2.0 / dt)):
        now = approach_velocity(*now, target, ACCELERATION, JERK, dt)
        fastest = max(fastest, now.velocity * math.copysign(1.0, target))
    assert now.velocity == target
    assert fastest <= abs(target)
    now = approach_velocity(*now, target, ACCELERATION, JERK, dt)
    assert now.acceleration == 0.0


def test_a_lowered_acceleration_is_met_as_soon_as_jerk_allows() -> None:
    now = AT_REST
    for _ in range(50):
        now = approach_velocity(*now, 99.0, ACCELERATION, JERK, 0.01)
    assert now.acceleration == pytest.approx(ACCELERATION)
    for _ in range(20):
        now = approach_velocity(*now, 99.0, 1.0, JERK, 0.01)
    assert now.acceleration == pytest.approx(1.0)
