# SPDX-License-Identifier: Apache-2.0
"""An executor for control nodes: one thread, and little work per message.

rclpy's own `SingleThreadedExecutor` gathers every entity of every node anew for each callback and
wakes itself up twice on the way. For a node with ten topics at 100 Hz that costs more than all it
computes, and loses some. This one keeps the list until it changes and calls plain callbacks
directly; whatever is rare (services, actions, coroutines) takes rclpy's own way. Each entity that
is waited for costs a few microseconds a wait, and a lifecycle node has a dozen services, so those
are only looked at every `RARE_INTERVAL`. A coroutine that waits for something goes on after the
callbacks of a turn, and is not asked again and again meanwhile.
"""

import time
from collections.abc import Callable, Iterable
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
from rclpy.node import Node
from rclpy.subscription import Subscription
from rclpy.waitable import NumberOfEntities
from typing_extensions import override

RARE_INTERVAL = 0.02
"""Time in [s] between two looks at services, actions and QoS events."""


class _Watched:
    """Everything that is waited for, as long as no entity comes or goes."""

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
        self.seldom: list[Any] = []
        for waitable in waitables:
            try:
                self._stack.enter_context(waitable)
            except _rclpy.InvalidHandle:
                continue
            is_rare = isinstance(waitable, EventHandler | ActionServer)
            (self.seldom if is_rare else self.waitables).append(waitable)
        self._stack.enter_context(context.handle)
        self._sets = {full: self._make_set(full) for full in (False, True)}

    def _held(self, entities: Iterable[Any]) -> dict[int, Any]:
        """Return entities by the pointer that the wait set reports, kept from being destroyed."""
        found = {}
        for entity in entities:
            try:
                self._stack.enter_context(entity.handle)
            except _rclpy.InvalidHandle:
                continue
            found[entity.handle.pointer] = entity
        return found

    def _make_set(self, full: bool) -> Any:
        count = NumberOfEntities(
            len(self.subscriptions),
            len(self.guards) + len(self._waking),
            len(self.timers),
            len(self.clients),
            len(self.services) if full else 0,
        )
        for waitable in (*self.waitables, *(self.seldom if full else ())):
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

    def wait(self, timeout_ns: int, *, full: bool) -> Any:
        """Wait until something is ready, and return the set that tells what."""
        found = self._sets[full]
        # Waiting takes out all that is not ready, so it has to be put in again each time.
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
        if full:
            for entity in self.services.values():
                found.add_service(entity.handle)
            for waitable in self.seldom:
                waitable.add_to_wait_set(found)
        found.wait(timeout_ns)
        return found

    def close(self) -> None:
        """Let entities that were destroyed meanwhile go."""
        self._sets.clear()
        self._stack.close()


class LeanExecutor(SingleThreadedExecutor):
    """Runs the callbacks of control nodes in the thread that spins.

    Args:
        context: As for any executor of rclpy.
        rare_interval: Longest time in [s] that a service waits to be looked at.
    """

    def __init__(self, *, context: Any = None, rare_interval: float = RARE_INTERVAL) -> None:
        self._watched: _Watched | None = None
        self._is_outdated = True
        self._rare_interval = rare_interval
        self._next_rare = 0.0
        super().__init__(context=context)

    @override
    def wake(self) -> None:
        self._is_outdated = True  # Nodes call this whenever an entity comes or goes.
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
            self.turn()

    @override
    def spin_once(self, timeout_sec: float | None = None) -> None:
        self.turn(timeout_sec)

    @override
    def shutdown(self, timeout_sec: float | None = None) -> bool:
        self._forget()
        return bool(super().shutdown(timeout_sec))

    def turn(self, timeout: float | None = None) -> None:
        """Wait once, for at most `timeout` [s], and run every callback that is ready.

        Raises:
            ExternalShutdownException: The context was shut down meanwhile.
        """
        self._run_tasks()
        watched = self._up_to_date()
        now = time.monotonic()
        full = now >= self._next_rare
        if full:
            self._next_rare = now + self._rare_interval
        if timeout is None or timeout < 0.0 or timeout > self._rare_interval:
            timeout = self._rare_interval
        # Tasks that are new woke the guard; the others wait for something that a turn may bring.
        ready = watched.wait(int(timeout * 1e9), full=full)
        if self._is_shutdown:
            raise ShutdownException
        if not self._context.ok():
            raise ExternalShutdownException
        self._run_ready(watched, ready, full)

    def _run_ready(self, watched: _Watched, ready: Any, full: bool) -> None:
        # The rest is looked up first: callbacks below may change what is waited for.
        rare = self._rare(watched, ready, full)
        for pointer in ready.get_ready_entities("timer"):
            timer = watched.timers.get(pointer)
            if timer is not None and not self._is_outdated:
                self._call_timer(timer)
        for pointer in ready.get_ready_entities("subscription"):
            if self._is_outdated:
                return  # What is left stays ready, and comes with the next turn.
            subscription = watched.subscriptions.get(pointer)
            if subscription is not None:
                self._deliver(subscription)
        for entity, take in rare:
            self._make_handler(entity, watched.owners[id(entity)], take)
        self._run_tasks()

    def _rare(
        self, watched: _Watched, ready: Any, full: bool
    ) -> list[tuple[Any, Callable[[Any], Any]]]:
        found: list[tuple[Any, Callable[[Any], Any]]] = []
        for kind, entities, take in (
            ("client", watched.clients, self._take_client),
            ("service", watched.services if full else {}, self._take_service),
            ("guard_condition", watched.guards, self._take_guard_condition),
        ):
            if entities:
                for pointer in ready.get_ready_entities(kind):
                    if pointer in entities:
                        found.append((entities[pointer], take))
        for waitable in (*watched.waitables, *(watched.seldom if full else ())):
            if waitable.is_ready(ready):
                found.append((waitable, self._take_waitable))
        return found

    def _call_timer(self, timer: Any) -> None:
        handle = timer.handle
        if not handle.is_timer_ready():
            return  # It was cancelled or reset by a callback before.
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

    def _up_to_date(self) -> _Watched:
        if self._is_outdated or self._watched is None:
            self._forget()
            self._is_outdated = False
            self._watched = _Watched(
                self.get_nodes(), self._context, (self._guard, self._sigint_gc)
            )
        return self._watched

    def _forget(self) -> None:
        if self._watched is not None:
            self._watched.close()
            self._watched = None


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
