# SPDX-License-Identifier: Apache-2.0
"""Whether a part follows its commands or holds."""

from collections.abc import Callable
from typing import NamedTuple

from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.safety.cause_log import CauseLog
from teleop_system.safety.command_stream import CommandStream
from teleop_system.safety.config import SafetyConfig
from teleop_system.safety.engage_ramp import EngageRamp
from teleop_system.safety.parts import Part
from teleop_system.safety.staleness import is_stale


class HoldReason(NamedTuple):
    """Why a part, or all of them, must hold; the fields are those of a cause."""

    rule: Rule
    subject: str
    value: float = 0.0
    limit: float = 0.0
    severity: Severity = Severity.HOLD


class PartControl:
    """The state of one part: it follows, or it brakes and holds.

    A part that holds follows again only when it stands still and no reason to hold is left, and
    then with a speed limit that grows from almost zero. After an emergency stop it must be seen
    disengaged first.

    Args:
        part: The part.
        config: Ages and times.

    Attributes:
        part: The part.
        stream: Its commands.
        ramp: The ramp since it began to follow.
        following: Whether it follows its commands.
    """

    def __init__(self, part: Part, config: SafetyConfig) -> None:
        self.part = part
        self.stream = CommandStream(part, config)
        self.ramp = EngageRamp(config.ramp_time)
        self._stale_after, self._dead_after = config.stale_after, config.dead_after
        self._not_engaged = HoldReason(Rule.NOT_ENGAGED, part.name)
        self._must_disengage = False
        self.reset()

    def reset(self) -> None:
        """Start anew: hold, and forget every command but not an emergency stop."""
        self.stream.restart(None)
        self.ramp.restart()
        self.following = False
        self._was_engaged = False
        self._reason = self._not_engaged

    def require_disengage(self) -> None:
        """Do not follow before the part has been disengaged and engaged again."""
        self._must_disengage = True

    def update(
        self,
        *,
        engaged: bool,
        hold: HoldReason | None,
        now: float,
        step: float,
        is_resting: Callable[[], bool],
        log: CauseLog,
    ) -> bool:
        """Decide whether to follow in this cycle; return whether following begins with it.

        Args:
            engaged: Whether the operator has engaged the part.
            hold: Why all parts must hold, already reported; None where they need not.
            now: Time of the cycle in [s].
            step: Duration of the cycle in [s].
            is_resting: Whether all joints of the part stand still.
            log: Where a hold is reported.
        """
        if engaged != self._was_engaged:
            # No command from before the operator engaged or disengaged counts.
            self.stream.keep_newest(now)
            self._was_engaged = engaged
        if not engaged and hold is None:
            self._must_disengage = False
        reason = hold or self._own_reason(engaged, now, log)
        if reason is not None:
            self.following = False
            self._reason = reason
            return False
        begins = not self.following and is_resting()
        if begins:
            self.following = True
            self.ramp.restart()
        if self.following:
            self.ramp.advance(step)
        else:
            log.add(*self._reason)  # Still braking.
        return begins

    def _own_reason(self, engaged: bool, now: float, log: CauseLog) -> HoldReason | None:
        """Return, and report, why this part must hold; None where it may follow."""
        name = self.part.name
        if not engaged or self._must_disengage:
            if engaged or self.stream.stamp is not None:
                log.add(*self._not_engaged)
            return self._not_engaged
        age = self.stream.age(now)
        if age > self._dead_after:
            reason = HoldReason(Rule.DEAD_CLIENT, name, age, self._dead_after)
        elif is_stale(age, self._stale_after) or self.stream.accepted_at is None:
            reason = HoldReason(Rule.STALE, name, age, self._stale_after)
        else:
            return None
        log.add(*reason)
        return reason
