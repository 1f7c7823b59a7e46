# SPDX-License-Identifier: Apache-2.0
"""Asks lifecycle nodes for their state and for transitions, without ever waiting."""

from collections.abc import Callable
from typing import Any

from lifecycle_msgs.msg import State, Transition, TransitionEvent
from lifecycle_msgs.srv import ChangeState, GetState

TRANSITIONS = {
    "configure": Transition.TRANSITION_CONFIGURE,
    "activate": Transition.TRANSITION_ACTIVATE,
}
EVENT_DEPTH = 10


class LifecycleClient:
    """The lifecycle of one node, seen from outside.

    Args:
        node: The rclpy node of the supervisor.
        name: Full name of the node to look at.
        on_state: Called with its state whenever that is heard.
        on_refusal: Called with the name of a transition that failed.
        on_fault: Called with the state in which an error happened.
    """

    def __init__(
        self,
        node: Any,
        name: str,
        *,
        on_state: Callable[[str], None],
        on_refusal: Callable[[str], None],
        on_fault: Callable[[], None],
    ) -> None:
        self._node = node
        self._name = name
        self._on_state = on_state
        self._on_refusal = on_refusal
        self._on_fault = on_fault
        self._life = 0
        self._pending: Any = None
        self._get = node.create_client(GetState, f"{name}/get_state")
        self._change = node.create_client(ChangeState, f"{name}/change_state")
        self._events = node.create_subscription(
            TransitionEvent, f"{name}/transition_event", self._on_event, EVENT_DEPTH
        )

    def forget(self) -> None:
        """Take no answer any more to what was asked of a process that is gone."""
        self._life += 1
        self._drop_pending()

    def ask_state(self) -> None:
        """Ask for the state; nothing happens while the node does not answer yet."""
        if not self._get.service_is_ready():
            return
        self._drop_pending()
        life = self._life
        self._pending = self._get.call_async(GetState.Request())
        self._pending.add_done_callback(lambda future: self._on_answer(future, life))

    def request(self, transition: str) -> None:
        """Ask for a transition of `TRANSITIONS`; the answer comes by the callbacks."""
        life = self._life
        request = ChangeState.Request(transition=Transition(id=TRANSITIONS[transition]))
        future = self._change.call_async(request)
        future.add_done_callback(lambda done: self._on_changed(done, transition, life))

    def close(self) -> None:
        """Let go of clients and subscription."""
        self.forget()
        self._node.destroy_client(self._get)
        self._node.destroy_client(self._change)
        self._node.destroy_subscription(self._events)

    def _on_answer(self, future: Any, life: int) -> None:
        if life == self._life and future.result() is not None:
            self._on_state(future.result().current_state.label)

    def _on_changed(self, future: Any, transition: str, life: int) -> None:
        if life != self._life or future.result() is None:
            return
        if not future.result().success:
            self._on_refusal(transition)
        self.ask_state()

    def _on_event(self, event: TransitionEvent) -> None:
        self._on_state(event.goal_state.label)
        if event.start_state.id == State.TRANSITION_STATE_ERRORPROCESSING:
            self._on_fault()

    def _drop_pending(self) -> None:
        # Requests to a node that died are never answered, and would pile up.
        if self._pending is not None and not self._pending.done():
            self._get.remove_pending_request(self._pending)
        self._pending = None
