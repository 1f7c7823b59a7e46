# SPDX-License-Identifier: Apache-2.0
"""Waits end with their event, or when nothing has moved for too long."""

import itertools
import os
import sys
import time

import pytest

from tests.waiting import (
    happens,
    run_to_end,
    slowdown,
    stays,
    wait_for,
    wait_until_constant,
    work_of,
)


def test_a_wait_ends_with_its_event() -> None:
    counter = itertools.count()
    wait_for(lambda: next(counter) > 3)
    assert happens(lambda: True)


def test_a_wait_without_progress_fails_with_its_message() -> None:
    with pytest.raises(AssertionError, match="no frame"):
        wait_for(lambda: False, lambda: "no frame", patience=0.02)
    assert not happens(lambda: False, 0.02)


def test_progress_renews_the_patience_up_to_the_limit() -> None:
    begun = time.monotonic()
    with pytest.raises(AssertionError):
        wait_for(lambda: False, progress=time.monotonic, patience=0.05, limit=0.5)
    assert time.monotonic() - begun >= 0.5


def test_a_value_that_keeps_changing_is_not_constant() -> None:
    numbers = iter([1, 2, *[3] * 1000])
    wait_until_constant(lambda: next(numbers), 0.05)
    with pytest.raises(AssertionError, match="still changes"):
        wait_until_constant(time.monotonic, 0.05, within=0.1)


def test_a_condition_stays_true_or_not() -> None:
    numbers = iter(range(1000))
    assert stays(lambda: True, 0.02)
    assert not stays(lambda: next(numbers) < 2, 60.0)


def test_work_of_a_process_grows_with_its_processor_time() -> None:
    before = work_of([os.getpid()])
    wait_for(lambda: sum(range(20_000)) and work_of([os.getpid()]) > before + 1)
    assert work_of([2**31 - 1]) == 0


def test_a_command_runs_to_its_end() -> None:
    script = "import sys; print('out'); sys.stderr.write('err'); sys.exit(3)"
    done = run_to_end([sys.executable, "-c", script])
    assert (done.returncode, done.stdout, done.stderr) == (3, "out\n", "err")


def test_a_slowdown_is_at_least_one() -> None:
    assert slowdown() >= 1.0
