# SPDX-License-Identifier: Apache-2.0
"""The engagement state machine: who moves the robot, or why it holds."""

import enum
import math
from collections import deque
from dataclasses import dataclass

from teleop_system.interfaces.causes import Cause, Rule, Severity
from teleop_system.robot_side.engagement_table import (
    BACKOFF,
    GUARDS,
    TABLE,
    EngagementConfig,
    EngagementInputs,
    EngagementState,
    Situation,
    Transition,
)

__all__ = [
    "Engagement",
    "EngagementConfig",
    "EngagementInputs",
    "EngagementState",
    "EngagementStatus",
    "MotionSource",
    "TransitionRecord",
]

_S = EngagementState
_AUTOMATIC = (_S.HOMING, _S.SELF_TEST)
_HEALTHY = (_S.READY, _S.ENGAGED)


class MotionSource(enum.Enum):
    """Where the commands come from that the robot follows."""

    NONE = "none"
    """It holds its position, under power."""
    SYSTEM = "system"
    """It moves by itself: to its home pose, or to test its parts."""
    OPERATOR = "operator"
    """It follows the operator."""


@dataclass(frozen=True, slots=True)
class EngagementStatus:
    """The state of the machine, for the command path and for the operator.

    Attributes:
        state: The present state.
        reason: Why it was entered.
        since: When it was entered in [s].
        retries: Recoveries since the last healthy period.
        deadline: When its time-out ends in [s]; infinite where it has none.
        note: The result of the last request, or what the state waits for; often empty.
        following: Whether the operator's motion counts: engaged, clutch closed, inputs fresh.
        changed: Whether this update entered the state.
    """

    state: EngagementState
    reason: str
    since: float
    retries: int = 0
    deadline: float = math.inf
    note: str = ""
    following: bool = False
    changed: bool = False

    @property
    def motion(self) -> MotionSource:
        """Where the commands come from that the robot follows."""
        if self.state is _S.ENGAGED:
            return MotionSource.OPERATOR
        return MotionSource.SYSTEM if self.state in _AUTOMATIC else MotionSource.NONE

    @property
    def cause(self) -> Cause | None:
        """Why the operator does not move the robot; None while engaged."""
        if self.state is _S.ENGAGED:
            return None
        if self.state is _S.ESTOPPED:
            return Cause(Rule.ESTOP, "robot", 1.0, 0.0, self.since, Severity.STOP)
        return Cause(Rule.NOT_ENGAGED, self.state.value, 0.0, 1.0, self.since, Severity.HOLD)


@dataclass(frozen=True, slots=True)
class TransitionRecord:
    """One transition of the past.

    Attributes:
        time: When in [s].
        source: The state that was left.
        target: The state that was entered.
        reason: Why.
    """

    time: float
    source: EngagementState
    target: EngagementState
    reason: str


class Engagement:
    """Walks the transition table, at most one transition per update.

    It has no clock and uses no device: the same updates give the same states.

    Args:
        config: Time-outs and retries.
        history: Number of transitions remembered.
    """

    def __init__(self, config: EngagementConfig | None = None, *, history: int = 256) -> None:
        self._config = config or EngagementConfig()
        self.history: deque[TransitionRecord] = deque(maxlen=history)
        """The newest transitions, oldest first."""
        self._rows = {
            state: tuple((row, GUARDS[row.guard]) for row in TABLE if state in row.sources)
            for state in _S
        }
        self._waits = {
            state: next((row.timeout for row, _ in rows if row.timeout is not None), None)
            for state, rows in self._rows.items()
        }
        self._state = _S.STARTING
        self._reason = "power-up"
        self._trouble = ""
        self._note = ""
        self._now = -math.inf
        self._since = -math.inf
        self._last = EngagementInputs()
        self._inputs_fresh_at = -math.inf
        self._healthy_since = math.inf
        self._retries = 0
        self._prepared = False
        self._consent = True
        self._gave_up = False

    @property
    def state(self) -> EngagementState:
        """The present state."""
        return self._state

    def update(self, now: float, inputs: EngagementInputs) -> EngagementStatus:
        """Take at most one transition and return the new status.

        Args:
            now: Time in [s]; a time that runs backwards or is NaN counts as unchanged.
            inputs: The present conditions and requests.
        """
        if not math.isfinite(now):
            now = 0.0
        if self._since == -math.inf:
            self._since = now
        self._now = max(now, self._now)
        situation = self._observe(inputs)
        row = self._applicable(situation)
        self._note = self._remark(situation, row)
        if row is not None:
            self._take(row, inputs.detail)
        elif self._now - self._healthy_since >= self._config.healthy_after:
            self._retries = 0
        self._last = inputs
        return self._status(inputs, changed=row is not None)

    def _observe(self, inputs: EngagementInputs) -> Situation:
        last = self._last
        if inputs.inputs_fresh:
            self._inputs_fresh_at = self._now
        engage = inputs.engage_requested and not last.engage_requested
        if engage and self._state is not _S.ESTOPPED:
            self._consent = True
        return Situation(
            inputs=inputs,
            config=self._config,
            engage=engage,
            reset=(
                inputs.estop_reset_requested
                and not last.estop_reset_requested
                and not inputs.estop_pressed
            ),
            restart=inputs.restart_requested and not last.restart_requested,
            inputs_lost_for=self._now - self._inputs_fresh_at,
            retries=self._retries,
            prepared=self._prepared,
            consent=self._consent,
            gave_up=self._gave_up,
        )

    def _applicable(self, situation: Situation) -> Transition | None:
        elapsed = self._now - self._since
        for row, guard in self._rows[self._state]:
            if row.timeout is not None and not elapsed >= self._wait(row.timeout):
                continue
            if guard(situation):
                return row
        return None

    def _wait(self, timeout: str) -> float:
        if timeout != BACKOFF:
            return float(getattr(self._config, timeout))
        # The exponent is bounded because a float is not: 2.0 ** 1100 raises.
        doubled = self._config.backoff * 2.0 ** min(max(self._retries - 1, 0), 60)
        return min(doubled, self._config.longest_backoff)

    def _take(self, row: Transition, detail: str) -> None:
        source, target = self._state, row.target
        reason = self._explain(row, detail)
        self.history.append(TransitionRecord(self._now, source, target, reason))
        self._state, self._reason, self._since = target, reason, self._now
        if target not in _HEALTHY:
            self._healthy_since = math.inf
        elif source not in _HEALTHY:
            self._healthy_since = self._now
        if target is _S.ERROR_RECOVERY:
            self._retries += 1
            self._trouble = reason
        elif target is _S.READY:
            self._prepared = True
        elif target is _S.ESTOPPED:
            # Not even homing starts before a person requests motion again.
            self._consent = False
            self._gave_up = source is _S.FAILED
        elif target is _S.STARTING and source is _S.FAILED:
            self._retries = 0
            self._prepared = False

    def _explain(self, row: Transition, detail: str) -> str:
        if row.guard == "retries used up":
            detail = self._trouble
        elif row.guard not in ("fault", "fatal fault"):
            detail = ""
        return f"{row.reason}: {detail}" if detail else row.reason

    def _remark(self, situation: Situation, row: Transition | None) -> str:
        inputs, state = situation.inputs, self._state
        if row is not None:
            return ""
        if situation.engage:
            if state is _S.READY:
                missing = "disengage" if inputs.disengage_requested else "no fresh inputs"
                return f"engage refused: {missing}"
            return "" if state is _S.ENGAGED else f"engage refused: {state.value}"
        if state is _S.SYNCING and inputs.synced:
            return "engage to allow homing after the emergency stop"
        if state is _S.ESTOPPED and inputs.estop_pressed and inputs.estop_reset_requested:
            return "reset refused: the emergency stop is still pressed"
        return self._note

    def _status(self, inputs: EngagementInputs, *, changed: bool) -> EngagementStatus:
        timeout = self._waits[self._state]
        return EngagementStatus(
            state=self._state,
            reason=self._reason,
            since=self._since,
            retries=self._retries,
            deadline=self._since + self._wait(timeout) if timeout else math.inf,
            note=self._note,
            following=self._state is _S.ENGAGED and inputs.clutch_closed and inputs.inputs_fresh,
            changed=changed,
        )
