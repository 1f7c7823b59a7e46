# SPDX-License-Identifier: Apache-2.0
"""Notices that the trackers of a pair, hands or feet, have been exchanged."""

import math

from teleop_system.interfaces import Pose6D
from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.modules.gate.pose_gate import PoseGate
from teleop_system.modules.gate.sample_gate import JUMPED
from teleop_system.safety.cause_log import CauseLog

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
        self._pairs = ((first, second), (second, first))
        self._before: dict[PoseGate, Pose6D | None] = {first: None, second: None}
        self.reset()

    def reset(self) -> None:
        """Accept the trackers as they are worn now."""
        self._swapped: frozenset[PoseGate] = frozenset()
        self._distance = 0.0

    def check(self, log: CauseLog) -> bool:
        """Return whether the trackers are exchanged, after both gates have been checked."""
        moved = {gate: self._moved(gate) for gate in self._before}
        jumped = {
            gate
            for gate, before in self._before.items()
            if gate.verdict is JUMPED and gate.sample is not before
        }
        if jumped or max(moved.values()) > LEAP:
            self._judge(moved, jumped)
        self._before = {gate: gate.sample for gate in self._before}
        if self._swapped:
            log.add(Rule.SWAPPED, "hands", self._distance, LEAP, Severity.HOLD)
        return bool(self._swapped)

    def _judge(self, moved: dict[PoseGate, float], jumped: set[PoseGate]) -> None:
        landed = {
            gate
            for gate, other in self._pairs
            if moved[gate] > max(LEAP, 3.0 * _distance(gate.sample, self._before[other]))
        }
        # Trackers close together can be exchanged without a jump, but then both move. If only
        # one does, it may simply be quick.
        leapt = landed if len(landed) == 2 else landed & jumped
        if self._swapped & (leapt | jumped):
            self.reset()
        elif leapt:
            self._swapped = frozenset(leapt)
            self._distance = max(moved.values())

    def _moved(self, gate: PoseGate) -> float:
        """Return the distance from a tracker's last sample to the newest one in [m]."""
        before = self._before[gate]
        return 0.0 if before is None else _distance(before, gate.sample)


def exchange_distance(before: tuple[Pose6D, Pose6D], after: tuple[Pose6D, Pose6D]) -> float:
    """Return how far both bodies of a pair moved to the other's position in [m]; else zero."""
    old = [pose.position.tolist() for pose in before]
    new = [pose.position.tolist() for pose in after]
    moved = min(map(math.dist, old, new))
    if moved <= LEAP:
        return 0.0
    crossed = max(map(math.dist, old, new[::-1]))
    return moved if 2.0 * crossed < moved else 0.0


def _distance(a: Pose6D | None, b: Pose6D | None) -> float:
    if a is b:
        return 0.0
    if a is None or b is None:
        return math.inf
    return math.dist(a.position.tolist(), b.position.tolist())
