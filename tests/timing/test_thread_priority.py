# SPDX-License-Identifier: Apache-2.0
import ctypes
import os
import sys

import pytest

from teleop_system.timing import thread_priority
from teleop_system.timing.clocks import PreciseClock
from teleop_system.timing.thread_priority import prompt_thread

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux")


def timer_slack() -> int:
    return int(ctypes.CDLL(None).prctl(30, 0, 0, 0, 0))


def test_timer_slack_is_gone_inside_and_back_outside() -> None:
    before = timer_slack()
    with PreciseClock().high_resolution():
        assert timer_slack() == 1
    assert timer_slack() == before


def test_policy_and_niceness_stay_as_they_were() -> None:
    before = (os.sched_getscheduler(0), os.nice(0))
    with prompt_thread():
        assert (os.sched_getscheduler(0), os.nice(0)) == before
    assert (os.sched_getscheduler(0), os.nice(0)) == before


def test_real_time_priority_is_requested_and_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    policies: list[int] = []
    monkeypatch.setattr(os, "sched_setscheduler", lambda _, policy, __: policies.append(policy))
    with prompt_thread(realtime=True):
        assert policies == [os.SCHED_FIFO | os.SCHED_RESET_ON_FORK]
    assert policies[1:] == [os.SCHED_OTHER]


def test_without_the_right_to_real_time_it_says_so_once_and_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(pid: int, policy: int, param: os.sched_param) -> None:
        raise PermissionError

    thread_priority._warn_once.cache_clear()
    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    for _ in range(3):
        with prompt_thread(realtime=True):
            assert timer_slack() == 1
    assert caplog.text.count("rtprio") == 1


def test_an_error_inside_passes_through_and_restores() -> None:
    before = timer_slack()
    with pytest.raises(KeyError), prompt_thread():
        raise KeyError
    assert timer_slack() == before


def test_may_be_nested() -> None:
    before = timer_slack()
    with prompt_thread(), prompt_thread():
        assert timer_slack() == 1
    assert timer_slack() == before
