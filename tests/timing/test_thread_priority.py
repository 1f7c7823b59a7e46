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


def test_timer_slack_is_removed_inside_and_restored_outside() -> None:
    before = timer_slack()
    with PreciseClock().high_resolution():
        assert timer_slack() == 1
    assert timer_slack() == before


def test_policy_and_niceness_are_restored() -> None:
    before = (os.sched_getscheduler(0), os.nice(0))
    with prompt_thread():
        assert (os.sched_getscheduler(0), os.nice(0)) == before
    assert (os.sched_getscheduler(0), os.nice(0)) == before


def test_real_time_priority_is_requested_and_released(monkeypatch: pytest.MonkeyPatch) -> None:
    policies: list[int] = []
    monkeypatch.setattr(os, "sched_setscheduler", lambda _, policy, __: policies.append(policy))
    with prompt_thread(realtime=True):
        assert policies == [os.SCHED_FIFO | os.SCHED_RESET_ON_FORK]
    assert policies[1:] == [os.SCHED_OTHER]


def test_without_permission_for_real_time_it_logs_once_and_continues(
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


def test_an_error_inside_is_raised_and_the_priority_restored() -> None:
    before = timer_slack()
    with pytest.raises(KeyError), prompt_thread():
        raise KeyError
    assert timer_slack() == before


def test_may_be_nested() -> None:
    before = timer_slack()
    with prompt_thread(), prompt_thread():
        assert timer_slack() == 1
    assert timer_slack() == before
