# SPDX-License-Identifier: Apache-2.0
"""Notices that the trackers of a pair, hands or feet, have been exchanged."""

import math

from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.modules.gate.pose_gate import PoseGate
from teleop_system.modules.gate.sample_gate import JUMPED
from teleop_system.safety.cause_log import CauseLog
from teleop_system.utils.poses import PoseTuple

Pair = tuple[PoseTuple | None, PoseTuple | None]
"""The newest poses of both trackers."""

LEAP = 0.1
"""Distance in [m] between two samples above which a tracker may have been exchanged."""


class SwapDetector:
    """Compares two trackers; one that leaps to the other's position has been exchanged with it.

    They count as exchanged until one of them leaps again, or until `reset()`: the mapping of one
    hand must not be driven by the other.

    Args:
        first: Gate of one tracker.
        second: Gate of the other.
    """

    def __init__(self, first: PoseGate, second: PoseGate) -> None:
        self._gates = (first, second)
        self._before: Pair = (None, None)
        self.reset()

    def reset(self) -> None:
        """Accept the trackers as they are worn now."""
        self._leapt: frozenset[PoseGate] = frozenset()
        self._distance = 0.0

    def check(self, log: CauseLog) -> bool:
        """Return whether the trackers are exchanged, after both gates have been checked."""
        (first, second), before = self._gates, self._before
        self._before = now = (first.pose, second.pose)
        moved = (_distance(before[0], now[0]), _distance(before[1], now[1]))
        if JUMPED in (first.verdict, second.verdict) or max(moved) > LEAP:
            self._judge(before, moved)
        if self._leapt:
            log.add(Rule.SWAPPED, "hands", self._distance, LEAP, Severity.HOLD)
        return bool(self._leapt)

    def _judge(self, before: Pair, moved: tuple[float, float]) -> None:
        pairs = list(zip(self._gates, before, before[::-1], moved, strict=True))
        jumped = {
            gate for gate, last, _, _ in pairs if gate.verdict is JUMPED and gate.pose is not last
        }
        landed = {
            gate
            for gate, _, other, distance in pairs
            if other is not None and distance > max(LEAP, 3.0 * _distance(other, gate.pose))
        }
        # Trackers close together can be exchanged without a jump, but then both move. If only
        # one does, it may simply be quick.
        leapt = landed if len(landed) == 2 else landed & jumped
        if self._leapt & (leapt | jumped):
            self.reset()
        elif leapt:
            self._leapt = frozenset(leapt)
            self._distance = max(moved)


def exchange_distance(before: Pair, after: Pair) -> float:
    """Return how far both bodies of a pair moved to the other's position in [m]; else zero."""
    moved = min(_distance(before[0], after[0]), _distance(before[1], after[1]))
    if moved <= LEAP:
        return 0.0
    crossed = max(_distance(before[0], after[1]), _distance(before[1], after[0]))
    return moved if 2.0 * crossed < moved else 0.0


def _distance(before: PoseTuple | None, now: PoseTuple | None) -> float:
    """Return the distance between two samples of a tracker in [m]; zero without both."""
    if before is now or before is None or now is None:
        return 0.0
    return math.dist(before[0], now[0])
