# SPDX-License-Identifier: Apache-2.0
"""The full simulated stack as a user starts it: start time, rates, load and shutdown.

`teleop launch teleop_sim_full` runs in separate processes. A probe subscribes to every topic of
the table with a rate and to `/clock`, reads the launcher's output, and measures the processor time
of all processes: as `make run` starts it, with the head camera at 10 Hz, and with a simulated
operator instead of the recorded one.
"""

import contextlib
import importlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from math import inf
from pathlib import Path

import psutil
import rclpy
from rclpy.executors import ExternalShutdownException, ShutdownException
from rclpy.node import Node
from rclpy.serialization import deserialize_message
from rosgraph_msgs.msg import Clock

from teleop_system.ros2.executor import LeanExecutor
from teleop_system.stacks.catalogue import STACKS
from teleop_system.stacks.plan import make_plan
from teleop_system.stacks.topic_table import TOPICS
from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames, get_qos_profile

STACK = "teleop_sim_full"
RECORDED = {"operator": "mocap", "loop": "true"}
CAMERA = {"camera": "true", "camera_fps": "10"}
PATIENCE = 120.0
SETTLING = 5.0
"""Time in [s] after engaging that is not measured."""
SPAN = 30.0
"""Duration of the measurement in [s]."""
FRAMES = 10.0
"""Requested camera rate in [Hz]."""
ROOT = Path(__file__).parents[1]


def rows(span: float = SPAN) -> list[dict[str, object]]:
    """Measure the stack without and with camera images."""
    os.environ.setdefault("ROS_DOMAIN_ID", "42")
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    return [
        _measure("make run", RECORDED, span, slowest=0.98, largest=1.0),
        _measure("head camera at 10 fps", {**RECORDED, **CAMERA}, span, slowest=0.95),
        _measure("simulated operator", {}, span, slowest=0.98, largest=1.0),
    ]


def _measure(
    name: str, options: Mapping[str, str], span: float, *, slowest: float, largest: float = inf
) -> dict[str, object]:
    with (
        contextlib.closing(Launcher(options)) as launcher,
        contextlib.closing(Probe(options)) as probe,
    ):
        started = launcher.wait_for(r"all \d+ nodes up")
        launcher.wait_for("engaged: the operator took control")
        time.sleep(SETTLING)
        lines, cpu = launcher.lines, launcher.cpu_seconds()
        began = time.monotonic()
        probe.clear()
        time.sleep(span)
        elapsed = time.monotonic() - began
        rates = {topic: probe.counts[topic] / elapsed for topic in probe.expected}
        factor = probe.simulated / elapsed
        share = (launcher.cpu_seconds() - cpu) / elapsed
        line_rate = 60.0 * (launcher.lines - lines) / elapsed
        ended, is_clean = launcher.interrupt()
    # Late camera images are shown, but do not violate a promise.
    worst = max(
        (topic for topic in probe.expected if "camera/" not in topic or "pan_tilt" in topic),
        key=lambda topic: abs(rates[topic] / probe.expected[topic] - 1.0),
    )
    deviation = abs(rates[worst] / probe.expected[worst] - 1.0)
    pictures = rates.get(TopicNames.CAMERA_COLOR_IMAGE)
    return {
        STACK: name,
        "all nodes active after": f"{started:.1f} s (< 15)",
        "real-time factor": f"{factor:.3f} (>= {slowest})",
        "rate farthest from its table": f"{worst} {rates[worst]:.1f} of {probe.expected[worst]:g}",
        "deviation": f"{100.0 * deviation:.1f} % (<= 5)",
        "pictures": f"{pictures:.1f} Hz" if pictures is not None else "none",
        "share of a core": f"{100.0 * share:.0f} %"
        + (f" (<= {100.0 * largest:.0f})" if largest < inf else ""),
        "lines": f"{line_rate:.0f} per minute (<= 120)",
        "shutdown after Ctrl-C": f"{ended:.1f} s (<= 3)",
        "ok": started < 15.0
        and factor >= slowest
        and deviation <= 0.05
        and share <= largest
        and line_rate <= 120.0
        and ended <= 3.0
        and is_clean,
    }


class Probe:
    """Counts messages of every topic that has a rate, and the elapsed simulated time.

    Attributes:
        expected: Rate of each topic in [Hz].
        counts: Messages of each topic since the last `clear()`.
    """

    def __init__(self, options: Mapping[str, str]) -> None:
        nodes = {node.kind.executable for node in make_plan(STACKS[STACK], options).nodes}
        rclpy.init()
        self._node = Node("probe", start_parameter_services=False)
        self.expected: dict[str, float] = {}
        self.counts: Counter[str] = Counter()
        self._first: float | None = None
        self._last = 0.0
        for row in TOPICS:
            if "*" in row.name or not nodes & set(row.publishers):
                continue
            is_picture = "camera_fps" in row.rate
            if is_picture and "camera" in options:
                self.expected[row.name] = FRAMES
            elif row.rate.isdigit() and row.name != TopicNames.CLOCK:
                self.expected[row.name] = float(row.rate)
            else:
                continue
            package, _, kind = row.type.split("/")
            self._node.create_subscription(
                getattr(importlib.import_module(f"{package}.msg"), kind),
                row.name,
                self._counter(row.name),
                get_qos_profile(row.qos),
                raw=True,
            )
        self._node.create_subscription(
            Clock,
            TopicNames.CLOCK,
            self._on_clock,
            get_qos_profile(QoSPreset.SENSOR_DATA),
            raw=True,
        )
        self._executor = LeanExecutor()
        self._executor.add_node(self._node)
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    @property
    def simulated(self) -> float:
        """Simulated time since the last `clear()` in [s]."""
        return self._last - (self._first if self._first is not None else self._last)

    def clear(self) -> None:
        """Reset the counters."""
        self.counts.clear()
        self._first = None

    def close(self) -> None:
        """Destroy the node."""
        rclpy.try_shutdown()
        self._thread.join(5.0)

    def _counter(self, topic: str) -> Callable[[bytes], None]:
        def count(_: bytes) -> None:
            self.counts[topic] += 1

        return count

    def _on_clock(self, data: bytes) -> None:
        stamp = deserialize_message(data, Clock).clock
        self._last = stamp.sec + 1e-9 * stamp.nanosec
        if self._first is None:
            self._first = self._last

    def _spin(self) -> None:
        with contextlib.suppress(ExternalShutdownException, ShutdownException):
            self._executor.spin()


class Launcher:
    """A `teleop launch` process and its output."""

    def __init__(self, options: Mapping[str, str]) -> None:
        given = [f"{name}:={text}" for name, text in options.items()]
        self._output = tempfile.TemporaryFile("a+")  # noqa: SIM115 - closed by close().
        self._began = time.monotonic()
        self._process = psutil.Popen(
            [sys.executable, "-m", "teleop_system.cli", "launch", STACK, *given],
            cwd=ROOT,
            stdout=self._output,
            stderr=subprocess.STDOUT,
        )

    @property
    def lines(self) -> int:
        """Number of output lines."""
        return self._text().count("\n")

    def wait_for(self, pattern: str) -> float:
        """Wait for an output line; return its time in [s] after the start."""
        while not re.search(pattern, self._text()):
            if self._process.poll() is not None or self._age() > PATIENCE:
                raise RuntimeError(f"no output line matches {pattern!r}:\n{self._text()}")
            time.sleep(0.02)
        return self._age()

    def cpu_seconds(self) -> float:
        """Return the processor time of the launcher and all its processes in [s]."""
        family = [self._process, *self._process.children(recursive=True)]
        return sum(sum(process.cpu_times()[:2]) for process in family)

    def interrupt(self) -> tuple[float, bool]:
        """Send SIGINT; return the shutdown time in [s], and whether the exit was clean."""
        family = self._process.children(recursive=True)
        begin = time.monotonic()
        self._process.send_signal(signal.SIGINT)
        code = self._process.wait(PATIENCE)
        psutil.wait_procs(family, PATIENCE)
        return time.monotonic() - begin, code == 0 and "Traceback" not in self._text()

    def close(self) -> None:
        """Kill the launcher if it still runs."""
        if self._process.poll() is None:
            self.interrupt()
        self._output.close()

    def _age(self) -> float:
        return time.monotonic() - self._began

    def _text(self) -> str:
        self._output.seek(0)
        return self._output.read()
