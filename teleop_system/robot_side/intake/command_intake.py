# SPDX-License-Identifier: Apache-2.0
"""The newest command of every part, from the one sender that owns the part.

Two senders that command one part in turn would shake the robot between two commands. The first
sender owns the part until it has been silent for `dead_after`; other senders are ignored, and a
cause names both. A sender whose commands are refused counts as silent.
"""

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass

from teleop_system.exceptions import UnknownNameError
from teleop_system.interfaces import VelocityCommand
from teleop_system.interfaces.causes import Cause, Rule, Severity
from teleop_system.safety import Part, PartCommand, SafetyConfig
from teleop_system.safety.command_check import CommandCheck, Fault
from teleop_system.safety.parts import BASE
from teleop_system.safety.staleness import is_stale

SHOWN_FOR = 1.0
"""How long in [s] a refusal stays among the causes, so that one refused message is seen."""


@dataclass(slots=True)
class _Lane:
    """Who owns a part, who else sends, and when they last did."""

    owner: Hashable | None = None
    received_at: float = -math.inf
    rival: Hashable | None = None
    rival_since: float = 0.0
    rival_at: float = -math.inf
    stamp: float = -math.inf


class CommandIntake:
    """Checks commands and sorts them by part and sender.

    Args:
        parts: Parts that can be commanded; "base" is always among them.
        config: How old a command may be, how far ahead, and when a silent sender loses its part.
        name_of: Returns a sender's name, for the causes.

    Attributes:
        commands: The newest command of each part that has one, checked and in the part's order.
        base: The newest velocity of the base, or None.
    """

    def __init__(
        self,
        parts: Mapping[str, Part],
        config: SafetyConfig,
        name_of: Callable[[Hashable], str] = str,
    ) -> None:
        self._lanes = {name: _Lane() for name in (*parts, BASE)}
        self._checks = {name: CommandCheck(part) for name, part in parts.items()}
        self._config = config
        self._name_of = name_of
        self._names: dict[Hashable, str] = {}
        self._refused: dict[tuple[str, str], tuple[Cause, float]] = {}
        self.commands: dict[str, PartCommand] = {}
        self.base: VelocityCommand | None = None

    def clear(self) -> None:
        """Forget every command and sender."""
        for name in self._lanes:
            self._lanes[name] = _Lane()
        self._refused.clear()
        self.commands.clear()
        self.base = None

    def offer(self, part: str, sender: Hashable, command: PartCommand, now: float) -> bool:
        """Store a command received at time `now` [s]; return False where it is refused.

        A command that does not fit the part, or whose stamp is wrong, only becomes a cause: it
        neither replaces the last good command nor keeps the part for its sender.

        Raises:
            UnknownNameError: There is no such part.
        """
        if not self.accepts(part, sender, now):
            return False
        checked = self._checks[part].read(command)
        if isinstance(checked, Fault):
            self.refuse(*checked, now)
            return False
        if not self._is_timely(part, command.timestamp, now):
            return False
        self._claim(part, sender, now)
        self.commands[part] = checked
        self._lanes[part].stamp = command.timestamp
        return True

    def offer_base(self, sender: Hashable, velocity: VelocityCommand, now: float) -> bool:
        """Store a velocity command of the base under the same rules; False if rejected."""
        if not (
            self.accepts(BASE, sender, now) and self._is_timely(BASE, velocity.timestamp, now)
        ):
            return False
        self._claim(BASE, sender, now)
        self.base = velocity
        self._lanes[BASE].stamp = velocity.timestamp
        return True

    def accepts(self, part: str, sender: Hashable, now: float) -> bool:
        """Tell whether a sender may command a part at time `now` [s]; note a rival otherwise.

        Raises:
            UnknownNameError: There is no such part.
        """
        lane = self._lanes.get(part)
        if lane is None:
            raise UnknownNameError("part", part, self._lanes)
        if sender != lane.owner and not is_stale(now - lane.received_at, self._config.dead_after):
            if sender != lane.rival or now - lane.rival_at > SHOWN_FOR:
                lane.rival, lane.rival_since = sender, now
            lane.rival_at = now
            return False
        return True

    def admit(self, part: str, sender: Hashable, now: float) -> bool:
        """Make a sender the owner of a part at time `now` [s].

        Returns:
            False where another sender owns the part.

        Raises:
            UnknownNameError: There is no such part.
        """
        if not self.accepts(part, sender, now):
            return False
        self._claim(part, sender, now)
        return True

    def release(self, part: str, sender: Hashable) -> None:
        """Release a part that a sender owns."""
        lane = self._lanes[part]
        if lane.owner == sender:
            lane.owner, lane.received_at = None, -math.inf

    def refuse(self, rule: Rule, subject: str, value: float, limit: float, now: float) -> None:
        """Record a refusal at time `now` [s] and its cause."""
        key = (rule.id, subject)
        known = self._refused.get(key)
        since = known[0].since if known is not None else now
        self._refused[key] = (Cause(rule, subject, value, limit, since, Severity.HOLD), now)

    def is_fresh(self, now: float, age: float) -> bool:
        """Tell whether any part has a command not older than `age` [s]."""
        return self.age(now) <= age

    def age(self, now: float) -> float:
        """Return the age of the newest command of all parts in [s]; infinite before the first."""
        return now - max(lane.stamp for lane in self._lanes.values())

    def owner(self, part: str) -> str | None:
        """Return the name of the owner of a part, or None."""
        owner = self._lanes[part].owner
        return None if owner is None else self._name(owner)

    def causes(self, now: float) -> tuple[Cause, ...]:
        """Return the recent refusals and the rivals that were ignored."""
        found = [cause for cause, at in self._refused.values() if now - at <= SHOWN_FOR]
        for part, lane in self._lanes.items():
            if lane.rival is not None and now - lane.rival_at <= SHOWN_FOR:
                names = f"{self._name(lane.rival)} ignored, {self.owner(part)} commands"
                subject = f"{part} ({names})"
                found.append(Cause(Rule.RIVAL, subject, 2.0, 1.0, lane.rival_since, Severity.INFO))
        if len(found) < len(self._refused):
            self._refused = {
                key: entry for key, entry in self._refused.items() if now - entry[1] <= SHOWN_FOR
            }
        return tuple(found)

    def _claim(self, part: str, sender: Hashable, now: float) -> None:
        lane = self._lanes[part]
        if sender != lane.owner:
            lane.owner, lane.rival, lane.rival_at = sender, None, -math.inf
        lane.received_at = now

    def _is_timely(self, part: str, stamp: float, now: float) -> bool:
        """Tell whether the safety manager could follow a stamp; record the cause otherwise."""
        config, last = self._config, self._lanes[part].stamp
        if stamp > now + config.ahead:
            self.refuse(Rule.TIME_ORDER, part, stamp - now, config.ahead, now)
        elif now - stamp > config.stale_after:
            # The safety manager does not report on parts that are not engaged.
            self.refuse(Rule.STALE, part, now - stamp, config.stale_after, now)
        elif stamp < last:
            self.refuse(Rule.TIME_ORDER, part, stamp - last, 0.0, now)
        else:
            return True
        return False

    def _name(self, sender: Hashable) -> str:
        name = self._names.get(sender)
        if name is None:
            name = self._names[sender] = self._name_of(sender)
        return name
