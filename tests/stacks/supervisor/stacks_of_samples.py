# SPDX-License-Identifier: Apache-2.0
"""Stacks of small nodes, the supervisor that runs them, and observations from outside."""

import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from teleop_system.stacks.description import Member, NodeKind, Stack, Stage
from teleop_system.stacks.options import Option, Target
from teleop_system.stacks.plan import StackPlan, make_plan
from teleop_system.stacks.supervisor.display import PlainDisplay
from teleop_system.stacks.supervisor.node_watch import SupervisionPolicy
from teleop_system.stacks.supervisor.supervisor import RunOptions, Supervisor
from tests.waiting import wait_for, work_of

MODULE = "tests.stacks.supervisor.sample_node"
ROOT = Path(__file__).resolve().parents[3]
POLICY = SupervisionPolicy(backoff=0.1, max_restarts=2, interrupt=5.0, terminate=0.3)
"""A busy machine may need a second to end a node."""
SHORT_INTERRUPT = 0.6
"""Time to end after SIGINT in [s] for nodes that do not end."""


def sample_plan(**texts: str) -> StackPlan:
    """Return three small nodes; options go to the second, the module."""
    kinds = [
        NodeKind(name, MODULE, "SampleNode", stage, "")
        for name, stage in (
            ("robot_a", Stage.ROBOT),
            ("module_b", Stage.MODULES),
            ("operator_c", Stage.OPERATOR),
        )
    ]
    only = ("module_b",)
    options = [
        Option("dies", "", "", targets=(Target("dies", only),)),
        Option("faults", "", "", targets=(Target("faults", only),)),
        Option("parent_of", "", "", targets=(Target("parent_of", only),)),
        Option("refusals", 0, "", kind="int", targets=(Target("refusals", only),)),
        Option("number", 0, "", kind="int", targets=(Target("number"),)),
        Option("slow", 0.0, "", kind="float", targets=(Target("slow", only),)),
        Option("chatter", 0.0, "", kind="float", targets=(Target("chatter", only),)),
        Option("stubborn", False, "", kind="bool", targets=(Target("stubborn", only),)),
    ]
    stack = Stack(
        "samples",
        "",
        tuple(Member(kind) for kind in kinds),
        {option.name: option for option in options},
    )
    return make_plan(stack, texts)


def main() -> None:
    """Run the samples: `… DURATION DISCOVERY_TIME name=value...`; 0 waits for a signal."""
    duration, discovery_time = float(sys.argv[1]) or None, float(sys.argv[2])
    texts = dict(text.split("=") for text in sys.argv[3:])
    console = Console(width=200)
    policy = POLICY
    if {"stubborn", "slow"} & texts.keys():
        policy = replace(POLICY, interrupt=SHORT_INTERRUPT)
    options = RunOptions(duration=duration, policy=policy, discovery_time=discovery_time)
    sys.exit(Supervisor(sample_plan(**texts), PlainDisplay(console), options).run())


class Running:
    """The samples under their supervisor, in a process of their own."""

    def __init__(self, duration: float = 0.0, discovery_time: float = 1.0, **texts: str) -> None:
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "tests.stacks.supervisor.stacks_of_samples",
                str(duration),
                str(discovery_time),
                *(f"{name}={text}" for name, text in texts.items()),
            ],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        assert self.process.stdout is not None
        os.set_blocking(self.process.stdout.fileno(), False)
        self.output = ""

    def __enter__(self) -> "Running":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20.0)
            except subprocess.TimeoutExpired:
                self.process.kill()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def read(self) -> str:
        """Return all output so far."""
        assert self.process.stdout is not None
        data = self.process.stdout.read() or b""
        self.output += data.decode(errors="replace")
        return self.output

    def wait_for(self, pattern: str) -> None:
        """Wait until the output contains a pattern."""
        wait_for(lambda: re.search(pattern, self.read()), self.read, progress=self.progress)

    def progress(self) -> object:
        """Return a value that changes as long as the stack does anything."""
        return len(self.output), work_of([self.process.pid])

    def end(self) -> int:
        """Wait until the stack ends, and return its exit code."""
        wait_for(lambda: self.process.poll() is not None, self.read, progress=self.progress)
        self.read()
        return self.process.returncode

    def children(self) -> dict[str, int]:
        """Return the process ids of the nodes by name."""
        found = {}
        for pid in children_of(self.process.pid):
            match = re.search(r"__node:=(\w+)", command_of(pid))
            if match is not None:
                found[match.group(1)] = pid
        return found

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the supervisor."""
        self.process.send_signal(number)


def children_of(parent: int) -> list[int]:
    """Return the processes that a process has started and that still run."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == parent and fields[0] != "Z":
                found.append(int(entry.name))
    return found


def command_of(pid: int) -> str:
    """Return the command line of a process; "" after its end."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def is_running(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] != "Z"


if __name__ == "__main__":
    main()
