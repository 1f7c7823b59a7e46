# SPDX-License-Identifier: Apache-2.0

import math
import time

import numpy as np
import pytest
from typing_extensions import override

from teleop_system.modules.camera.config import CameraConfig
from teleop_system.modules.camera.head_follower import HeadFollower, HeadThread
from teleop_system.modules.camera.streaming.head_control import HeadRequest
from teleop_system.safety.staleness import HEAD_REQUEST
from tests.modules.camera.streaming.scenes import FakeCamera
from tests.waiting import stays, wait_for

DT = 1.0 / 30.0


def rotated(angle: float) -> np.ndarray:
    return np.array([0.0, 0.0, math.sin(angle / 2), math.cos(angle / 2)])


def test_angles_are_reached_within_the_limits_of_the_neck() -> None:
    config = CameraConfig(velocity=1.0)
    follower = HeadFollower(config, pan=0.2)
    pans = [0.2]
    for tick in range(90):
        now = tick * DT
        output = follower.update(HeadRequest(1, None, (0.8, -0.1), now), now=now, dt=DT)
        pans.append(output.pan)
    speeds = np.diff(pans) / DT
    assert np.abs(speeds).max() <= 1.0 + 1e-9
    assert np.abs(np.diff(speeds)).max() / DT <= config.acceleration * (1.0 + 1e-6)
    assert pans[-1] == pytest.approx(0.8, abs=1e-3)


def test_angles_that_are_not_repeated_hold_the_head() -> None:
    follower = HeadFollower(CameraConfig(velocity=0.2))
    request = HeadRequest(1, None, (1.0, 0.0), 0.0)
    pans = []
    for tick in range(90):
        output = follower.update(request, now=tick * DT, dt=DT)
        pans.append(output.pan)
    assert pans[-1] < 0.5
    assert pans[-1] == pytest.approx(pans[-20], abs=1e-6)


def test_an_operator_s_head_counts_from_where_it_was_first() -> None:
    follower = HeadFollower(CameraConfig(), pan=0.3)
    output = None
    for tick in range(150):
        now = tick * DT
        angle = 0.9 if tick == 0 else 0.9 + min(0.4, 0.01 * tick)
        request = HeadRequest(1, rotated(angle), None, now)
        output = follower.update(request, now=now, dt=DT)
        if tick == 0:
            assert output.pan == pytest.approx(0.3, abs=0.002), "no jump when it begins"
    assert output is not None
    assert output.pan == pytest.approx(0.4, abs=0.01)


def test_another_client_begins_without_a_jump() -> None:
    follower = HeadFollower(CameraConfig())
    for tick in range(60):
        follower.update(HeadRequest(1, None, (0.5, 0.0), tick * DT), now=tick * DT, dt=DT)
    before = follower.update(HeadRequest(1, None, (0.5, 0.0), 60 * DT), now=60 * DT, dt=DT)
    after = follower.update(HeadRequest(2, rotated(-2.0), None, 61 * DT), now=61 * DT, dt=DT)
    assert abs(after.pan - before.pan) <= 0.002


class HeadCamera(FakeCamera):
    """Records head commands; its head stays where it was measured."""

    def __init__(self) -> None:
        super().__init__()
        self.commands: list[tuple[float, float, float]] = []
        self.set_orientation(0.7, -0.2)

    @override
    def command_head(self, pan: float, tilt: float, timestamp: float) -> None:
        self.commands.append((pan, tilt, timestamp))


def test_a_head_without_requests_is_released_and_restarts_where_it_is() -> None:
    camera = HeadCamera()
    sent = camera.commands
    with HeadThread(CameraConfig(), camera) as head:
        head.submit(HeadRequest(1, None, (0.0, 0.0), time.monotonic()))
        wait_for(lambda: sent)
        assert sent[0][:2] == pytest.approx((0.7, -0.2), abs=0.01)
        wait_for(lambda: time.monotonic() - sent[-1][2] > HEAD_REQUEST.timeout + 0.2)
        count = len(sent)
        assert stays(lambda: len(sent) == count, 0.2)
