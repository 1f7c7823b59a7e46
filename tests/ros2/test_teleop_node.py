# SPDX-License-Identifier: Apache-2.0
import contextlib
import time
from collections.abc import Callable, Iterator

import pytest
import rclpy
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message
from std_msgs.msg import Float64
from typing_extensions import override

from teleop_system.exceptions import ConfigError
from teleop_system.interfaces.causes import Cause, Rule, Severity
from teleop_system.ros2.executor import LeanExecutor
from teleop_system.ros2.status import (
    Level,
    StatusListener,
    StatusReport,
    cause_values,
    from_message,
    level_of,
    to_message,
)
from teleop_system.ros2.teleop_node import TeleopNode
from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames, get_qos_profile
from tests.waiting import wait_for

SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE


class Counter(TeleopNode):
    """Publishes a number a hundred times a second while it is active."""

    def __init__(self, name: str = "counter", **keywords: object) -> None:
        super().__init__(name, status_rate=20.0, **keywords)
        self.fault: Exception | None = None
        self.closed = 0
        self.stops = 0

    @override
    def configure(self) -> None:
        if self.fault is not None:
            raise self.fault
        self.resources.callback(self._count_closing)
        self._numbers = self.publisher(Float64, "/numbers", QoSPreset.COMMAND)
        self.every(0.01, lambda: self._numbers.publish(Float64()))

    @override
    def deactivate(self) -> None:
        self.stops += 1

    @override
    def report(self) -> StatusReport:
        return StatusReport(f"teleop/{self.get_name()}", values={"following": "true"})

    def _count_closing(self) -> None:
        self.closed += 1


@pytest.fixture
def run() -> Iterator[Callable[..., Counter]]:
    rclpy.init()
    made: list[Counter] = []

    def make(name: str = "counter", **parameters: object) -> Counter:
        given = [Parameter(key, value=value) for key, value in parameters.items()]
        made.append(Counter(name, parameter_overrides=given))
        return made[-1]

    yield make
    for node in made:
        node.destroy_node()
    rclpy.try_shutdown()


class Listener:
    """Counts the messages of a topic, in a separate node."""

    def __init__(self, *nodes: Node, topic: str = "/numbers") -> None:
        self.node = Node("ear")
        self.count = 0
        self.reports: list[StatusReport] = []
        self.node.create_subscription(Float64, topic, self._on_number, 10)
        self.node.create_subscription(DiagnosticArray, "/teleop/status", self._on_status, 10)
        self._executor = LeanExecutor()
        for node in (*nodes, self.node):
            self._executor.add_node(node)

    def _on_number(self, _: Float64) -> None:
        self.count += 1

    def _on_status(self, message: DiagnosticArray) -> None:
        self.reports += from_message(message)

    def listen(self, seconds: float) -> int:
        before, end = self.count, time.monotonic() + seconds
        while time.monotonic() < end:
            self._executor.spin_once(0.02)
        return self.count - before

    def wait(self, condition: Callable[[], bool]) -> None:
        def is_done() -> bool:
            self._executor.spin_once(0.02)
            return condition()

        wait_for(is_done)


def test_only_an_active_node_publishes(run: Callable[..., Counter]) -> None:
    node = run()
    ear = Listener(node)
    assert node.trigger_configure() == SUCCESS
    assert ear.listen(0.3) == 0
    assert node.trigger_activate() == SUCCESS
    ear.wait(lambda: ear.count > 5)
    for stop, again in (
        (node.trigger_deactivate, (node.trigger_activate,)),
        (node.trigger_deactivate, (node.trigger_cleanup, node.trigger_configure)),
    ):
        assert stop() == SUCCESS
        ear.listen(0.1)
        assert ear.listen(0.2) == 0
        for transition in again:
            assert transition() == SUCCESS
    assert ear.listen(0.2) == 0
    assert node.trigger_activate() == SUCCESS
    ear.wait(lambda: ear.listen(0.1) > 3)
    assert node.trigger_shutdown() == SUCCESS
    ear.listen(0.1)
    assert ear.listen(0.2) == 0
    assert node.closed == 2
    assert node.stops == 3


def test_an_error_in_the_settings_fails_and_can_be_corrected(
    run: Callable[..., Counter],
) -> None:
    node = run(overrides=["robot.nam=rby1"])
    assert node.trigger_configure() == FAILURE
    assert node.closed == 0
    other = run("other")
    other.fault = ConfigError("the cable is not plugged in")
    assert other.trigger_configure() == FAILURE
    other.fault = None
    assert other.trigger_configure() == SUCCESS
    assert other.trigger_activate() == SUCCESS


def test_an_unexpected_error_closes_everything_and_ends_in_unconfigured(
    run: Callable[..., Counter],
) -> None:
    node = run()
    node.fault = ArithmeticError("a bug")
    node.trigger_configure()
    assert node.closed == 0
    node.fault = None
    assert node.trigger_configure() == SUCCESS


def test_settings_come_from_the_tree_and_its_overrides(run: Callable[..., Counter]) -> None:
    node = run(overrides=["robot=rby1_dg5f", "arm.ramp_time=1.5"])
    assert node.trigger_configure() == SUCCESS
    assert node.settings.robot.name == "rby1_dg5f"
    assert node.settings.arm.ramp_time == 1.5


def test_a_prefix_applies_to_the_topics(run: Callable[..., Counter]) -> None:
    node = run(topic_prefix="left_robot")
    ear, plain = Listener(node, topic="/left_robot/numbers"), Listener(topic="/numbers")
    node.trigger_configure()
    node.trigger_activate()
    ear.wait(lambda: ear.count > 5)
    assert plain.listen(0.1) == 0


def test_the_status_shows_the_lifecycle_state(run: Callable[..., Counter]) -> None:
    node = run()
    ear = Listener(node)
    node.trigger_configure()
    ear.wait(lambda: any(r.values["lifecycle"] == "inactive" for r in ear.reports))
    node.trigger_activate()
    ear.wait(lambda: ear.reports[-1].values["lifecycle"] == "active")
    assert ear.reports[-1].name == "teleop/counter"


def test_a_listener_uses_only_recent_reports(
    run: Callable[..., Counter], monkeypatch: pytest.MonkeyPatch
) -> None:
    node, robot = run(), run("robot")
    ear = Listener(node, robot)
    node.trigger_configure()
    listener = StatusListener(node, ("teleop/robot",))
    assert not listener.is_following
    robot.trigger_configure()
    ear.wait(lambda: listener.is_following)
    robot.trigger_cleanup()
    ear.listen(0.1)
    later = time.monotonic() + 1.1
    monkeypatch.setattr(node, "steady", lambda: later)
    assert not listener.is_following
    assert listener.report("teleop/counter") is None


def test_reports_can_be_converted_to_a_message_and_back() -> None:
    causes = (
        Cause(Rule.VELOCITY, "right_arm_0", 2.5, 2.1, 1.0),
        Cause(Rule.ESTOP, "robot", 1.0, 0.0, 1.0, Severity.STOP),
    )
    report = StatusReport(
        "teleop/robot", level_of(causes), "stopped", cause_values(causes), "rby1"
    )
    assert report.level is Level.ERROR
    assert report.causes[0].startswith("estop")
    stamp = rclpy.clock.Clock().now().to_msg()
    assert list(from_message(to_message([report], stamp))) == [report]


def test_a_destroyed_node_leaves_the_graph_at_once(run: Callable[..., Counter]) -> None:
    node = run("leaving")
    with contextlib.ExitStack() as stack:
        context = rclpy.Context()
        rclpy.init(context=context)
        stack.callback(context.try_shutdown)
        watcher = Node("watcher", context=context)
        stack.callback(watcher.destroy_node)
        wait_for(lambda: "leaving" in watcher.get_node_names())
        assert node.trigger_configure() == SUCCESS
        node.destroy_node()
        wait_for(lambda: "leaving" not in watcher.get_node_names())


def test_a_malformed_status_is_ignored(run: Callable[..., Counter]) -> None:
    received: list[StatusReport] = []
    node = run("listening")
    listener = StatusListener(node, ("teleop/",), received.append)
    sender = run("sending").create_publisher(
        DiagnosticArray, node.topic(TopicNames.STATUS), get_qos_profile(QoSPreset.STATUS)
    )
    good = serialize_message(to_message([StatusReport("teleop/robot")], Time()))
    executor = LeanExecutor()
    executor.add_node(node)
    wait_for(lambda: sender.get_subscription_count() > 0)
    no_name = good.replace(b"rob", b"\xff\xfe\xfd")
    for data in (b"\x00\x01\x00\x00teleop/" + b"\xff" * 40, good[:-9], no_name):
        sender.publish(data)
        executor.spin_once(0.2)

    def is_heard() -> bool:
        executor.spin_once(0.1)
        return any(report.name == "teleop/robot" for report in received)

    assert not is_heard()
    sender.publish(good)
    wait_for(is_heard)
    executor.shutdown()
    node.destroy_subscription(listener.subscription)
