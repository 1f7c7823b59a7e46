# SPDX-License-Identifier: Apache-2.0
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.lifecycle import LifecycleNode
from rclpy.node import Node
from rclpy.task import Future
from std_msgs.msg import Float64
from std_srvs.srv import Trigger

import teleop_system
from teleop_system.ros2.executor import LeanExecutor
from tests.waiting import wait_for

PATIENCE = 10.0


@pytest.fixture
def nodes() -> Iterator[tuple[Node, Node]]:
    rclpy.init()
    one, other = LifecycleNode("one"), Node("other")
    yield one, other
    one.destroy_node()
    other.destroy_node()
    rclpy.try_shutdown()


@pytest.fixture
def executor(nodes: tuple[Node, Node]) -> Iterator[LeanExecutor]:
    made = LeanExecutor()
    for node in nodes:
        made.add_node(node)
    yield made
    made.shutdown()


def spin_until(executor: LeanExecutor, condition: "callable[[], bool]") -> None:  # type: ignore[valid-type]
    def is_done() -> bool:
        executor.spin_once(0.05)
        return bool(condition())

    wait_for(is_done)


def test_every_message_of_every_topic_arrives(
    nodes: tuple[Node, Node], executor: LeanExecutor
) -> None:
    one, other = nodes
    received: dict[str, list[float]] = {"/a": [], "/b": [], "/c": []}
    publishers = {}
    for topic, values in received.items():
        one.create_subscription(Float64, topic, lambda m, v=values: v.append(m.data), 10)
        publishers[topic] = other.create_publisher(Float64, topic, 10)
    spin_until(executor, lambda: all(p.get_subscription_count() for p in publishers.values()))
    for number in range(30):
        for publisher in publishers.values():
            publisher.publish(Float64(data=float(number)))
        spin_until(executor, lambda n=number: all(len(v) > n for v in received.values()))
    assert all(values == [float(n) for n in range(30)] for values in received.values())


def test_a_callback_with_two_arguments_receives_the_publisher(
    nodes: tuple[Node, Node], executor: LeanExecutor
) -> None:
    one, other = nodes
    senders: list[bytes] = []
    one.create_subscription(
        Float64, "/who", lambda m, info: senders.append(info["publisher_gid"]["data"]), 10
    )
    publishers = [other.create_publisher(Float64, "/who", 10) for _ in range(2)]
    spin_until(executor, lambda: all(p.get_subscription_count() for p in publishers))
    for publisher in publishers:
        publisher.publish(Float64())
    spin_until(executor, lambda: len(senders) == 2)
    assert senders[0] != senders[1]


def test_timers_fire_until_they_are_cancelled(
    nodes: tuple[Node, Node], executor: LeanExecutor
) -> None:
    fired: list[float] = []
    timer = nodes[0].create_timer(0.01, lambda: fired.append(time.monotonic()))
    spin_until(executor, lambda: len(fired) >= 20)
    timer.cancel()
    executor.spin_once(0.05)
    count = len(fired)
    end = time.monotonic() + 0.1
    while time.monotonic() < end:
        executor.spin_once(0.02)
    assert len(fired) == count
    assert fired[-1] - fired[0] >= 0.01 * (len(fired) - 2)


def test_services_are_answered(nodes: tuple[Node, Node], executor: LeanExecutor) -> None:
    one, other = nodes

    def answer(_: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success, response.message = True, "done"
        return response

    one.create_service(Trigger, "/ask", answer)
    client = other.create_client(Trigger, "/ask")
    spin_until(executor, client.service_is_ready)
    future = client.call_async(Trigger.Request())
    spin_until(executor, future.done)
    assert future.result().message == "done"


def test_entities_created_and_destroyed_in_a_callback_take_effect(
    nodes: tuple[Node, Node], executor: LeanExecutor
) -> None:
    one, other = nodes
    received: list[float] = []
    publisher = other.create_publisher(Float64, "/later", 10)
    subscriptions: list[object] = []

    def open_it() -> None:
        timer.cancel()
        one.destroy_timer(timer)
        subscriptions.append(
            one.create_subscription(Float64, "/later", lambda m: received.append(m.data), 10)
        )

    timer = one.create_timer(0.01, open_it)
    spin_until(executor, lambda: publisher.get_subscription_count() == 1)
    publisher.publish(Float64(data=1.0))
    spin_until(executor, lambda: received == [1.0])
    one.destroy_subscription(subscriptions.pop())
    spin_until(executor, lambda: publisher.get_subscription_count() == 0)


def test_an_error_in_a_callback_is_raised_by_spin(
    nodes: tuple[Node, Node], executor: LeanExecutor
) -> None:
    def fail() -> None:
        raise ArithmeticError("on purpose")

    nodes[0].create_timer(0.01, fail)
    with pytest.raises(ArithmeticError, match="on purpose"):
        spin_until(executor, lambda: False)


def test_a_shutdown_by_another_thread_ends_the_spin(
    nodes: tuple[Node, Node], executor: LeanExecutor
) -> None:
    threading.Timer(0.2, rclpy.shutdown).start()
    started = time.monotonic()
    with pytest.raises(ExternalShutdownException):
        while True:
            executor.spin()
            if not rclpy.ok():
                raise ExternalShutdownException
    assert time.monotonic() - started < PATIENCE  # It does not wait for a message.


def test_a_waiting_coroutine_is_not_polled_and_resumes_at_once(
    nodes: tuple[Node, Node], executor: LeanExecutor
) -> None:
    future: Future[str] = Future()
    answers: list[str] = []

    async def wait() -> None:
        answers.append(await future)

    executor.create_task(wait)
    rounds, end = 0, time.monotonic() + 0.3
    while time.monotonic() < end:
        executor.spin_once(1.0)
        rounds += 1
    # One per rare interval of 20 ms, and some for the nodes' own messages.
    assert rounds < 60
    assert not answers
    nodes[0].create_timer(0.01, lambda: future.set_result("done"))
    spin_until(executor, future.done)
    assert answers == ["done"], "it resumes in the same round that completes its future"


def test_only_the_executor_uses_private_parts_of_rclpy() -> None:
    private = re.compile(r"rclpy\.impl|rclpy[\w.]*\._|_parameter_overrides|\._state_machine\b")
    package = Path(teleop_system.__file__).parent
    users = [
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if private.search(path.read_text(encoding="utf-8"))
    ]
    assert users == ["ros2/executor.py"]
