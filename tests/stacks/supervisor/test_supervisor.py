# SPDX-License-Identifier: Apache-2.0
"""The supervisor with real processes, real lifecycle nodes, and real signals."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest

from tests.stacks.supervisor.stacks_of_samples import (
    MODULE,
    ROOT,
    Running,
    children_of,
    is_running,
)
from tests.waiting import slowdown, wait_for

LONGEST_END = 3.0
"""A stack ends within this time on a calm machine in [s]."""


def test_nodes_start_in_order_and_a_stack_ends_after_its_duration() -> None:
    with Running(duration=0.5) as stack:
        assert stack.end() == 0
    order = re.findall(r"(\w+) is active", stack.output)
    assert order == ["robot_a", "module_b", "operator_c"]
    assert "all 3 nodes up" in stack.output
    assert "Traceback" not in stack.output


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_everything_in_time_and_without_an_error(number: signal.Signals) -> None:
    with Running() as stack:
        stack.wait_for("all 3 nodes up")
        children = stack.children()
        began = time.monotonic()
        stack.signal(number)
        assert stack.end() == 0
        took = time.monotonic() - began
    assert len(children) == 3
    assert not any(is_running(pid) for pid in children.values())
    assert took < LONGEST_END * slowdown()
    assert "Traceback" not in stack.output and "killed" not in stack.output


def test_a_signal_while_nodes_start_ends_them_without_an_error() -> None:
    with Running() as stack:
        wait_for(lambda: len(stack.children()) == 3, stack.read, progress=stack.progress)
        children = stack.children()
        stack.signal(signal.SIGINT)
        assert stack.end() == 0
    assert not any(is_running(pid) for pid in children.values())
    assert "Traceback" not in stack.output


def test_a_killed_node_is_restarted_and_the_others_keep_running() -> None:
    with Running() as stack:
        stack.wait_for("all 3 nodes up")
        before = stack.children()
        for name in before:
            os.kill(stack.children()[name], signal.SIGKILL)
            stack.wait_for(f"{name} was ended by SIGKILL; will be tried again")
            stack.wait_for(f"{name} is active again")
        after = stack.children()
    assert set(after) == set(before)
    assert all(after[name] != before[name] for name in before)


def test_a_node_that_hangs_while_configuring_does_not_delay_the_end() -> None:
    with Running(slow="30") as stack:
        stack.wait_for("robot_a is active")
        began = time.monotonic()
        stack.signal(signal.SIGINT)
        assert stack.end() == 0
        assert time.monotonic() - began < LONGEST_END * slowdown()


def test_a_node_that_ends_again_and_again_is_given_up_and_reported() -> None:
    with Running(dies="configure") as stack:
        assert stack.end() == 1
    assert stack.output.count("module_b ended with exit code 7; will be tried again") == 2
    assert "module_b ended with exit code 7; given up" in stack.output
    assert "operator_c is active" not in stack.output
    assert "robot_a is active" in stack.output


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ({"refusals": "1"}, "module_b could not configure; will be tried again"),
        ({"faults": "configure"}, "module_b .*; will be tried again"),
    ],
)
def test_a_failed_configuration_is_tried_again(texts: dict[str, str], expected: str) -> None:
    with Running(duration=0.2, **texts) as stack:
        assert stack.end() == 0
    assert len(re.findall(expected, stack.output)) == 1
    assert "module_b is active again" in stack.output


def test_a_process_that_ignores_signals_is_killed_with_its_children() -> None:
    with Running(stubborn="true", parent_of="something") as stack:
        stack.wait_for("all 3 nodes up")
        stubborn = stack.children()["module_b"]
        grandchildren = children_of(stubborn)
        stack.signal(signal.SIGINT)
        assert stack.end() == 0
    assert grandchildren
    assert "module_b did not end after SIGTERM and was killed" in stack.output
    wait_for(lambda: not any(is_running(pid) for pid in (stubborn, *grandchildren)))


def test_nodes_end_when_their_supervisor_is_killed() -> None:
    with Running() as stack:
        stack.wait_for("all 3 nodes up")
        children = list(stack.children().values())
        stack.signal(signal.SIGKILL)
        wait_for(lambda: not any(is_running(pid) for pid in children))
    assert len(children) == 3


def test_a_stack_that_runs_already_is_not_started_twice() -> None:
    with Running() as stack:
        stack.wait_for("all 3 nodes up")
        # Without discovery in the graph, which may take long on a busy machine.
        with Running(discovery_time=0.0) as second:
            assert second.end() not in (0, None)
        assert "/module_b, /operator_c, /robot_a runs already" in second.output
        assert second.children() == {} and stack.process.poll() is None


def test_a_stack_with_a_node_that_is_in_the_graph_is_not_started() -> None:
    command = [sys.executable, "-m", MODULE, "--ros-args", "-r", "__node:=module_b"]
    alone = subprocess.Popen(command, cwd=ROOT)
    try:
        # As on another machine: it is visible only in the graph.
        with Running(discovery_time=60.0) as stack:
            assert stack.end() not in (0, None)
        assert "/module_b runs already" in stack.output
    finally:
        alone.kill()
        alone.wait()


def test_a_node_that_logs_too_much_is_throttled() -> None:
    with Running(duration=3.0, chatter="100") as stack:
        assert stack.end() == 0
    lines = [line for line in stack.output.splitlines() if "chatter" in line]
    assert 60 <= len(lines) <= 60 + 1.5 * 6
    assert "other lines)" in lines[-1]
