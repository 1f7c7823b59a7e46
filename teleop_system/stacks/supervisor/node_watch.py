# SPDX-License-Identifier: Apache-2.0
"""Decides what to do next with one node: start, configure, activate, restart or kill it.

No processes, no ROS 2 and no clock in here: events and times are arguments, so that every
time-out and every restart can be tested without waiting.
"""

import enum
import math
from dataclasses import dataclass

from teleop_system.utils.validators import require_non_negative, require_positive

UNCONFIGURED, INACTIVE, ACTIVE, FINALIZED = "unconfigured", "inactive", "active", "finalized"


@dataclass(frozen=True, slots=True)
class SupervisionPolicy:
    """Time-outs and restarts of a supervised node."""

    start: float = 60.0
    """Time for a new process to offer its lifecycle services in [s]."""
    configure: float = 60.0
    """Time to configure in [s]; long, because nodes load models here."""
    activate: float = 15.0
    """Time to activate in [s]."""
    silence: float = 15.0
    """Time without an answer in [s] after which a node counts as hung."""
    backoff: float = 0.5
    """Delay before the first restart in [s]; it doubles with each restart."""
    longest_backoff: float = 8.0
    """Longest delay before a restart in [s]."""
    max_restarts: int = 5
    """Consecutive restarts before a node is given up."""
    healthy_after: float = 20.0
    """Time active in [s] after which the count of consecutive restarts is reset."""
    interrupt: float = 1.5
    """Time to end after SIGINT in [s]."""
    terminate: float = 0.5
    """Time to end after SIGTERM in [s]; then comes SIGKILL."""

    def __post_init__(self) -> None:
        require_positive(self, "start", "configure", "activate", "silence")
        require_positive(self, "backoff", "longest_backoff", "healthy_after")
        require_positive(self, "interrupt", "terminate")
        require_non_negative(self, "max_restarts")

    def restart_delay(self, failures: int) -> float:
        """Return the delay in [s] before the next start, after consecutive failures."""
        return float(min(self.backoff * 2.0 ** max(failures - 1, 0), self.longest_backoff))


class Phase(enum.Enum):
    """Progress of a node's start."""

    WAITING = "waiting"
    """No process, or one that waits for its next attempt."""
    STARTING = "starting"
    """The process does not answer yet."""
    CONFIGURING = "configuring"
    INACTIVE = "inactive"
    """Configured; nodes of earlier stages are not active yet."""
    ACTIVATING = "activating"
    UP = "up"
    """It was activated; later transitions are up to the user."""
    ENDED = "ended"
    """A user shut it down; it is not restarted."""
    FAILED = "failed"
    """It failed too often, and is not restarted."""


class Action(enum.Enum):
    """What the supervisor must do with a node."""

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
    """State machine of one node, from its start to its end.

    Attributes:
        phase: Progress of its start.
        state: Last reported lifecycle state; "" while no process runs.
        cause: Reason of the last failure; "" if there was none.
        restarts: Number of restarts.
    """

    def __init__(self, policy: SupervisionPolicy) -> None:
        self._policy = policy
        self._since = 0.0
        self._received = 0.0
        self._retry_at = 0.0
        self._failures = 0
        self._is_alive = False
        self._is_killed = False
        self.phase = Phase.WAITING
        self.state = ""
        self.cause = ""
        self.restarts = 0

    @property
    def is_up(self) -> bool:
        """Whether it was activated since its last start."""
        return self.phase is Phase.UP

    @property
    def is_over(self) -> bool:
        """Whether the supervisor is done with it."""
        return self.phase in (Phase.FAILED, Phase.ENDED)

    def started(self, now: float) -> None:
        """Record the start of its process."""
        self._is_alive, self._is_killed = True, False
        self._enter(Phase.STARTING, now)

    def ended(self, now: float, how: str, *, on_purpose: bool = False) -> None:
        """Record the end of its process, with a description of how it ended."""
        was_finalized = self.state == FINALIZED
        self._is_alive = False
        self.state = ""
        if self.phase is Phase.FAILED:
            return
        if (on_purpose or was_finalized) and self.phase is Phase.UP:
            self.cause = how
            self._enter(Phase.ENDED, now)
        elif self.phase is not Phase.WAITING:  # In WAITING its failure is counted already.
            self._fail(now, how)

    def state_received(self, now: float, state: str) -> None:
        """Record the lifecycle state that the node reports."""
        if not self._is_alive:
            return  # A late answer of a dead process.
        self._received = now
        self.state = state
        if self.phase is Phase.WAITING:
            return
        if state == ACTIVE and not self.is_up:
            self._enter(Phase.UP, now)
        elif state == INACTIVE and self.phase in (Phase.STARTING, Phase.CONFIGURING):
            self._enter(Phase.INACTIVE, now)

    def extend_wait(self, now: float) -> None:
        """Restart the time-out: another node kept their process busy until now."""
        self._received = now
        if self.phase in _WAITS:
            self._since = now

    def transition_failed(self, now: float, why: str) -> bool:
        """Record a failed transition; it is requested again later.

        Returns:
            Whether the failure was not recorded before.
        """
        if self.phase not in (Phase.CONFIGURING, Phase.ACTIVATING):
            return False
        self._fail(now, why)
        return True

    def error_occurred(self, now: float, why: str) -> bool:
        """Record an error that made the node unconfigured; it is configured again later.

        Returns:
            Whether the failure was not recorded before.
        """
        if self.phase in (Phase.WAITING, Phase.FAILED, Phase.ENDED):
            return False
        self._fail(now, why)
        return True

    def next_action(self, now: float, *, may_activate: bool = True) -> Action | None:
        """Return what to do now; each action is returned once."""
        if self.phase is Phase.WAITING:
            return self._retry(now) if now >= self._retry_at else None
        if self.phase is Phase.STARTING and self.state == UNCONFIGURED:
            return self._enter_with(Phase.CONFIGURING, Action.CONFIGURE, now)
        if self.phase is Phase.INACTIVE and may_activate:
            return self._enter_with(Phase.ACTIVATING, Action.ACTIVATE, now)
        if self.phase is Phase.UP:
            self._forget_failures(now)
            if now - self._received > self._policy.silence:
                return self._kill(now, f"has not answered for {self._policy.silence:g} s")
        if self.phase in _WAITS:
            field, message = _WAITS[self.phase]
            limit = getattr(self._policy, field)
            if now - self._since > limit:
                return self._kill(now, message.format(limit=limit))
        return None

    def _retry(self, now: float) -> Action | None:
        if not self._is_alive:
            # The start is requested once; `started` confirms it.
            self._retry_at = math.inf
            return Action.START
        if self._is_killed:
            return None  # It was killed, but has not ended yet.
        if self.state == FINALIZED:
            self._is_killed = True
            return Action.KILL  # A finalized node needs a new process.
        # The process works: only a transition failed, or an error made the node unconfigured.
        if self.state == INACTIVE:
            self._enter(Phase.INACTIVE, now)
            return None
        if self.state == ACTIVE:
            self._enter(Phase.UP, now)
            return None
        return self._enter_with(Phase.CONFIGURING, Action.CONFIGURE, now)

    def _enter_with(self, phase: Phase, action: Action, now: float) -> Action:
        self._enter(phase, now)
        return action

    def _kill(self, now: float, why: str) -> Action:
        self._is_killed = True
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
        self._retry_at = now + self._policy.restart_delay(self._failures)

    def _forget_failures(self, now: float) -> None:
        if self._failures and now - self._since > self._policy.healthy_after:
            self._failures = 0
            self.cause = ""

    def _enter(self, phase: Phase, now: float) -> None:
        self.phase = phase
        self._since = now
        self._received = now
