# SPDX-License-Identifier: Apache-2.0
"""Operator and robot on two machines, and what happens when the link between them is cut.

Two network namespaces stand for the machines. They need root, and a minute, so this test runs only
with TELEOP_NETNS=1.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import wait_for, work_of

ROOT = Path(__file__).resolve().parents[2]
ROBOT, OPERATOR = "teleop_robot", "teleop_operator"
ADDRESSES = {ROBOT: "10.213.7.1", OPERATOR: "10.213.7.2"}
LINKS = {ROBOT: "teleop_r0", OPERATOR: "teleop_o0"}
SETTLED = 4.0
"""Time after which the robot follows as before the cut in [s]."""
STANDSTILL = 1e-5
"""A joint stands still if it moves less than this between samples [rad]."""

pytestmark = pytest.mark.skipif(
    os.environ.get("TELEOP_NETNS") != "1" or os.geteuid() != 0,
    reason="network namespaces need TELEOP_NETNS=1 and root",
)


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


@pytest.fixture
def machines() -> Iterator[None]:
    """Two namespaces with a cable between them."""
    for name in ADDRESSES:
        subprocess.run(["ip", "netns", "del", name], capture_output=True)
        ip("netns", "add", name)
    try:
        ip("link", "add", LINKS[ROBOT], "type", "veth", "peer", "name", LINKS[OPERATOR])
        for name, link in LINKS.items():
            ip("link", "set", link, "netns", name)
            ip("-n", name, "addr", "add", f"{ADDRESSES[name]}/24", "dev", link)
            ip("-n", name, "link", "set", "lo", "up")
            ip("-n", name, "link", "set", link, "up")
        yield
    finally:
        for name in ADDRESSES:
            ip("netns", "del", name)
            shutil.rmtree(Path("/dev/shm") / name, ignore_errors=True)


class Machine:
    """A program on one of the machines; only those on the same machine share memory."""

    def __init__(self, name: str, *command: str, peers: str = "") -> None:
        shared = Path("/dev/shm") / name
        shared.mkdir(exist_ok=True)
        inner = f'mount --bind {shared} /dev/shm && exec "$@"'
        environment = {**os.environ, "ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"}
        if peers:  # Unicast: discovery on this machine and the named one only.
            environment["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
            environment["ROS_STATIC_PEERS"] = peers
        apart = ("ip", "netns", "exec", name, "unshare", "--mount", "sh", "-c", inner, "sh")
        self._process = subprocess.Popen(
            [*apart, sys.executable, *command],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        assert self._process.stdout is not None
        os.set_blocking(self._process.stdout.fileno(), False)
        self.output = ""

    def read(self) -> str:
        assert self._process.stdout is not None
        self.output += (self._process.stdout.read() or b"").decode(errors="replace")
        return self.output

    def wait_for(self, pattern: str, count: int = 1) -> None:
        wait_for(
            lambda: len(re.findall(pattern, self.read())) >= count,
            self.read,
            progress=lambda: (len(self.output), work_of([self._process.pid])),
        )

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(10.0)


def records(probe: Machine) -> list[dict[str, Any]]:
    lines = probe.read().splitlines()
    return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]


def has_moved(probe: Machine, since: float) -> bool:
    """Return whether a joint moved later than a monotonic time in [s]."""
    return any(row.get("step", 0.0) > STANDSTILL and row["time"] > since for row in records(probe))


def last_motion(rows: list[dict[str, Any]], begin: float, end: float) -> float:
    """Return how long after `begin` the last motion before `end` was in [s]."""
    moved = [
        row["time"]
        for row in rows
        if row.get("step", 0.0) > STANDSTILL and begin <= row["time"] < end
    ]
    return max(moved, default=begin) - begin


@pytest.mark.parametrize("unicast", [False, True], ids=["multicast", "unicast"])
def test_a_cut_link_holds_the_robot_and_a_restored_one_lets_it_follow_again(
    machines: None, unicast: bool
) -> None:
    peers = {name: ADDRESSES[name] if unicast else "" for name in ADDRESSES}
    launch = ("-m", "teleop_system.cli", "launch")
    parts: list[Machine] = []
    try:
        robot = Machine(
            ROBOT,
            *launch,
            "slave_mujoco",
            "auto_engage:=true",
            "--no-self-test",
            peers=peers[OPERATOR],
        )
        parts.append(robot)
        operator = Machine(OPERATOR, *launch, "master_sim", peers=peers[ROBOT])
        parts.append(operator)
        probe = Machine(ROBOT, "-m", "tests.stacks.link_probe", peers=peers[OPERATOR])
        parts.append(probe)
        operator.wait_for("all 7 nodes up")
        robot.wait_for("engaged: the operator took control")
        wait_for(lambda: has_moved(probe, since=0.0), probe.read)
        for length in (1.0, 6.0):
            before = robot.read().count("engaged: the operator took control")
            ip("-n", ROBOT, "link", "set", LINKS[ROBOT], "down")
            cut = time.monotonic()
            time.sleep(length)  # This test varies the duration of the cut.
            ip("-n", ROBOT, "link", "set", LINKS[ROBOT], "up")
            restored = time.monotonic()
            if length > 2.0:  # The robot was disengaged in the meantime, and is engaged again.
                robot.wait_for("engaged: the operator took control", before + 1)
            wait_for(
                lambda now=restored: has_moved(probe, since=now),
                lambda: f"{probe.read()[-2000:]}\n{robot.read()}",
            )
            rows = records(probe)
            stopped = last_motion(rows, cut, restored)
            resumed = min(
                row["time"]
                for row in rows
                if row.get("step", 0.0) > STANDSTILL and row["time"] > restored
            )
            fastest = max(
                row["step"] / max(row["span"], 0.01)
                for row in rows
                if "step" in row and row["time"] > cut
            )
            sys.stderr.write(
                f"\ncut for {length:g} s: still after {stopped:.2f} s, "
                f"moves {resumed - restored:.2f} s after the link, at most {fastest:.2f} rad/s\n"
            )
            assert stopped < min(length, 1.0)
            assert fastest < 4.0
            settled = resumed + SETTLED
            wait_for(lambda since=settled: has_moved(probe, since), probe.read)
    finally:
        for part in reversed(parts):
            part.close()
