# SPDX-License-Identifier: Apache-2.0
"""One node of a running stack: what is known of it, and how to ask it for something."""

import time
from collections.abc import Callable

from teleop_system.stacks.plan import NodePlan
from teleop_system.stacks.supervisor.graph import SupervisorNode
from teleop_system.stacks.supervisor.lifecycle_client import LifecycleClient
from teleop_system.stacks.supervisor.node_watch import Action, NodeWatch, Phase
from teleop_system.stacks.supervisor.policy import SupervisionPolicy

IMPATIENT, CALM = 0.2, 3.0
"""Time in [s] between two questions for the state: while it starts, and later on."""


class ManagedNode:
    """A node with its watch and its lifecycle.

    Args:
        plan: The node.
        policy: Time-outs and restarts.
        graph: The launcher's own node.
        say: Where to tell what happens.
    """

    def __init__(
        self,
        plan: NodePlan,
        policy: SupervisionPolicy,
        graph: SupervisorNode,
        say: Callable[[str], None],
    ) -> None:
        self.plan = plan
        self.watch = NodeWatch(policy)
        self.has_been_up = False
        self.on_heard: Callable[[float], None] = lambda now: None
        self._say = say
        self._next_question = 0.0
        self._client = LifecycleClient(
            graph,
            plan.name,
            on_state=self._on_state,
            on_refusal=self._on_refusal,
            on_fault=self._on_fault,
        )

    @property
    def label(self) -> str:
        """Return the name a person knows it by."""
        return self.plan.name.lstrip("/")

    def started(self) -> None:
        """Take note of a new process."""
        self._client.forget()
        self.watch.started(time.monotonic())

    def ended(self, how: str) -> None:
        """Take note that its process is gone."""
        self._client.forget()
        self.watch.ended(time.monotonic(), how)
        if self.watch.phase is Phase.ENDED:
            self._say(f"{self.label} was shut down")
        else:
            self._tell_trouble(how)

    def next_action(self, now: float, *, may_activate: bool) -> Action | None:
        """Do what can be done by asking; return what the process has to be done to."""
        if now >= self._next_question:
            self._next_question = now + (CALM if self.watch.is_up else IMPATIENT)
            self._client.ask_state()
        action = self.watch.next_action(now, may_activate=may_activate)
        if action is Action.KILL:
            self._tell_trouble(self.watch.cause)
        if action in (Action.CONFIGURE, Action.ACTIVATE):
            self._client.request(action.value)
            return None
        return action

    def close(self) -> None:
        """Ask it nothing more."""
        self._client.close()

    def _on_state(self, state: str) -> None:
        was_up, now = self.watch.is_up, time.monotonic()
        self.watch.heard(now, state)
        self.on_heard(now)
        if self.watch.is_up and not was_up:
            self.has_been_up = True
            again = " again" if self.watch.restarts else ""
            self._say(f"{self.label} is active{again}")

    def _on_refusal(self, transition: str) -> None:
        why = f"could not {transition}"
        if self.watch.refused(time.monotonic(), why):
            self._tell_trouble(why)

    def _on_fault(self) -> None:
        why = "had an error and is unconfigured"
        if self.watch.faulted(time.monotonic(), why):
            self._tell_trouble(why)

    def _tell_trouble(self, why: str) -> None:
        end = "given up" if self.watch.phase is Phase.FAILED else "will be tried again"
        self._say(f"{self.label} {why}; {end}")
