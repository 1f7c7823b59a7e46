# SPDX-License-Identifier: Apache-2.0
"""A PID controller per joint: it reaches its target, keeps its bounds, and never winds up."""

import numpy as np
import pytest

from teleop_system.exceptions import ConfigError
from teleop_system.simulators.joint_pid import JointPid, PidGains
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator

NOTHING = np.zeros(1)


def gains(p: float = 100.0, i: float = 0.0, d: float = 20.0, effort: float = 50.0) -> PidGains:
    return PidGains(*(np.array([value]) for value in (p, i, d, effort)))


def settle(pid: JointPid, load: float, seconds: float = 20.0) -> float:
    """Return where a mass of 1 kg comes to rest under a constant load [N]."""
    position = speed = 0.0
    for _ in range(int(seconds / 0.002)):
        effort = pid.update(np.array([1.0 - position]), np.array([-speed]), 0.002, NOTHING)[0]
        speed += (effort - load) * 0.002
        position += speed * 0.002
    return position


def test_a_load_causes_an_error_without_and_no_error_with_an_integral() -> None:
    assert settle(JointPid(gains()), 10.0) == pytest.approx(0.9, abs=1e-3)
    assert settle(JointPid(gains(i=50.0)), 10.0) == pytest.approx(1.0, abs=1e-3)


def test_efforts_stay_within_their_limit_for_any_request() -> None:
    pid = JointPid(gains(i=500.0))
    for error in np.random.default_rng(0).uniform(-1e3, 1e3, 500):
        effort = pid.update(np.array([error]), np.array([error]), 0.002, np.array([1e6]))
        assert abs(effort[0]) <= 50.0


def test_the_integral_does_not_wind_up_against_an_obstacle() -> None:
    pid = JointPid(gains(i=50.0))
    for _ in range(5000):
        pid.update(np.array([10.0]), NOTHING, 0.002, NOTHING)
    assert pid.update(NOTHING, NOTHING, 0.002, NOTHING)[0] == pytest.approx(0.0, abs=1.0)


def test_gains_come_from_the_model_and_can_be_changed(rby1: MuJoCoSimulator) -> None:
    indices = rby1.joint_indices(["right_arm_0", "right_arm_3"])
    own = PidGains.of_model(rby1, indices)
    assert (own.p > 0.0).all() and (own.d > 0.0).all() and not own.i.any()
    changed = own.changed(p=[500.0], i=[1.0, 2.0], d=[])
    assert changed.p.tolist() == [500.0, 500.0] and changed.i.tolist() == [1.0, 2.0]
    np.testing.assert_array_equal(changed.d, own.d)


@pytest.mark.parametrize("numbers", [[1.0, 2.0, 3.0], [-1.0], [float("nan")]])
def test_gains_that_cannot_be_used_are_refused(numbers: list[float]) -> None:
    with pytest.raises(ConfigError, match="'p'"):
        PidGains(*(np.ones(2) for _ in range(4))).changed(p=numbers)
