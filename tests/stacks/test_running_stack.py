# SPDX-License-Identifier: Apache-2.0
"""The whole simulated stack under its launcher: it moves, restarts nodes, and ends cleanly."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

from teleop_system.stacks.catalogue import NODES, STACKS
from teleop_system.stacks.plan import make_plan
from teleop_system.stacks.topic_table import SERVICES, TOPICS
from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames, get_qos_profile
from tests.ros2.harness import Bench, Listener
from tests.stacks.supervisor.stacks_of_samples import children_of, command_of, is_running
from tests.waiting import slowdown, wait_for, work_of

ROOT = Path(__file__).resolve().parents[2]
LONGEST_END = 3.0
"""A stack ends within this time on a calm machine in [s]."""
FASTEST = 4.0
"""No joint of the robot is allowed to move faster in [rad/s]."""
ARMS, HANDS, HEAD = "_arm_|torso_", "gripper|finger|dg5f", "head_"
MOVES = {
    "arm_teleop_node": ARMS,
    "dummy_tracker_pub": ARMS,
    "hand_teleop_node": HANDS,
    "dummy_glove_pub": HANDS,
    "camera_node": HEAD,
    "dummy_hmd_pub": HEAD,
}
"""Joints that move only while a node runs."""
ROLLS = ("locomotion_node", "dummy_tracker_pub")
"""Nodes that the base needs to move."""
STILL, STANDSTILL, PAUSE = 1e-5, 5e-3, 0.25
"""A joint that moves by less in a cycle [rad], a base that is slower [m/s], for so long [s]."""
LONGEST_STOP, FARTHEST_STOP = 0.8, 0.5
"""Joints that a killed node moved stop within this time in [s] and distance in [rad]."""
NODE_NAMES = [node.kind.executable for node in make_plan(STACKS["teleop_sim_full"]).nodes]


class LaunchedStack:
    """A `teleop launch` process."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "teleop_system.cli", "launch", *arguments],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        assert self.process.stdout is not None
        os.set_blocking(self.process.stdout.fileno(), False)
        self.output = ""

    def read(self) -> str:
        assert self.process.stdout is not None
        self.output += (self.process.stdout.read() or b"").decode(errors="replace")
        return self.output

    def wait_for(self, pattern: str, count: int = 1) -> None:
        def is_over() -> bool:
            ended = self.process.poll() is not None
            return len(re.findall(pattern, self.read())) >= count or ended

        wait_for(is_over, self.read, progress=self.progress)
        assert len(re.findall(pattern, self.output)) >= count, f"it ended: {self.output}"

    def progress(self) -> object:
        """Return a value that changes as long as the stack does anything."""
        return len(self.output), work_of([self.process.pid])

    def children(self) -> dict[str, int]:
        pids = children_of(self.process.pid)
        names = {pid: re.search(r"__node:=(\w+)", command_of(pid)) for pid in pids}
        return {match.group(1): pid for pid, match in names.items() if match is not None}

    def interrupt(self) -> tuple[int, float]:
        """Press Ctrl-C; return the exit code and how long the end took in [s]."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGINT)
        wait_for(lambda: self.process.poll() is not None, self.read, progress=self.progress)
        self.read()
        return self.process.returncode, time.monotonic() - began

    def close(self) -> None:
        if self.process.poll() is None:
            self.interrupt()
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture(scope="module")
def stack() -> Iterator[LaunchedStack]:
    launched = LaunchedStack("teleop_sim_full", "--no-self-test")
    try:
        launched.wait_for("all 8 nodes up")
        launched.wait_for("engaged: the operator took control")
        yield launched
    finally:
        launched.close()


@pytest.fixture(scope="module")
def bench(stack: LaunchedStack) -> Iterator[Bench]:
    with Bench() as made:
        yield made


def hear(bench: Bench, topic: str) -> Listener:
    """Listen to joints on a topic."""
    return bench.listen(JointState, topic, QoSPreset.SENSOR_DATA)


def is_following(bench: Bench) -> bool:
    report = bench.reports.get("teleop/robot")
    return report is not None and report.values.get("following") == "true"


def positions(ear: Listener) -> Any:
    return np.array([message.position for message in ear.messages])


def test_the_robot_follows_its_operator(bench: Bench) -> None:
    ear = hear(bench, TopicNames.JOINT_STATES)
    bench.wait(lambda: is_following(bench))

    def arms_have_moved() -> bool:
        if ear.count < 50:
            return False
        arms = [index for index, name in enumerate(ear.last.name) if "_arm_" in name]
        return bool(np.ptp(positions(ear)[:, arms], axis=0).max() > 0.03)

    bench.wait(arms_have_moved)
    assert len(ear.last.name) == len(ear.last.position) == len(set(ear.last.name))


def differences(node: Any, row: Any) -> list[str]:
    """Return the differences between the known graph and a row of the table."""
    pattern = re.compile(row.name.replace("*", r"\w+"))
    present = dict(node.get_topic_names_and_types())
    names = [name for name in present if pattern.fullmatch(name)]
    expected = {
        end: {node for node in getattr(row, end) if node in NODE_NAMES}
        for end in ("publishers", "subscribers")
    }
    if "camera_fps" in row.rate:
        return []  # The camera is off; its subscribers may exist.
    if not (expected["publishers"] or expected["subscribers"]):
        return [f"{name} should not be there" for name in names]
    if not names:
        return [f"{row.name} is not in the graph"]
    found = []
    for name in names:
        if present[name] != [row.type]:
            found.append(f"{name} is of {present[name]}")
        ends = {
            "publishers": node.get_publishers_info_by_topic(name),
            "subscribers": node.get_subscriptions_info_by_topic(name),
        }
        for end, infos in ends.items():
            found += differences_at(name, expected[end], infos, get_qos_profile(row.qos))
    return found


def differences_at(topic: str, expected: set[str], infos: Any, profile: Any) -> list[str]:
    """Return how one end of a topic differs from the table."""
    ours = [info for info in infos if info.node_name in NODES]
    names = {info.node_name for info in ours}
    # Controllers listen to the targets only while they need them.
    is_right = names <= expected if topic == TopicNames.JOINT_TARGETS else names == expected
    found = [] if is_right else [f"{topic} has {names}, not {expected}"]
    for info in ours:
        qos = info.qos_profile
        if (qos.reliability, qos.durability) != (profile.reliability, profile.durability):
            found.append(f"{info.node_name} has {topic} as {qos}")
    return found


@pytest.mark.parametrize("row", TOPICS, ids=lambda row: row.name)
def test_a_topic_agrees_with_the_table(bench: Bench, row: Any) -> None:
    # A node that has just joined the graph discovers the others one by one.
    bench.wait(
        lambda: not differences(bench.node, row),
        lambda: "; ".join(differences(bench.node, row)),
    )


def test_services_agree_with_the_table(bench: Bench) -> None:
    def missing() -> list[str]:
        present = dict(bench.node.get_service_names_and_types())
        known = bench.node.get_node_names()
        return [
            row.name
            for row in SERVICES
            if row.server in NODE_NAMES
            and (
                present.get(row.name) != ["std_srvs/srv/Trigger"]
                or row.server not in known
                or row.name
                not in dict(bench.node.get_service_names_and_types_by_node(row.server, "/"))
            )
        ]

    bench.wait(lambda: not missing(), missing)


@pytest.mark.parametrize("name", NODE_NAMES)
def test_a_killed_node_is_restarted_and_the_robot_follows_again(
    stack: LaunchedStack, bench: Bench, name: str, record_property: Callable[[str, object], None]
) -> None:
    bench.wait(lambda: is_following(bench))
    ear = hear(bench, TopicNames.JOINT_TARGETS)
    rolls = bench.listen(Odometry, TopicNames.BASE_ODOM, QoSPreset.SENSOR_DATA)
    bench.wait(lambda: min(ear.count, rolls.count) > 20)
    before = stack.read().count(f"{name} is active again")
    os.kill(stack.children()[name], signal.SIGKILL)
    killed = time.time()
    stack.wait_for(f"{name} is active again", before + 1)
    bench.wait(lambda: is_following(bench))
    moved = ear.count + 100
    bench.wait(lambda: ear.count > moved)
    if name == "mujoco_bridge":
        return  # A restarted simulation begins in its initial state.
    ear, rolls = ear.so_far(), rolls.so_far()
    steps = np.abs(np.diff(positions(ear), axis=0)).max(axis=1)
    spans = np.maximum(np.diff(stamps(ear)), 0.01)
    assert (steps <= FASTEST * spans).all(), f"a jump of {steps.max()} rad"
    if name in MOVES:
        columns = [i for i, joint in enumerate(ear.last.name) if re.search(MOVES[name], joint)]
        took, distance = stop_of(positions(ear)[:, columns], stamps(ear) - killed)
        record_property("stop [s]", round(took, 3))
        record_property("distance [rad]", round(distance, 4))
        assert took < LONGEST_STOP and distance < FARTHEST_STOP
    if name in ROLLS:
        speeds = np.array([abs(message.twist.twist.linear.x) for message in rolls.messages])
        rolling = (stamps(rolls) - killed)[speeds > STANDSTILL]
        took = max(_first_run(rolling), 0.0)
        record_property("base stop [s]", round(took, 3))
        assert took < LONGEST_STOP


def stamps(ear: Listener) -> Any:
    headers = [message.header.stamp for message in ear.messages]
    return np.array([stamp.sec + 1e-9 * stamp.nanosec for stamp in headers])


def stop_of(joints: Any, times: Any) -> tuple[float, float]:
    """Return how long after time zero the joints still moved in [s], and how far in [rad]."""
    moving = times[1:][np.abs(np.diff(joints, axis=0)).max(axis=1) > STILL]
    took = max(_first_run(moving), 0.0)
    during = joints[(times >= 0.0) & (times <= took)]
    return took, float(np.ptp(during, axis=0).max()) if len(during) else 0.0


def _first_run(times: Any) -> float:
    """Return the end time of a motion that was in progress at time zero; a pause ends it."""
    end = 0.0
    for moment in times[times > 0.0]:
        if moment - end > PAUSE:
            break
        end = float(moment)
    return end


def test_the_robot_follows_in_a_stack_of_one_process() -> None:
    launched = LaunchedStack("teleop_sim", "--compose", "--no-self-test", "topic_prefix:=one")
    try:
        launched.wait_for("all 5 nodes up")
        launched.wait_for("engaged: the operator took control")
        assert len(children_of(launched.process.pid)) == 1
        code, took = launched.interrupt()
    finally:
        launched.close()
    assert code == 0 and took < LONGEST_END * slowdown()
    assert "Traceback" not in launched.output


def test_ctrl_c_ends_everything_in_time_and_without_an_error(stack: LaunchedStack) -> None:
    children = stack.children()
    code, took = stack.interrupt()
    assert code == 0
    assert took < LONGEST_END * slowdown()
    assert len(children) == len(NODE_NAMES)
    assert not any(is_running(pid) for pid in children.values())
    assert "Traceback" not in stack.output
