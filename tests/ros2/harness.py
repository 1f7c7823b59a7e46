# SPDX-License-Identifier: Apache-2.0
"""Nodes in separate processes, driven and observed by a test over real DDS.

    with Bench() as bench:
        bridge = bench.start("teleop_system.simulators.mujoco_ros2_bridge", "mujoco_bridge")
        bench.bring_up("mujoco_bridge")
        states = bench.listen(JointState, "/mujoco/joint_states", QoSPreset.SENSOR_DATA)
        bench.wait(lambda: states.count > 10)

The bench listens in a thread, so waiting does not delay the times of arrival.
"""

import contextlib
import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

import psutil
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.srv import GetParameters, SetParameters
from rclpy.executors import ExternalShutdownException, ShutdownException
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_srvs.srv import Trigger

from teleop_system.ros2.executor import LeanExecutor
from teleop_system.ros2.status import ROBOT, StatusReport, from_message
from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames, get_qos_profile
from tests.waiting import wait_for, work_of

RETRY = 1.0
"""Pause between two questions to a server that may not know its new client yet in [s]."""
GRACE = 20.0
"""How long a process may take to end before it is killed in [s]."""
RUNNER = "import importlib, sys; importlib.import_module(sys.argv.pop(1)).main()"
TRANSITIONS = {
    "configure": Transition.TRANSITION_CONFIGURE,
    "activate": Transition.TRANSITION_ACTIVATE,
    "deactivate": Transition.TRANSITION_DEACTIVATE,
    "cleanup": Transition.TRANSITION_CLEANUP,
}
SHUTDOWNS = {
    "unconfigured": Transition.TRANSITION_UNCONFIGURED_SHUTDOWN,
    "inactive": Transition.TRANSITION_INACTIVE_SHUTDOWN,
    "active": Transition.TRANSITION_ACTIVE_SHUTDOWN,
}


class NodeProcess:
    """One node in a process of its own.

    Args:
        module: Module whose `main` runs the node.
        name: Name that the node is given.
        parameters: Its parameters.
    """

    def __init__(self, module: str, name: str, parameters: Mapping[str, Any]) -> None:
        self.name = name
        # Opened for appending: both processes share the position, and reading moves it.
        self._output: TextIO = tempfile.TemporaryFile("a+")  # noqa: SIM115 - closed by close().
        command = [sys.executable, "-c", RUNNER, module, "--ros-args", "-r", f"__node:={name}"]
        for key, value in parameters.items():
            command += ["-p", f"{key}:={json.dumps(value)}"]
        root = str(Path(__file__).parents[2])
        path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH", ""))))
        self._process = subprocess.Popen(
            command,
            stdout=self._output,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"},
        )

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    def log(self) -> str:
        """Return all that the process has printed."""
        self._output.flush()
        self._output.seek(0)
        return self._output.read()

    def cpu_seconds(self) -> float:
        """Return the processor time used so far in [s]."""
        times = psutil.Process(self.pid).cpu_times()
        return float(times.user + times.system)

    def kill(self) -> None:
        """Kill it with SIGKILL, as a crash would."""
        self._process.kill()
        self._process.wait()

    def interrupt(self) -> int:
        """Press Ctrl-C; return the exit code."""
        if self.is_running:
            self._process.send_signal(signal.SIGINT)
        wait_for(
            lambda: not self.is_running,
            lambda: f"{self.name} does not end:\n{self.log()}",
            progress=lambda: work_of([self.pid]),
            limit=GRACE,
            patience=GRACE,
        )
        return self._process.wait()

    def close(self) -> None:
        """End it; kill it if it ignores the request."""
        try:
            self.interrupt()
        except AssertionError:
            self.kill()
        self._output.close()


class Listener:
    """The messages of one topic, with their monotonic times of arrival in [s]."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.messages: list[Any] = []

    def __call__(self, message: Any) -> None:
        self.messages.append(message)
        self.times.append(time.monotonic())

    @property
    def count(self) -> int:
        """How many messages arrived."""
        return len(self.times)

    @property
    def last(self) -> Any:
        """The newest message."""
        return self.messages[-1]

    def so_far(self) -> "Listener":
        """Return a copy of what has arrived so far; another thread adds to the original."""
        copy = Listener()
        copy.times = self.times.copy()
        copy.messages = self.messages[: len(copy.times)]
        return copy

    def clear(self) -> None:
        """Forget all messages."""
        self.times.clear()
        self.messages.clear()

    def rate(self) -> float:
        """Return the mean rate of arrival in [Hz]."""
        span = self.times[-1] - self.times[0] if self.count > 1 else 0.0
        return (self.count - 1) / span if span else 0.0


class Bench:
    """The test's own node and the processes that it started; all end with it.

    Args:
        prefix: Topic prefix of the nodes under test.
    """

    def __init__(self, prefix: str = "") -> None:
        self._prefix = prefix
        self._processes: list[NodeProcess] = []
        self._clients: dict[str, Any] = {}
        self.reports: dict[str, StatusReport] = {}
        self.reported_at: dict[str, float] = {}

    def __enter__(self) -> "Bench":
        gc.collect()  # A node of an earlier test stays in the graph until Python frees it.
        self._context = rclpy.Context()
        rclpy.init(context=self._context)
        name = f"{self._prefix}_bench" if self._prefix else "bench"
        self.node = Node(name, context=self._context, start_parameter_services=False)
        self._executor = LeanExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._thread = threading.Thread(target=self._spin, name="bench", daemon=True)
        self._thread.start()
        status = get_qos_profile(QoSPreset.STATUS)
        self.node.create_subscription(
            DiagnosticArray, self.topic(TopicNames.STATUS), self._on_status, status
        )
        return self

    def __exit__(self, *details: object) -> None:
        for process in reversed(self._processes):
            process.close()
        self._context.try_shutdown()
        self._thread.join(5.0)
        self.node.destroy_node()

    def topic(self, name: str) -> str:
        """Return a topic name with the prefix."""
        return TopicNames.with_prefix(name, self._prefix)

    def start(self, module: str, name: str, **parameters: Any) -> NodeProcess:
        """Start a node, and wait until its lifecycle services answer."""
        if self._prefix:
            parameters.setdefault("topic_prefix", self._prefix)
        process = NodeProcess(module, name, parameters)
        self._processes.append(process)
        client = self._client(ChangeState, f"/{name}/change_state")
        self.wait(
            lambda: client.service_is_ready() or not process.is_running,
            lambda: f"{name} did not start:\n{process.log()}",
        )
        assert process.is_running, process.log()
        self._wait_until_known(process)
        return process

    def bring_up(self, name: str) -> None:
        """Configure and activate a node."""
        for transition in ("configure", "activate"):
            assert self.transition(name, transition), (
                f"cannot {transition} {name}:\n{self._log(name)}"
            )

    def transition(self, name: str, transition: str) -> bool:
        """Request a lifecycle transition by name; return whether it succeeded."""
        number = TRANSITIONS.get(transition) or SHUTDOWNS[self.state(name)]
        request = ChangeState.Request(transition=Transition(id=number))
        return bool(self.call(ChangeState, f"/{name}/change_state", request).success)

    def state(self, name: str) -> str:
        """Return the lifecycle state of a node."""
        return str(self.call(GetState, f"/{name}/get_state").current_state.label)

    def call(self, kind: Any, name: str, request: Any = None) -> Any:
        """Call a service and return its response."""
        is_new = name not in self._clients
        client = self._client(kind, name)
        self.wait(client.service_is_ready, f"no server offers {name}")
        if is_new:
            self.wait_until_known()
        future = client.call_async(request if request is not None else kind.Request())
        self.wait(future.done, f"{name} does not answer")
        return future.result()

    def trigger(self, name: str) -> Any:
        """Call a `std_srvs/Trigger` service with the prefix."""
        return self.call(Trigger, self.topic(name))

    def set_parameter(self, node: str, name: str, value: Any) -> Any:
        """Set a parameter of a node; return its answer."""
        request = SetParameters.Request(
            parameters=[Parameter(name, value=value).to_parameter_msg()]
        )
        return self.call(SetParameters, f"/{node}/set_parameters", request).results[0]

    def get_parameter(self, node: str, name: str) -> Any:
        """Return the value of a node's parameter."""
        request = GetParameters.Request(names=[name])
        (value,) = self.call(GetParameters, f"/{node}/get_parameters", request).values
        return rclpy.parameter.parameter_value_to_python(value)

    def listen(
        self, kind: Any, name: str, preset: QoSPreset = QoSPreset.SENSOR_DATA, *, raw: bool = False
    ) -> Listener:
        """Return a listener that collects the messages of a topic from now on."""
        listener = Listener()
        profile = get_qos_profile(preset)
        self.node.create_subscription(kind, self.topic(name), listener, profile, raw=raw)
        return listener

    def publisher(self, kind: Any, name: str, preset: QoSPreset = QoSPreset.COMMAND) -> Any:
        """Return a publisher on a topic with the prefix."""
        return self.node.create_publisher(kind, self.topic(name), get_qos_profile(preset))

    def wait(
        self,
        condition: Callable[[], object],
        what: str | Callable[[], object] = "the condition never became true",
        within: float | None = None,
    ) -> None:
        """Wait until `condition()` is true, for as long as the started processes make progress.

        Args:
            condition: What to wait for.
            what: Message of the failure, or a function that returns it.
            within: Strict limit in [s], for what has a deadline.
        """
        if within is None:
            wait_for(condition, what, progress=self._progress)
        else:
            wait_for(condition, what, patience=within)

    def wait_until_known(self) -> None:
        """Wait until every started process has discovered all our clients."""
        for process in self._processes:
            self._wait_until_known(process)

    def value(self, key: str, name: str = ROBOT) -> str:
        """Return a value of the newest report of a node; "" without a report."""
        report = self.reports.get(name)
        return report.values.get(key, "") if report is not None else ""

    def causes(self, name: str = ROBOT) -> str:
        """Return all causes of the newest report of a node, one per line."""
        report = self.reports.get(name)
        return "\n".join(report.causes) if report is not None else ""

    def wait_for_state(self, state: str) -> None:
        """Wait until the robot's engagement reaches a state."""
        self.wait(
            lambda: self.value("state") == state,
            lambda: f"never {state}: {self.reports.get(ROBOT)}",
        )

    def repeat(self, rate: float, send: Callable[[], None]) -> "Repeater":
        """Return a context in which a thread calls `send` at a rate in [Hz]."""
        return Repeater(rate, send)

    def _log(self, name: str) -> str:
        return "".join(process.log() for process in self._processes if process.name == name)

    def _progress(self) -> object:
        running = [process.pid for process in self._processes if process.is_running]
        return work_of(running), len(self.reports)

    def _wait_until_known(self, process: NodeProcess) -> None:
        """Wait until a process has discovered all our clients: earlier answers would be lost.

        DDS announces endpoints in order, so a process that answers the newest client knows the
        older ones as well.
        """
        if not process.is_running:
            return
        client = self.node.create_client(GetState, f"/{process.name}/get_state")
        futures: list[Any] = []
        due = 0.0

        def is_answered() -> bool:
            nonlocal due
            if client.service_is_ready() and time.monotonic() > due:
                futures.append(client.call_async(GetState.Request()))
                due = time.monotonic() + RETRY
            return not process.is_running or any(future.done() for future in futures)

        self.wait(is_answered, lambda: f"{process.name} does not answer:\n{process.log()}")
        self.node.destroy_client(client)

    def _client(self, kind: Any, name: str) -> Any:
        if name not in self._clients:
            self._clients[name] = self.node.create_client(kind, name)
        return self._clients[name]

    def _on_status(self, message: DiagnosticArray) -> None:
        for report in from_message(message):
            self.reports[report.name] = report
            self.reported_at[report.name] = time.monotonic()

    def _spin(self) -> None:
        with contextlib.suppress(ExternalShutdownException, ShutdownException):
            self._executor.spin()


class Repeater:
    """Calls a function at a fixed rate, in a thread, while its block runs."""

    def __init__(self, rate: float, send: Callable[[], None]) -> None:
        self._period = 1.0 / rate
        self._send = send
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "Repeater":
        self._thread.start()
        return self

    def __exit__(self, *details: object) -> None:
        self._stop.set()
        self._thread.join(5.0)

    def _run(self) -> None:
        due = time.monotonic()
        while not self._stop.is_set():
            self._send()
            due = max(due + self._period, time.monotonic())
            self._stop.wait(due - time.monotonic())


def bench_of(prefix: str = "") -> Iterator[Bench]:
    """Yield a bench, for fixtures."""
    with Bench(prefix) as bench:
        yield bench
