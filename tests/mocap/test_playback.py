# SPDX-License-Identifier: Apache-2.0
"""Playing, pausing, seeking and changing speed, all without a jump."""

import numpy as np
import pytest

from teleop_system.exceptions import InvalidValueError
from teleop_system.mocap.playback import SETTLING, Playback, PlaybackState


class Clock:
    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


def played(playback: Playback, clock: Clock, seconds: float, step: float = 0.01) -> np.ndarray:
    """Return the time of the recording at each tick."""
    times = []
    for _ in range(round(seconds / step)):
        clock.time += step
        times.append(playback.time())
    return np.array(times)


def test_it_waits_plays_and_ends() -> None:
    clock = Clock()
    playback = Playback(5.0, run_up=0.0, clock=clock)
    assert playback.state is PlaybackState.READY
    assert played(playback, clock, 1.0).max() == 0.0
    playback.play()
    np.testing.assert_allclose(played(playback, clock, 3.0)[-1], 3.0)
    assert playback.state is PlaybackState.PLAYING
    assert not playback.is_over
    assert played(playback, clock, 3.0)[-1] == 5.0
    assert playback.state is PlaybackState.OVER
    assert not playback.is_over
    clock.time += SETTLING
    assert playback.is_over


@pytest.mark.parametrize("speed", [0.25, 1.0, 2.0])
def test_speed_rises_and_falls_smoothly(speed: float) -> None:
    clock = Clock()
    playback = Playback(6.0, approach=2.0, speed=speed, run_up=0.8, clock=clock)
    playback.play()
    times = played(playback, clock, playback.length + 0.5)
    rates = np.diff(times) / 0.01
    np.testing.assert_allclose(rates[50:150], 1.0)  # The approach is played in real time.
    assert rates.max() <= max(speed, 1.0) + 1e-6
    after = rates[201:]
    assert np.abs(np.diff(after)).max() < 0.02 * speed  # It never jumps.
    assert times[-1] == 6.0
    assert times[int((playback.length - 0.02) / 0.01)] < 6.0


def test_a_recording_shorter_than_its_ramps_can_be_played() -> None:
    clock = Clock()
    playback = Playback(0.3, run_up=0.8, clock=clock)
    playback.play()
    times = played(playback, clock, 1.0)
    assert (np.diff(times) >= 0.0).all()
    assert times[-1] == 0.3


def test_a_paused_recording_stops_and_continues() -> None:
    clock = Clock()
    playback = Playback(10.0, clock=clock)
    playback.play()
    before = played(playback, clock, 3.0)[-1]
    playback.pause()
    assert played(playback, clock, 2.0)[-1] == before
    assert playback.state is PlaybackState.PAUSED
    playback.play()
    assert played(playback, clock, 0.01)[-1] == pytest.approx(before, abs=0.01)


def test_seeking_reaches_every_time_within_the_recording() -> None:
    clock = Clock()
    playback = Playback(10.0, run_up=0.0, clock=clock)
    playback.seek(4.0)
    assert playback.time() == 4.0
    playback.play()
    np.testing.assert_allclose(played(playback, clock, 1.0)[-1], 5.0)
    playback.seek(9.5)
    assert played(playback, clock, 1.0)[-1] == 10.0
    for wrong in (-1.0, 10.1, float("nan")):
        with pytest.raises(InvalidValueError, match="within 0 to 10 s"):
            playback.seek(wrong)


def test_a_change_of_speed_continues_from_the_present_time() -> None:
    clock = Clock()
    playback = Playback(20.0, run_up=0.0, clock=clock)
    playback.play()
    played(playback, clock, 2.0)
    playback.speed = 3.0
    np.testing.assert_allclose(playback.time(), 2.0)
    np.testing.assert_allclose(played(playback, clock, 1.0)[-1], 5.0)
    with pytest.raises(InvalidValueError, match="speed must be positive"):
        playback.speed = 0.0


def test_a_loop_has_no_end() -> None:
    clock = Clock()
    playback = Playback(2.0, loop=True, run_up=0.0, clock=clock)
    playback.play()
    np.testing.assert_allclose(played(playback, clock, 100.0, 1.0)[-1], 100.0)
    assert playback.state is PlaybackState.PLAYING
    assert playback.length == float("inf")
