# SPDX-License-Identifier: Apache-2.0
import math
import random

import numpy as np
import pytest

from teleop_system.interfaces import Pose6D
from teleop_system.modules.locomotion.config import GaitConfig
from teleop_system.modules.locomotion.gait_detector import GaitDetector, GaitEstimate, GaitState
from teleop_system.utils.transforms import euler_to_quat, quat_multiply
from tests.modules.locomotion.operators import (
    HALF_STANCE,
    Operator,
    Stance,
    estimate_of,
    standing,
    stepping,
    turning,
    walking,
)

DT = 0.02


def watch(
    operator: Operator, duration: float, detector: GaitDetector | None = None
) -> list[GaitEstimate]:
    """Return the estimate of every tick of a noisy recording of an operator."""
    rng = random.Random(1)
    detector = detector or GaitDetector(GaitConfig())
    times = (np.arange(int(duration / DT)) + 1) * DT
    return [estimate_of(detector, *operator(time).poses(time, rng)) for time in times.tolist()]


def is_still(estimate: GaitEstimate) -> bool:
    return (estimate.forward, estimate.lateral, estimate.yaw_rate) == (0.0, 0.0, 0.0)


def test_standing_with_sensor_noise_requests_exactly_zero() -> None:
    estimates = watch(standing, 20.0)
    assert all(is_still(e) and e.state is GaitState.STANDING for e in estimates)


def test_swaying_on_the_spot_requests_exactly_zero() -> None:
    def swaying(time: float) -> Stance:
        lean = 0.015 * math.sin(2.0 * time)
        lift = 0.01 * (1.0 + math.sin(3.0 * time))
        return Stance((lean, HALF_STANCE, lift, 0.05 * lean), (lean, -HALF_STANCE, 0.0, 0.0))

    assert all(is_still(e) for e in watch(swaying, 20.0))


@pytest.mark.parametrize("cadence", [1.5, 2.0, 2.5])
def test_stepping_in_place_requests_speed_ahead_with_the_cadence(cadence: float) -> None:
    estimate = watch(stepping(cadence), 6.0)[-1]
    assert estimate.state is GaitState.STEPPING
    assert estimate.forward == pytest.approx(cadence * GaitConfig().stride, rel=0.05)
    assert (estimate.lateral, estimate.yaw_rate) == (0.0, 0.0)


def test_stepping_is_detected_with_the_second_lift() -> None:
    estimates = watch(stepping(2.0), 2.0)
    first = next(i for i, e in enumerate(estimates) if e.state is GaitState.STEPPING)
    assert (first + 1) * DT == pytest.approx(1.55, abs=0.05)


def test_a_single_lift_is_not_stepping() -> None:
    def lifting(time: float) -> Stance:
        height = 0.15 if 1.0 < time < 1.4 else 0.0
        return Stance(left=(0.0, HALF_STANCE, height, 0.0))

    assert all(is_still(e) for e in watch(lifting, 3.0))


def test_lifting_the_same_foot_repeatedly_is_not_stepping() -> None:
    def tapping(time: float) -> Stance:
        return Stance(left=(0.0, HALF_STANCE, 0.1 * max(0.0, math.sin(8.0 * time)), 0.0))

    assert all(is_still(e) for e in watch(tapping, 6.0))


def test_hopping_on_both_feet_is_not_stepping() -> None:
    def hopping(time: float) -> Stance:
        height = 0.15 * max(0.0, math.sin(8.0 * time))
        return Stance((0.0, HALF_STANCE, height, 0.0), (0.0, -HALF_STANCE, height, 0.0))

    assert all(is_still(e) for e in watch(hopping, 6.0))


def test_standing_on_one_leg_is_standing() -> None:
    def crane(time: float) -> Stance:
        return Stance(left=(0.0, HALF_STANCE, 0.3 if time > 1.0 else 0.0, 0.0))

    assert all(is_still(e) for e in watch(crane, 6.0))


def test_a_kick_is_not_walking() -> None:
    def kicking(time: float) -> Stance:
        swing = 0.6 * max(0.0, math.sin(4.0 * time))
        return Stance(right=(swing, -HALF_STANCE, 0.3 * swing, swing))

    assert all(is_still(e) for e in watch(kicking, 8.0))


@pytest.mark.parametrize("speed", [0.3, 0.8, 1.2])
def test_walking_requests_the_speed_of_the_body(speed: float) -> None:
    estimates = watch(walking(speed), 8.0)[200:]
    assert {e.state for e in estimates} == {GaitState.WALKING}
    assert np.mean([e.forward for e in estimates]) == pytest.approx(speed, rel=0.05)
    assert max(abs(e.lateral) for e in estimates) < 0.05


def test_walking_backwards_requests_a_negative_speed() -> None:
    assert watch(walking(0.5, heading=math.pi), 6.0)[-1].forward == pytest.approx(-0.5, abs=0.1)


def test_walking_sideways_requests_lateral_speed() -> None:
    estimate = watch(walking(0.2, heading=math.pi / 2.0), 6.0)[-1]
    assert estimate.lateral == pytest.approx(0.2, abs=0.05)
    assert abs(estimate.forward) < 0.03


def test_walking_ends_within_a_step_of_the_feet_resting() -> None:
    estimates = watch(walking(0.6, stop=5.0), 6.0)
    last = max(i for i, e in enumerate(estimates) if not is_still(e))
    assert last * DT <= 5.0 + GaitConfig().rest_after + 2.0 * DT


@pytest.mark.parametrize("rate", [0.8, -0.8])
def test_rotation_on_the_spot_requests_the_rate_of_the_feet_and_no_speed(rate: float) -> None:
    estimates = watch(turning(rate), 6.0)
    assert np.mean([e.yaw_rate for e in estimates[150:]]) == pytest.approx(rate, rel=0.05)
    assert all(e.forward == 0.0 for e in estimates)


def test_several_rotations_in_a_row_add_up() -> None:
    estimates = watch(turning(1.5), 16.0)
    angle = sum(e.yaw_rate for e in estimates) * DT
    assert angle == pytest.approx(1.5 * 15.0, rel=0.1)


def test_a_lifted_foot_that_swings_requests_no_rotation() -> None:
    def twisting(time: float) -> Stance:
        return Stance(left=(0.0, HALF_STANCE, 0.2, 1.2 * math.sin(3.0 * time)))

    assert all(is_still(e) for e in watch(twisting, 6.0))


def test_a_waist_that_moves_alone_requests_nothing() -> None:
    detector, rng = GaitDetector(GaitConfig()), random.Random(0)
    for tick in range(300):
        time = (tick + 1) * DT
        sway = math.sin(2.0 * time)
        waist = Pose6D([0.3 * sway, 0.1 * sway, 1.0], euler_to_quat(0.0, 0.0, sway), time)
        assert is_still(estimate_of(detector, *standing(time).poses(time, rng), waist))


def test_with_a_waist_walking_is_detected_earlier() -> None:
    detectors = GaitDetector(GaitConfig()), GaitDetector(GaitConfig())
    seen: list[float] = []
    for detector, has_waist in zip(detectors, (False, True), strict=True):
        for tick in range(200):
            time = (tick + 1) * DT
            waist = Pose6D([0.6 * max(0.0, time - 1.0), 0.0, 1.0], [0, 0, 0, 1], time)
            poses = walking(0.6)(time).poses(time)
            if estimate_of(detector, *poses, waist if has_waist else None).forward > 0.0:
                seen.append(time)
                break
    assert seen[1] < seen[0] - 0.2


def test_a_waist_that_comes_and_goes_does_not_move_the_body() -> None:
    detector = GaitDetector(GaitConfig())
    for tick in range(400):
        time = (tick + 1) * DT
        waist = Pose6D([0.6 * max(0.0, time - 1.0) - 5.0, 3.0, 1.0], [0, 0, 0, 1], time)
        is_worn = tick // 30 % 2 == 0
        estimate = estimate_of(
            detector, *walking(0.6)(time).poses(time), waist if is_worn else None
        )
        assert -0.05 <= estimate.forward <= 0.9


def test_the_stance_gives_the_heading_for_trackers_in_any_orientation() -> None:
    detector = GaitDetector(GaitConfig(heading="stance"))
    straps = euler_to_quat(0.4, -0.5, 2.0), euler_to_quat(-1.0, 0.3, -1.5)
    for tick in range(300):
        time = (tick + 1) * DT
        feet = walking(0.5)(time).poses(time)
        left, right = (
            Pose6D(foot.position, quat_multiply(foot.orientation, strap), time)
            for foot, strap in zip(feet, straps, strict=True)
        )
        estimate = estimate_of(detector, left, right)
    assert estimate.forward == pytest.approx(0.5, abs=0.1)
    assert abs(estimate.lateral) < 0.05


def test_exchanged_feet_show_in_the_stance() -> None:
    detector = GaitDetector(GaitConfig())
    left, right = standing(0.0).poses(1.0)
    assert estimate_of(detector, right, left).stance == pytest.approx(-2.0 * HALF_STANCE)


def test_poses_that_are_not_newer_change_nothing() -> None:
    detector = GaitDetector(GaitConfig())
    watch(stepping(2.0), 3.0, detector)
    before = detector.estimate
    assert estimate_of(detector, *standing(0.0).poses(2.0)) is before
