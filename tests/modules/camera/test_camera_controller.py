# SPDX-License-Identifier: Apache-2.0
import math
import random
from collections.abc import Callable

import numpy as np
import pytest

from teleop_system.interfaces import Pose6D
from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.modules.camera.camera_controller import CameraController, PanTiltOutput
from teleop_system.modules.camera.config import CameraConfig
from teleop_system.utils.transforms import quat_exp, quat_multiply
from tests.rates import largest_rates

DT = 1.0 / 30.0
CONFIG = CameraConfig()

# Written out rather than taken from the configuration.
LIMIT, VELOCITY, ACCELERATION, JERK = 1.57, 3.14, 10.0, 100.0
FIRST_STEP, RAMP = 0.002, 0.8


def head(yaw: float, nod: float = 0.0, time: float = 0.0) -> Pose6D:
    quaternion = quat_multiply(quat_exp([0.0, 0.0, yaw]), quat_exp([0.0, nod, 0.0]))
    return Pose6D([0.0, 0.0, 1.7], quaternion, time)


Motion = Callable[[float], tuple[float, float]]


def look(
    controller: CameraController, motion: Motion, start: float, stop: float, *, dt: float = DT
) -> list[PanTiltOutput]:
    """Return the output of every tick while a head makes a motion (yaw, nod over time)."""
    ticks = range(round(start / dt) + 1, round(stop / dt) + 1)
    return [
        controller.update(head(*motion(t * dt), time=t * dt), now=t * dt, dt=dt) for t in ticks
    ]


def still(yaw: float, nod: float = 0.0) -> Motion:
    return lambda time: (yaw, nod)


def rules(output: PanTiltOutput) -> set[Rule]:
    return {cause.rule for cause in output.causes}


def gazing() -> CameraController:
    """Return a controller that looks ahead, centred; the time is 2 s."""
    controller = CameraController(CONFIG)
    look(controller, still(0.0), 0.0, 2.0)
    return controller


@pytest.mark.parametrize(("yaw", "nod"), [(0.5, 0.0), (-1.0, 0.0), (0.0, 0.4), (0.6, -0.5)])
def test_the_head_pans_and_tilts_with_the_operator(yaw: float, nod: float) -> None:
    output = look(gazing(), lambda t: (yaw * min(1, t - 2), nod * min(1, t - 2)), 2.0, 6.0)[-1]
    assert (output.pan, output.tilt) == pytest.approx((yaw, nod), abs=1e-3)
    assert output.causes == ()


def test_looking_down_is_positive_tilt() -> None:
    down = head(0.0, 0.3)
    assert down.orientation[1] > 0.0  # About +y, which rotates x towards -z.
    assert look(gazing(), lambda t: (0.0, min(0.3, t - 2)), 2.0, 5.0)[-1].tilt > 0.29


def test_a_rotation_of_the_head_is_followed_with_little_lag() -> None:
    outputs = look(gazing(), lambda t: (0.8 * math.sin(2.0 * (t - 2.0)), 0.0), 2.0, 14.0)
    pans = np.array([output.pan for output in outputs[150:]])
    times = 2.0 + DT * (np.arange(len(outputs)) + 1.0)[150:]
    lags = np.arange(0.0, 0.3, 0.005)
    errors = [np.abs(pans - 0.8 * np.sin(2.0 * (times - lag - 2.0))).mean() for lag in lags]
    assert lags[int(np.argmin(errors))] <= 0.08


def test_noise_of_the_sensor_is_reduced() -> None:
    controller, rng = gazing(), random.Random(0)
    pans = [
        controller.update(head(rng.gauss(0.0, 0.002), time=t * DT), now=t * DT, dt=DT).pan
        for t in range(61, 400)
    ]
    assert np.std(pans) < 0.0012


@pytest.mark.parametrize(("yaw", "nod"), [(2.0, 0.0), (-2.5, 0.0), (0.0, 1.9), (0.0, -1.8)])
def test_requests_beyond_the_range_stop_at_the_limit_with_a_cause(yaw: float, nod: float) -> None:
    output = look(gazing(), lambda t: (yaw * min(1, t - 2), nod * min(1, t - 2)), 2.0, 6.0)[-1]
    expected = [max(-LIMIT, min(LIMIT, angle)) for angle in (yaw, nod)]
    assert (output.pan, output.tilt) == pytest.approx(expected, abs=1e-6)
    assert rules(output) == {Rule.POSITION}


def test_an_operator_who_looks_back_does_not_swing_the_head_across() -> None:
    outputs = look(gazing(), lambda t: (1.0 * (t - 2.0), 0.0), 2.0, 2.0 + 1.3 * math.pi)
    pans = [output.pan for output in outputs]
    assert min(np.diff(pans)) > -1e-9
    assert pans[-1] == pytest.approx(LIMIT, abs=1e-6)


def test_after_a_full_rotation_the_head_follows_again() -> None:
    full_circle = 2.0 * math.pi
    outputs = look(gazing(), lambda t: (min(full_circle, t - 2.0), 0.0), 2.0, 11.0)
    assert outputs[-1].pan == pytest.approx(0.0, abs=1e-3)


def test_centring_makes_the_present_gaze_straight_ahead_without_a_jump() -> None:
    controller = gazing()
    before = look(controller, lambda t: (min(1.0, t - 2.0), 0.2), 2.0, 5.0)[-1]
    controller.recenter()
    outputs = look(controller, still(1.0, 0.2), 5.0, 9.0)
    pans = np.array([before.pan, *(output.pan for output in outputs)])
    assert abs(pans[1] - pans[0]) <= FIRST_STEP
    assert abs(pans[round(0.4 / DT)] - 0.5) < 0.4
    assert abs(pans[round(RAMP / DT)]) > 1e-3
    assert (outputs[-1].pan, outputs[-1].tilt) == pytest.approx((0.0, 0.0), abs=1e-4)


def test_engaging_begins_with_the_present_gaze_as_straight_ahead() -> None:
    controller = CameraController(CONFIG)
    controller.reset(pan=0.4, tilt=-0.2)
    outputs = look(controller, still(2.0, 0.5), 0.0, 4.0)
    assert abs(outputs[0].pan - 0.4) <= FIRST_STEP
    assert (outputs[-1].pan, outputs[-1].tilt) == pytest.approx((0.0, 0.0), abs=1e-4)


def test_without_engagement_the_head_holds_with_a_cause() -> None:
    controller = gazing()
    for tick in range(61, 120):
        gaze = head(0.02 * (tick - 60), time=tick * DT)
        output = controller.update(gaze, now=tick * DT, dt=DT, engaged=False)
        assert output.pan == pytest.approx(0.0, abs=1e-9)
        assert rules(output) == {Rule.NOT_ENGAGED}


@pytest.mark.parametrize("seed", range(20))
def test_every_engagement_and_resumption_starts_gently(seed: int) -> None:
    rng = random.Random(seed)
    controller = CameraController(CameraConfig(center_on_engage=False))
    controller.reset(rng.uniform(-1.5, 1.5), rng.uniform(-1.5, 1.5))
    dt = rng.choice([DT, 0.01, 0.02])
    now, target, last = 0.0, (0.0, 0.0), (controller.update(None, now=dt / 2, dt=dt))
    for _ in range(3):
        target = rng.uniform(-1.5, 1.5), rng.uniform(-1.5, 1.5)
        first, steps = None, 0
        while first is None or steps < RAMP / dt:
            now += dt
            output = controller.update(head(*target, time=now), now=now, dt=dt)
            moved = max(abs(output.pan - last.pan), abs(output.tilt - last.tilt))
            first, last, steps = moved if first is None else first, output, steps + 1
        assert first <= FIRST_STEP
        for _ in range(round(1.0 / dt)):
            now += dt
            last = controller.update(None, now=now, dt=dt)


def test_a_silent_head_holds_within_100_ms() -> None:
    controller = gazing()
    outputs = look(controller, lambda t: (1.5 * (t - 2.0), 0.0), 2.0, 2.6)
    last = head(0.9, time=2.6)
    held = [controller.update(last, now=2.6 + k * DT, dt=DT) for k in range(1, 40)]
    begin = next(i for i, output in enumerate(held, 1) if Rule.STALE in rules(output))
    assert begin * DT <= 0.1 + 1e-9
    assert max(cause.severity for cause in held[-1].causes) is Severity.HOLD
    pans = [outputs[-1].pan, *(output.pan for output in held)]
    assert pans[-1] == pans[-5]
    speeds = np.diff(pans) / DT
    assert np.abs(np.diff(speeds)).max() / DT <= ACCELERATION * (1.0 + 1e-6)


def test_a_few_lost_samples_are_bridged() -> None:
    controller = gazing()
    look(controller, lambda t: (0.5 * (t - 2.0), 0.0), 2.0, 3.0)
    lost = controller.update(Pose6D.lost(3.03), now=3.0 + DT, dt=DT)
    assert rules(lost) == {Rule.LOST}
    outputs = look(controller, lambda t: (0.5 * (t - 2.0), 0.0), 3.0 + DT, 4.0)
    assert outputs[5].pan == pytest.approx(0.5 * (1.0 + 7 * DT), abs=0.06)


BAD_HEADS: dict[str, tuple[object, Rule]] = {
    "none": (None, Rule.LOST),
    "nan": ([math.nan, 0.0, 0.0, 1.0], Rule.NON_FINITE),
    "infinite": ([math.inf, 0.0, 0.0, 1.0], Rule.NON_FINITE),
    "zero": ([0.0, 0.0, 0.0, 0.0], Rule.NON_UNIT),
    "long": ([0.0, 0.0, 0.0, 2.0], Rule.NON_UNIT),
    "three numbers": ([0.0, 0.0, 1.0], Rule.WRONG_SHAPE),
    "jump": ([0.0, 0.0, 1.0, 0.0], Rule.INPUT_JUMP),
}


@pytest.mark.parametrize("bad", BAD_HEADS)
def test_a_bad_head_is_refused_by_its_cause_and_held(bad: str) -> None:
    value, rule = BAD_HEADS[bad]
    controller = gazing()
    output = controller.update(value, now=2.0 + DT, dt=DT)  # type: ignore[arg-type]
    assert rule in rules(output)
    assert output.pan == pytest.approx(0.0, abs=1e-9)


def test_a_quaternion_without_a_stamp_counts_as_measured_now() -> None:
    controller = CameraController(CONFIG)
    for tick in range(1, 200):
        yaw = 0.3 * min(1.0, tick / 30)
        output = controller.update(quat_exp([0.0, 0.0, yaw]), now=tick * DT, dt=DT)
    assert output.pan == pytest.approx(0.29, abs=0.002)
    assert output.timestamp == pytest.approx(199 * DT)


@pytest.mark.parametrize(
    ("now", "dt", "rule"),
    [
        (1.0, DT, Rule.TIME_ORDER),
        (2.0, DT, Rule.TIME_ORDER),
        (2.1, 0.0, Rule.TIME_ORDER),
        (math.nan, DT, Rule.NON_FINITE),
        (4.0, 2.0, Rule.OVERRUN),
    ],
)
def test_a_clock_that_fails_holds_the_head(now: float, dt: float, rule: Rule) -> None:
    controller = gazing()
    output = controller.update(head(0.2, time=2.01), now=now, dt=dt)
    assert rule in rules(output)
    assert output.pan == pytest.approx(0.0, abs=1e-9)


def hostile(
    controller: CameraController, seed: int, count: int
) -> list[tuple[float, float, float]]:
    """Return (dt, pan, tilt) of a run in which everything happens."""
    rng, now, record = random.Random(seed), 0.0, []
    yaw = nod = speed = 0.0
    trouble, engaged = "none", True
    for _ in range(count):
        if rng.random() < 0.02:
            trouble = rng.choice(["none", "none", "none", "lost", "jump", "silent", "noise"])
            speed, engaged = rng.uniform(-6.0, 6.0), rng.random() < 0.9
            if rng.random() < 0.2:
                controller.recenter()
        dt = rng.choice([DT, DT, 0.02, 0.01, 0.05])
        now += dt
        yaw, nod = yaw + speed * dt, 1.8 * math.sin(3.0 * now)
        jumps = trouble == "jump" and rng.random() < 0.1
        shake = rng.gauss(0.0, 0.2) if trouble == "noise" else 0.0
        pose: Pose6D | None = head(
            yaw + shake + 2.0 * jumps, nod, now - 0.2 * (trouble == "silent")
        )
        pose = None if trouble == "lost" and rng.random() < 0.5 else pose
        output = controller.update(pose, now=now, dt=dt, engaged=engaged)
        record.append((dt, output.pan, output.tilt))
    return record


def test_no_command_ever_exceeds_a_limit() -> None:
    record = np.array(hostile(CameraController(CONFIG), 0, 4000))
    dt = record[:, 0]
    for positions in record[:, 1:].T:
        rates = largest_rates([0.0, *positions], dt) / (VELOCITY, ACCELERATION, JERK)
        assert np.abs(positions).max() <= LIMIT
        assert ((rates > 0.9) & (rates < 1.0 + 1e-6)).all()


def test_the_same_inputs_give_the_same_commands_to_the_last_bit() -> None:
    first, second = (hostile(CameraController(CONFIG), 7, 300) for _ in range(2))
    assert first == second
