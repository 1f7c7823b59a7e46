# SPDX-License-Identifier: Apache-2.0
"""The newest command of every part, from the one sender that may command it.

Two senders that command one part in turn would shake the robot between two wishes. The first one
keeps the part until it has been silent for as long as makes a client dead; the others are ignored,
and a cause names both.
"""

import math
from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass

from teleop_system.exceptions import UnknownNameError
from teleop_system.interfaces import VelocityCommand
from teleop_system.runtime.causes import Cause, Rule, Severity
from teleop_system.runtime.safety import PartCommand
from teleop_system.runtime.safety.parts import BASE

SHOWN_FOR = 1.0
"""How long in [s] a refusal stays among the causes, so that nobody misses one message's."""


@dataclass(slots=True)
class _Lane:
    """Who commands a part, and since when nobody has."""

    owner: Hashable | None = None
    heard_at: float = -math.inf
    rival: Hashable | None = None
    rival_since: float = 0.0
    rival_at: float = -math.inf
    stamp: float = -math.inf


class CommandIntake:
    """Sorts commands by part and sender.

    Args:
        parts: Parts that can be commanded; "base" is always among them.
        dead_after: Silence in [s] after which another sender may command a part.
        name_of: Tells a sender's name, for the causes.

    Attributes:
        commands: The newest command of each part that has one.
        base: The newest velocity of the base, or None.
    """

    def __init__(
        self,
        parts: Collection[str],
        dead_after: float,
        name_of: Callable[[Hashable], str] = str,
    ) -> None:
        self._lanes = {name: _Lane() for name in (*parts, BASE)}
        self._dead_after = dead_after
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
        """Take a command that came at time `now` [s]; False where another sender has the part.

        Raises:
            UnknownNameError: There is no such part.
        """
        if not self.admit(part, sender, now):
            return False
        self.commands[part] = command
        self._stamp(part, command.timestamp)
        return True

    def offer_base(self, sender: Hashable, velocity: VelocityCommand, now: float) -> bool:
        """Take a velocity of the base; likewise."""
        if not self.admit(BASE, sender, now):
            return False
        self.base = velocity
        self._stamp(BASE, velocity.timestamp)
        return True

    def admit(self, part: str, sender: Hashable, now: float) -> bool:
        """Tell whether a sender who is heard at time `now` [s] may command a part."""
        lane = self._lanes.get(part)
        if lane is None:
            raise UnknownNameError("part", part, self._lanes)
        if sender != lane.owner and now - lane.heard_at <= self._dead_after:
            if sender != lane.rival or now - lane.rival_at > SHOWN_FOR:
                lane.rival, lane.rival_since = sender, now
            lane.rival_at = now
            return False
        if sender != lane.owner:
            lane.owner, lane.rival, lane.rival_at = sender, None, -math.inf
        lane.heard_at = now
        return True

    def release(self, part: str, sender: Hashable) -> None:
        """Let go of a part, as a sender that has nothing more to say."""
        lane = self._lanes[part]
        if lane.owner == sender:
            lane.owner, lane.heard_at = None, -math.inf

    def refuse(self, rule: Rule, subject: str, value: float, limit: float, now: float) -> None:
        """Remember that something was not taken at time `now` [s], and why."""
        key = (rule.id, subject)
        known = self._refused.get(key)
        since = known[0].since if known is not None else now
        self._refused[key] = (Cause(rule, subject, value, limit, since, Severity.HOLD), now)

    def is_fresh(self, now: float, age: float) -> bool:
        """Tell whether some part has a command not older than `age` [s]."""
        return self.age(now) <= age

    def age(self, now: float) -> float:
        """Return the age of the newest command of all parts in [s]; infinite before the first."""
        return now - max(lane.stamp for lane in self._lanes.values())

    def owner(self, part: str) -> str | None:
        """Return the name of the sender that commands a part, or None."""
        owner = self._lanes[part].owner
        return None if owner is None else self._called(owner)

    def causes(self, now: float) -> tuple[Cause, ...]:
        """Return what was refused lately, and who was ignored."""
        found = [cause for cause, at in self._refused.values() if now - at <= SHOWN_FOR]
        for part, lane in self._lanes.items():
            if lane.rival is not None and now - lane.rival_at <= SHOWN_FOR:
                names = f"{self._called(lane.rival)} ignored, {self.owner(part)} commands"
                subject = f"{part} ({names})"
                found.append(Cause(Rule.RIVAL, subject, 2.0, 1.0, lane.rival_since, Severity.INFO))
        if len(found) < len(self._refused):
            self._refused = {
                key: entry for key, entry in self._refused.items() if now - entry[1] <= SHOWN_FOR
            }
        return tuple(found)

    def _stamp(self, part: str, stamp: float) -> None:
        if math.isfinite(stamp):
            self._lanes[part].stamp = stamp

    def _called(self, sender: Hashable) -> str:
        name = self._names.get(sender)
        if name is None:
            name = self._names[sender] = self._name_of(sender)
        return name
