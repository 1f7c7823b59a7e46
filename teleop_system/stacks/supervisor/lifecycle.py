# SPDX-License-Identifier: Apache-2.0
"""One lifecycle node of a running stack: its state, and requests for transitions."""

import time
from collections.abc import Callable
from typing import Any

from lifecycle_msgs.msg import State, Transition, TransitionEvent
from lifecycle_msgs.srv import ChangeState, GetState

from teleop_system.stacks.plan import NodePlan
from teleop_system.stacks.supervisor.node_watch import (
    Action,
    NodeWatch,
    Phase,
    SupervisionPolicy,
)

TRANSITIONS = {
    Action.CONFIGURE: Transition.TRANSITION_CONFIGURE,
    Action.ACTIVATE: Transition.TRANSITION_ACTIVATE,
}
EVENT_DEPTH = 10
STARTING_INTERVAL, ACTIVE_INTERVAL = 0.2, 3.0
"""Time in [s] between two requests for the state: during the start, and while it is active."""


class LifecycleClient:
    """Reads the lifecycle state of one node and requests transitions; never blocks.

    Args:
        node: The rclpy node of the supervisor.
        name: Full name of the node.
        on_state: Called with every state that the node reports.
        on_failure: Called with the transition that failed.
        on_error: Called when an error made the node unconfigured.
    """

    def __init__(
        self,
        node: Any,
        name: str,
        *,
        on_state: Callable[[str], None],
        on_failure: Callable[[Action], None],
        on_error: Callable[[], None],
    ) -> None:
        self._node = node
        self._on_state = on_state
        self._on_failure = on_failure
        self._on_error = on_error
        self._process_number = 0
        self._pending: Any = None
        self._get = node.create_client(GetState, f"{name}/get_state")
        self._change = node.create_client(ChangeState, f"{name}/change_state")
        self._events = node.create_subscription(
            TransitionEvent, f"{name}/transition_event", self._on_event, EVENT_DEPTH
        )

    def ignore_pending(self) -> None:
        """Ignore answers to earlier requests: their process has ended."""
        self._process_number += 1
        self._remove_pending()

    def request_state(self) -> None:
        """Request the state, if the node's service is available."""
        if not self._get.service_is_ready():
            return
        self._remove_pending()
        number = self._process_number
        self._pending = self._get.call_async(GetState.Request())
        self._pending.add_done_callback(lambda future: self._on_answer(future, number))

    def request_transition(self, action: Action) -> None:
        """Request a transition of `TRANSITIONS`; the callbacks get the result."""
        number = self._process_number
        request = ChangeState.Request(transition=Transition(id=TRANSITIONS[action]))
        future = self._change.call_async(request)
        future.add_done_callback(lambda done: self._on_changed(done, action, number))

    def close(self) -> None:
        """Destroy clients and subscription."""
        self.ignore_pending()
        self._node.destroy_client(self._get)
        self._node.destroy_client(self._change)
        self._node.destroy_subscription(self._events)

    def _on_answer(self, future: Any, number: int) -> None:
        if number == self._process_number and future.result() is not None:
            self._on_state(future.result().current_state.label)

    def _on_changed(self, future: Any, action: Action, number: int) -> None:
        if number != self._process_number or future.result() is None:
            return
        if not future.result().success:
            self._on_failure(action)
        self.request_state()

    def _on_event(self, event: TransitionEvent) -> None:
        self._on_state(event.goal_state.label)
        if event.start_state.id == State.TRANSITION_STATE_ERRORPROCESSING:
            self._on_error()

    def _remove_pending(self) -> None:
        # A dead node never answers, and its requests would accumulate.
        if self._pending is not None and not self._pending.done():
            self._get.remove_pending_request(self._pending)
        self._pending = None


class ManagedNode:
    """A node with its watch and its lifecycle client.

    Args:
        plan: The node.
        policy: Time-outs and restarts.
        node: The rclpy node of the supervisor.
        show_message: Displays a message.
    """

    def __init__(
        self,
        plan: NodePlan,
        policy: SupervisionPolicy,
        node: Any,
        show_message: Callable[[str], None],
    ) -> None:
        self.plan = plan
        self.watch = NodeWatch(policy)
        self.was_active = False
        self.on_answer: Callable[[float], None] = lambda now: None
        self._show_message = show_message
        self._next_request = 0.0
        self._client = LifecycleClient(
            node,
            plan.name,
            on_state=self._on_state,
            on_failure=self._on_failure,
            on_error=self._on_error,
        )

    @property
    def label(self) -> str:
        """Return the name for messages and tables."""
        return self.plan.name.lstrip("/")

    def started(self) -> None:
        """Record the start of its process."""
        self._client.ignore_pending()
        self.watch.started(time.monotonic())

    def ended(self, how: str) -> None:
        """Record the end of its process."""
        self._client.ignore_pending()
        self.watch.ended(time.monotonic(), how)
        if self.watch.phase is Phase.ENDED:
            self._show_message(f"{self.label} was shut down")
        else:
            self._show_failure(how)

    def next_action(self, now: float, *, may_activate: bool) -> Action | None:
        """Request due transitions; return what must be done with the process, if anything."""
        if now >= self._next_request:
            self._next_request = now + (ACTIVE_INTERVAL if self.watch.is_up else STARTING_INTERVAL)
            self._client.request_state()
        action = self.watch.next_action(now, may_activate=may_activate)
        if action is Action.KILL:
            self._show_failure(self.watch.cause)
        if action in TRANSITIONS:
            self._client.request_transition(action)
            return None
        return action

    def close(self) -> None:
        """End the communication with the node."""
        self._client.close()

    def _on_state(self, state: str) -> None:
        was_up, now = self.watch.is_up, time.monotonic()
        self.watch.state_received(now, state)
        self.on_answer(now)
        if self.watch.is_up and not was_up:
            self.was_active = True
            again = " again" if self.watch.restarts else ""
            self._show_message(f"{self.label} is active{again}")

    def _on_failure(self, action: Action) -> None:
        why = f"could not {action.value}"
        if self.watch.transition_failed(time.monotonic(), why):
            self._show_failure(why)

    def _on_error(self) -> None:
        why = "had an error and is unconfigured"
        if self.watch.error_occurred(time.monotonic(), why):
            self._show_failure(why)

    def _show_failure(self, why: str) -> None:
        end = "given up" if self.watch.phase is Phase.FAILED else "will be tried again"
        self._show_message(f"{self.label} {why}; {end}")
