# SPDX-License-Identifier: Apache-2.0
"""Whether a part follows its commands or holds, and how gently it takes them up again."""

from dataclasses import dataclass

from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.safety.cause_log import CauseLog
from teleop_system.safety.command_stream import CommandStream
from teleop_system.safety.config import SafetyConfig
from teleop_system.safety.parts import Part

SLOWEST = 0.01
"""Part of the largest speed with which a ramp begins."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a part, or all of them, must hold.

    Attributes:
        rule: The rule that says so.
        subject: What it is about.
        value: The number that was found, in the rule's unit.
        limit: What would have been allowed, in the rule's unit.
        severity: HOLD, or STOP.
    """

    rule: Rule
    subject: str
    value: float = 0.0
    limit: float = 0.0
    severity: Severity = Severity.HOLD

    def report(self, log: CauseLog) -> None:
        """Add it to the causes of the cycle."""
        log.add(self.rule, self.subject, self.value, self.limit, self.severity)


class PartControl:
    """The state of one part: following, or braking to hold.

    A part that holds follows again only once it stands still and nothing speaks against it, and
    then at a speed that grows from almost nothing. After an emergency stop it must be seen
    disengaged first.

    Args:
        part: The part.
        config: Ages and times.

    Attributes:
        part: The part.
        stream: Its commands.
        following: Whether it follows them.
        scale: Part of the largest speed that it may use, between 0 and 1.
        is_steady: Whether it follows at full speed, so that it goes on with any good command.
        is_idle: Whether nothing has been asked of it since the start, so that it holds and nothing
            need be decided; whoever asks makes it false.
    """

    def __init__(self, part: Part, config: SafetyConfig) -> None:
        self.part = part
        self.stream = CommandStream(part, config)
        self._config = config
        self._stale = config.stale_after
        self._idle = Reason(Rule.NOT_ENGAGED, part.name)
        self._must_release = False
        self.reset()

    def reset(self) -> None:
        """Start anew: hold, and forget every command but not an emergency stop."""
        self.stream.restart(None)
        self.following = False
        self.scale = SLOWEST
        self._ramped = 0.0
        self._was_engaged = False
        self._reason = self._idle
        self.is_steady = False
        self.is_idle = not self._must_release

    def demand_release(self) -> None:
        """Do not follow before the part has been disengaged and engaged again."""
        self._must_release = True
        self.is_steady = self.is_idle = False

    def decide(
        self, *, engaged: bool, block: Reason | None, now: float, resting: bool, log: CauseLog
    ) -> bool:
        """Decide whether to follow in this cycle; tell whether following begins with it.

        Args:
            engaged: Whether the operator has engaged the part.
            block: What speaks against following, already reported; None where nothing does.
            now: Time of the cycle in [s].
            resting: Whether all joints of the part stand still.
            log: Where a hold is reported.
        """
        self.is_steady = False
        if engaged != self._was_engaged:
            # Nothing that was said before the operator engaged, or after, counts.
            self.stream.expect(now)
            self._was_engaged = engaged
        if not engaged and block is None:
            self._must_release = False
        if block is not None:
            return self._hold(block)
        if not engaged or self._must_release:
            if engaged or self.stream.stamp is not None:
                self._idle.report(log)
            return self._hold(self._idle)
        reason = self._silence(now)
        if reason is not None:
            reason.report(log)
            return self._hold(reason)
        if self.following:
            return False
        if not resting:
            self._reason.report(log)
            return False
        self.following = True
        self._ramped = 0.0
        self.scale = SLOWEST
        return True

    def goes_on(self, now: float) -> bool:
        """Tell whether it follows, and nothing of its own speaks against going on."""
        # What follows was engaged when it was last decided on.
        if not self.following or self._must_release:
            return False
        fresh_at = self.stream.fresh_at
        return fresh_at is not None and now - fresh_at <= self._stale

    def advance(self, step: float) -> None:
        """Let the ramp go on by `step` [s]."""
        if self.scale < 1.0:
            self._ramped += step
            share = min(1.0, self._ramped / self._config.ramp_time)
            # Below a straight line all the way, and gentle where it matters most.
            self.scale = max(SLOWEST, share * share)
        self.is_steady = self.following and self.scale == 1.0 and not self._must_release

    def _silence(self, now: float) -> Reason | None:
        age, config, name = self.stream.age(now), self._config, self.part.name
        if age > config.dead_after:
            return Reason(Rule.DEAD_CLIENT, name, age, config.dead_after)
        # So that an age that is no number counts as old.
        if not age <= config.stale_after or self.stream.taken_at is None:
            return Reason(Rule.STALE, name, age, config.stale_after)
        return None

    def _hold(self, reason: Reason) -> bool:
        self.following = False
        self._reason = reason
        return False
