# SPDX-License-Identifier: Apache-2.0
"""What to do next with one node: start it, bring it up, leave it alone, or start it again.

It knows neither processes nor ROS: it is told what happened and asked what to do, with the time
handed in, so every time-out and every restart can be tested without waiting.
"""

import enum
import math

from teleop_system.stacks.supervisor.policy import SupervisionPolicy

UNCONFIGURED, INACTIVE, ACTIVE, FINALIZED = "unconfigured", "inactive", "active", "finalized"


class Phase(enum.Enum):
    """How far the supervisor has brought a node."""

    WAITING = "waiting"
    """No process: not yet, or not again."""
    STARTING = "starting"
    """A process that does not answer yet."""
    CONFIGURING = "configuring"
    INACTIVE = "inactive"
    """Configured, and waiting for its turn."""
    ACTIVATING = "activating"
    UP = "up"
    """It was active; from here on its state is its users' business."""
    ENDED = "ended"
    """It was shut down by somebody, and is left alone."""
    FAILED = "failed"
    """Given up."""


class Action(enum.Enum):
    """What the supervisor should do with a node."""

    START = "start"
    CONFIGURE = "configure"
    ACTIVATE = "activate"
    KILL = "kill"


_WAITS = {
    Phase.STARTING: ("start", "did not answer within {limit:g} s of its start"),
    Phase.CONFIGURING: ("configure", "did not configure within {limit:g} s"),
    Phase.ACTIVATING: ("activate", "did not activate within {limit:g} s"),
}


class NodeWatch:
    """Follows one node from its start to its end.

    Attributes:
        phase: How far it has come.
        state: Its lifecycle state as last heard; "" before that and after its death.
        cause: Why it is not up, or why it was started again; "" where nothing happened.
        restarts: How often it was brought up again.
    """

    def __init__(self, policy: SupervisionPolicy) -> None:
        self._policy = policy
        self._since = 0.0
        self._heard = 0.0
        self._retry_at = 0.0
        self._failures = 0
        self._is_alive = False
        self._is_doomed = False
        self.phase = Phase.WAITING
        self.state = ""
        self.cause = ""
        self.restarts = 0

    @property
    def is_up(self) -> bool:
        """Tell whether it has been activated since its last start."""
        return self.phase is Phase.UP

    @property
    def is_over(self) -> bool:
        """Tell whether nothing more will be done with it."""
        return self.phase in (Phase.FAILED, Phase.ENDED)

    def started(self, now: float) -> None:
        """Take note of a new process."""
        self._is_alive, self._is_doomed = True, False
        self._enter(Phase.STARTING, now)

    def ended(self, now: float, how: str, *, on_purpose: bool = False) -> None:
        """Take note that the process is gone, with how it ended in words."""
        was_finalized = self.state == FINALIZED
        self._is_alive = False
        self.state = ""
        if self.phase is Phase.FAILED:
            return
        if (on_purpose or was_finalized) and self.phase is Phase.UP:
            self.cause = how
            self._enter(Phase.ENDED, now)
        elif self.phase is not Phase.WAITING:  # There, its failure has been counted already.
            self._fail(now, how)

    def heard(self, now: float, state: str) -> None:
        """Take note of the lifecycle state that a node says it is in."""
        if not self._is_alive:
            return  # An answer that was on its way when the process died.
        self._heard = now
        self.state = state
        if self.phase is Phase.WAITING:
            return
        if state == ACTIVE and not self.is_up:
            self._enter(Phase.UP, now)
        elif state == INACTIVE and self.phase in (Phase.STARTING, Phase.CONFIGURING):
            self._enter(Phase.INACTIVE, now)

    def be_patient(self, now: float) -> None:
        """Begin to wait anew: somebody else has kept the node's process busy until now."""
        self._heard = now
        if self.phase in _WAITS:
            self._since = now

    def refused(self, now: float, why: str) -> bool:
        """Take note that a transition failed; the node lives on, and is asked again later.

        Returns:
            Whether that was news.
        """
        if self.phase not in (Phase.CONFIGURING, Phase.ACTIVATING):
            return False
        self._fail(now, why)
        return True

    def faulted(self, now: float, why: str) -> bool:
        """Take note of an error that threw the node out of its state; it is brought up again.

        Returns:
            Whether that was news; a transition that it failed may have told before.
        """
        if self.phase in (Phase.WAITING, Phase.FAILED, Phase.ENDED):
            return False
        self._fail(now, why)
        return True

    def next_action(self, now: float, *, may_activate: bool = True) -> Action | None:
        """Return what to do now, once; None where there is nothing."""
        if self.phase is Phase.WAITING:
            return self._retry(now) if now >= self._retry_at else None
        if self.phase is Phase.STARTING and self.state == UNCONFIGURED:
            return self._ask(Phase.CONFIGURING, Action.CONFIGURE, now)
        if self.phase is Phase.INACTIVE and may_activate:
            return self._ask(Phase.ACTIVATING, Action.ACTIVATE, now)
        if self.phase is Phase.UP:
            self._forgive(now)
            if now - self._heard > self._policy.silence:
                return self._kill(now, f"has not answered for {self._policy.silence:g} s")
        if self.phase in _WAITS:
            field, message = _WAITS[self.phase]
            limit = getattr(self._policy, field)
            if now - self._since > limit:
                return self._kill(now, message.format(limit=limit))
        return None

    def _retry(self, now: float) -> Action | None:
        if not self._is_alive:
            # A start is asked for once; `started` tells that it has happened.
            self._retry_at = math.inf
            return Action.START
        if self._is_doomed:
            return None  # It was killed, and is still on its way out.
        if self.state == FINALIZED:
            self._is_doomed = True
            return Action.KILL  # There is no way back from there but a new process.
        # The process is sound: it only refused, or fell back, and may be willing now.
        if self.state == INACTIVE:
            self._enter(Phase.INACTIVE, now)
            return None
        if self.state == ACTIVE:
            self._enter(Phase.UP, now)
            return None
        return self._ask(Phase.CONFIGURING, Action.CONFIGURE, now)

    def _ask(self, phase: Phase, action: Action, now: float) -> Action:
        self._enter(phase, now)
        return action

    def _kill(self, now: float, why: str) -> Action:
        self._is_doomed = True
        self._fail(now, why)
        return Action.KILL

    def _fail(self, now: float, why: str) -> None:
        self.cause = why
        self._failures += 1
        if self._failures > self._policy.max_restarts:
            self._enter(Phase.FAILED, now)
            return
        self.restarts += 1
        self._enter(Phase.WAITING, now)
        self._retry_at = now + self._policy.pause(self._failures)

    def _forgive(self, now: float) -> None:
        if self._failures and now - self._since > self._policy.healthy_after:
            self._failures = 0
            self.cause = ""

    def _enter(self, phase: Phase, now: float) -> None:
        self.phase = phase
        self._since = now
        self._heard = now
