# SPDX-License-Identifier: Apache-2.0
"""A single-threaded executor for control nodes, and all our uses of rclpy's private parts.

Reason: rclpy's `SingleThreadedExecutor` collects every entity of every node again for each
callback, and wakes itself up twice. A lifecycle node with ten topics at 100 Hz takes
7 % of a core with it, and 2 % with this one (1000 raw messages of 76 bytes per second). rclpy's
experimental `EventsExecutor` used a whole core and delivered no messages.

This executor keeps the list of entities until it changes, and calls plain callbacks directly.
Services, actions and coroutines are rare; rclpy's own handlers run them. Each entity in the wait
set costs a few microseconds per wait, and a lifecycle node has a dozen services, so services,
actions and QoS events are checked every `RARE_INTERVAL` only.

Private parts of rclpy change without notice. They are used in this file and nowhere else.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from typing import Any

import rclpy
from rclpy.action.server import ActionServer
from rclpy.event_handler import EventHandler
from rclpy.exceptions import TimerCancelledError
from rclpy.executors import (
    ExternalShutdownException,
    ShutdownException,
    SingleThreadedExecutor,
)
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.lifecycle import LifecycleNode
from rclpy.node import Node
from rclpy.subscription import Subscription
from rclpy.waitable import NumberOfEntities
from typing_extensions import override

RARE_INTERVAL = 0.02
"""Time in [s] between two checks of services, actions and QoS events."""


class _Entities:
    """All entities to wait for; valid until one is created or destroyed."""

    def __init__(self, nodes: Iterable[Node], context: Any, guards: Iterable[Any]) -> None:
        self._stack = ExitStack()
        self._context = context
        nodes = list(nodes)
        self.subscriptions = self._held(s for node in nodes for s in node.subscriptions)
        self.timers = self._held(t for node in nodes for t in node.timers)
        self.clients = self._held(c for node in nodes for c in node.clients)
        self.services = self._held(s for node in nodes for s in node.services)
        self.guards = self._held(g for node in nodes for g in node.guards)
        self._waking = [guard.handle for guard in guards if guard is not None]
        waitables = [w for node in nodes for w in node.waitables]
        self.owners = {
            id(entity): node
            for node in nodes
            for kind in (node.clients, node.services, node.guards, node.waitables)
            for entity in kind
        }
        self.waitables: list[Any] = []
        self.rare_waitables: list[Any] = []
        for waitable in waitables:
            try:
                self._stack.enter_context(waitable)
            except _rclpy.InvalidHandle:
                continue
            is_rare = isinstance(waitable, EventHandler | ActionServer)
            (self.rare_waitables if is_rare else self.waitables).append(waitable)
        self._stack.enter_context(context.handle)
        self._sets = {with_rare: self._make_set(with_rare) for with_rare in (False, True)}

    def _held(self, entities: Iterable[Any]) -> dict[int, Any]:
        """Return entities by the pointer that the wait set reports; they cannot be destroyed."""
        found = {}
        for entity in entities:
            try:
                self._stack.enter_context(entity.handle)
            except _rclpy.InvalidHandle:
                continue
            found[entity.handle.pointer] = entity
        return found

    def _make_set(self, with_rare: bool) -> Any:
        count = NumberOfEntities(
            len(self.subscriptions),
            len(self.guards) + len(self._waking),
            len(self.timers),
            len(self.clients),
            len(self.services) if with_rare else 0,
        )
        for waitable in (*self.waitables, *(self.rare_waitables if with_rare else ())):
            count += waitable.get_num_entities()
        return _rclpy.WaitSet(
            count.num_subscriptions,
            count.num_guard_conditions,
            count.num_timers,
            count.num_clients,
            count.num_services,
            count.num_events,
            self._context.handle,
        )

    def wait(self, timeout_ns: int, *, with_rare: bool) -> Any:
        """Wait until an entity is ready, and return the wait set."""
        found = self._sets[with_rare]
        # A wait removes all entities that are not ready, so each wait adds all of them again.
        found.clear_entities()
        for entity in self.subscriptions.values():
            found.add_subscription(entity.handle)
        for entity in self.timers.values():
            found.add_timer(entity.handle)
        for entity in self.clients.values():
            found.add_client(entity.handle)
        for entity in self.guards.values():
            found.add_guard_condition(entity.handle)
        for handle in self._waking:
            found.add_guard_condition(handle)
        for waitable in self.waitables:
            waitable.add_to_wait_set(found)
        if with_rare:
            for entity in self.services.values():
                found.add_service(entity.handle)
            for waitable in self.rare_waitables:
                waitable.add_to_wait_set(found)
        found.wait(timeout_ns)
        return found

    def close(self) -> None:
        """Release the entities, so that rclpy can destroy them."""
        self._sets.clear()
        self._stack.close()


class LeanExecutor(SingleThreadedExecutor):
    """Runs the callbacks of control nodes in the thread that spins.

    Args:
        context: As for any executor of rclpy.
        rare_interval: Longest time in [s] until a service request is noticed.
    """

    def __init__(self, *, context: Any = None, rare_interval: float = RARE_INTERVAL) -> None:
        self._entities: _Entities | None = None
        self._is_outdated = True
        self._rare_interval = rare_interval
        self._next_rare = 0.0
        super().__init__(context=context)

    @override
    def wake(self) -> None:
        self._is_outdated = True  # Nodes call this when an entity is created or destroyed.
        super().wake()

    @override
    def add_node(self, node: Node) -> bool:
        self._is_outdated = True
        return bool(super().add_node(node))

    @override
    def remove_node(self, node: Node) -> None:
        self._is_outdated = True
        super().remove_node(node)

    @override
    def spin(self) -> None:
        while self._context.ok() and not self._is_shutdown:
            self.spin_once()

    @override
    def spin_once(self, timeout_sec: float | None = None) -> None:
        """Wait once, for at most `timeout_sec`, and run every callback that is ready.

        Raises:
            ExternalShutdownException: The context was shut down during the wait.
        """
        self._run_tasks()
        entities = self._current_entities()
        now = time.monotonic()
        with_rare = now >= self._next_rare
        if with_rare:
            self._next_rare = now + self._rare_interval
        timeout = self._rare_interval
        if timeout_sec is not None and 0.0 <= timeout_sec < timeout:
            timeout = timeout_sec
        # A new task triggers the guard condition; a waiting task resumes after the callbacks.
        ready = entities.wait(int(timeout * 1e9), with_rare=with_rare)
        if self._is_shutdown:
            raise ShutdownException
        if not self._context.ok():
            raise ExternalShutdownException
        self._run_ready(entities, ready, with_rare)

    @override
    def shutdown(self, timeout_sec: float | None = None) -> bool:
        self._release_entities()
        return bool(super().shutdown(timeout_sec))

    def _run_ready(self, entities: _Entities, ready: Any, with_rare: bool) -> None:
        # Collected first: the callbacks below may create or destroy entities.
        rare = self._ready_rare(entities, ready, with_rare)
        for pointer in ready.get_ready_entities("timer"):
            timer = entities.timers.get(pointer)
            if timer is not None and not self._is_outdated:
                self._call_timer(timer)
        for pointer in ready.get_ready_entities("subscription"):
            if self._is_outdated:
                return  # The other entities stay ready until the next call.
            subscription = entities.subscriptions.get(pointer)
            if subscription is not None:
                self._deliver(subscription)
        for entity, take in rare:
            self._make_handler(entity, entities.owners[id(entity)], take)
        self._run_tasks()

    def _ready_rare(
        self, entities: _Entities, ready: Any, with_rare: bool
    ) -> list[tuple[Any, Callable[[Any], Any]]]:
        """Return ready entities that rclpy's own handlers run, with the method that takes them."""
        found: list[tuple[Any, Callable[[Any], Any]]] = []
        for kind, by_pointer, take in (
            ("client", entities.clients, self._take_client),
            ("service", entities.services if with_rare else {}, self._take_service),
            ("guard_condition", entities.guards, self._take_guard_condition),
        ):
            if by_pointer:
                for pointer in ready.get_ready_entities(kind):
                    if pointer in by_pointer:
                        found.append((by_pointer[pointer], take))
        for waitable in (*entities.waitables, *(entities.rare_waitables if with_rare else ())):
            if waitable.is_ready(ready):
                found.append((waitable, self._take_waitable))
        return found

    def _call_timer(self, timer: Any) -> None:
        handle = timer.handle
        if not handle.is_timer_ready():
            return  # An earlier callback cancelled or reset it.
        try:
            handle.call_timer_with_info()
        except TimerCancelledError:
            return
        if timer.callback is not None:
            timer.callback()

    def _deliver(self, subscription: Any) -> None:
        taken = subscription.handle.take_message(subscription.msg_type, subscription.raw)
        if taken is None:
            return
        if subscription._callback_type is Subscription.CallbackType.MessageOnly:
            subscription.callback(taken[0])
        else:
            subscription.callback(*taken)

    def _run_tasks(self) -> None:
        if not self._tasks:
            return
        with self._tasks_lock:
            tasks = [task for task, _, _ in self._tasks]
        for task in tasks:
            if not task.executing() and not task.done():
                task()
                error = task.exception()
                if error is not None:
                    raise error
        with self._tasks_lock:
            self._tasks = [entry for entry in self._tasks if not entry[0].done()]

    def _current_entities(self) -> _Entities:
        if self._is_outdated or self._entities is None:
            self._release_entities()
            self._is_outdated = False
            guards = (self._guard, self._sigint_gc)
            self._entities = _Entities(self.get_nodes(), self._context, guards)
        return self._entities

    def _release_entities(self) -> None:
        if self._entities is not None:
            self._entities.close()
            self._entities = None


def spin(*nodes: Node) -> None:
    """Run nodes in this thread until the context is shut down or Ctrl-C is pressed."""
    executor = LeanExecutor()
    for node in nodes:
        executor.add_node(node)
    try:
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException, ShutdownException):
        pass
    finally:
        for node in nodes:
            executor.remove_node(node)
        executor.shutdown()
        if rclpy.ok():
            rclpy.try_shutdown()


def initial_parameters(node: Node) -> Mapping[str, Any]:
    """Return the parameters given on the command line or in a file, declared or not."""
    found: Mapping[str, Any] = node._parameter_overrides
    return found


def destroy_state_machine(node: LifecycleNode) -> None:
    """Destroy the lifecycle services of a destroyed node.

    rclpy leaves them to the garbage collector; until then the node stays in the ROS graph.
    """
    node._state_machine.destroy_when_not_in_use()
