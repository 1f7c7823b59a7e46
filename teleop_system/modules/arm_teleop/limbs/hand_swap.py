# SPDX-License-Identifier: Apache-2.0
"""Notices that the trackers of the two hands have been exchanged."""

import math

from teleop_system.interfaces import Pose6D
from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.modules.arm_teleop.limbs.limb import Limb
from teleop_system.modules.arm_teleop.limbs.tracker_gate import LEAP
from teleop_system.modules.pose_gate import Sample
from teleop_system.safety.cause_log import CauseLog


class HandSwap:
    """Watches two trackers; one that leaps to where the other was means that they are swapped.

    It stays so until one that leapt leaps again, or `forget()`: a mapping that was set up for the
    one hand must not be driven by the other.
    """

    def __init__(self, first: Limb, second: Limb) -> None:
        self._hands = ((first, second), (second, first))
        self._leapt: frozenset[str] = frozenset()
        self._distance = 0.0

    def forget(self) -> None:
        """Take the trackers to be worn as they are now."""
        self._leapt = frozenset()

    def check(self, log: CauseLog) -> bool:
        """Tell whether the trackers are swapped, by what the hands saw in this tick."""
        first, second = self._hands[0]
        if first.gate.leaps or second.gate.leaps:
            self._judge()
        if self._leapt:
            log.add(Rule.SWAPPED, "hands", self._distance, LEAP, Severity.HOLD)
        return bool(self._leapt)

    def _judge(self) -> None:
        jumped = {hand.name for hand, _ in self._hands if hand.sample is Sample.JUMPED}
        landed = {
            hand.name
            for hand, other in self._hands
            if _way(hand) > max(LEAP, 3.0 * _between(hand.gate.pose, other.before))
        }
        # Nearby hands swap without a jump, but only both at once do: one alone may be quick.
        leapt = landed if len(landed) == 2 else landed & jumped
        if self._leapt & (leapt | jumped):
            self.forget()
        elif leapt:
            self._leapt = frozenset(leapt)
            self._distance = max(_way(hand) for hand, _ in self._hands)


def _way(hand: Limb) -> float:
    """Return how far a hand has come in this tick in [m]."""
    return 0.0 if hand.before is None else _between(hand.before, hand.gate.pose)


def _between(a: Pose6D | None, b: Pose6D | None) -> float:
    if a is b:
        return 0.0
    if a is None or b is None:
        return math.inf
    return math.dist(a.position.tolist(), b.position.tolist())
