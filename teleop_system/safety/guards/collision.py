# SPDX-License-Identifier: Apache-2.0
"""Keeps links of the robot apart, whatever is commanded.

A step is allowed only if the robot, should every joint brake right after it, keeps its distances
until it is at rest. So braking is always safe: that was checked a cycle earlier. The distance at
the rest position decides. Below `slow` it may shrink only at a rate that falls to zero at `stop`;
a step that would shrink it faster is blended with braking, in the parts that approach and in no
others. Moving away is never limited.
"""

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.safety.cause_log import CauseLog
from teleop_system.safety.config import CollisionSafetyConfig
from teleop_system.safety.guards.braking_path import BrakingPath, BrakingPaths
from teleop_system.safety.guards.guard import IGuard
from teleop_system.safety.motion.joint_motion import MotionLimits, MotionState, Step
from teleop_system.safety.parts import RobotParts
from teleop_system.solvers.link_distances import LinkDistances

Array = NDArray[np.float64]

TOLERANCE = 1e-6
"""Accuracy [m] of distances from a box or a cylinder."""
HOLDING = 1e-3
"""Distance above the smallest allowed [m] within which an approach counts as stopped."""


class CollisionGuard(IGuard):
    """Allows steps of motion, slows them down, or replaces them by braking.

    Args:
        distances: Measures the distances of pairs of links.
        parts: The parts of the robot.
        limits: Limits of the joints.
        config: The distances.
    """

    def __init__(
        self,
        distances: LinkDistances,
        parts: RobotParts,
        limits: MotionLimits,
        config: CollisionSafetyConfig,
    ) -> None:
        self._distances = distances
        self._config = config
        self._stop = config.stop + config.margin
        self._gain = config.speed / (config.slow - self._stop)
        self._paths = BrakingPaths(
            distances,
            limits,
            slow=config.slow,
            stop=self._stop,
            spacing=config.spacing,
        )
        self._names = tuple(f"{one} / {other}" for one, other in distances.links)
        self._columns = [part.columns for part in parts.values()]
        moved_by = np.array([(distances.reach[:, c] > 0.0).any(1) for c in self._columns])
        self._parts_of: list[list[int]] = [np.flatnonzero(row).tolist() for row in moved_by.T]
        self._part_of_joint = np.repeat(
            np.arange(len(parts)), [len(part.joints) for part in parts.values()]
        )
        # Pairs that are nearer than `stop`, and the distance that they must keep.
        self._inside: dict[int, float] = {}

    @override
    def reset(self, positions: Array) -> None:
        distances = self._paths.reset(positions)
        inside = np.flatnonzero(distances < self._stop).tolist()
        self._inside = {pair: float(distances[pair]) for pair in inside}

    @override
    def limit(self, step: Step, wanted: MotionState, log: CauseLog) -> MotionState:
        path = self._paths.path(wanted)
        if path.near.least_at_rest < self._config.slow or self._failing(path):
            return self._approach(step, wanted, path, log)
        return wanted

    def _failing(self, path: BrakingPath) -> set[int]:
        """Return the pairs that would come too near while braking from a state to rest."""
        floors, stop = self._inside, self._stop
        if path.near.least_on_path >= stop:
            return set()
        found = path.below(stop - TOLERANCE, floors)
        return {
            pair
            for pair, distance in found.items()
            if distance < floors.get(pair, stop) - TOLERANCE
        }

    def _approach(
        self, step: Step, wanted: MotionState, path: BrakingPath, log: CauseLog
    ) -> MotionState:
        """Decide on a step near contact."""
        shares = np.ones(len(self._columns))
        slowed: dict[int, float] = {}
        old_rest = step.state.rest
        near = path.near
        is_near = near.at_rest < self._config.slow
        pairs, found = near.pairs[is_near], near.at_rest[is_near]
        starts = self._distances.contacts(pairs, old_rest)["distance"]
        rows = zip(pairs.tolist(), starts.tolist(), found.tolist(), strict=True)
        for pair, start, distance in rows:
            self._update_floor(pair, start, step.state.position)
            if self._slow_down(step, pair, start, path, distance, shares):
                slowed[pair] = start
        state = wanted
        if slowed:
            state = self._blend(step, wanted, shares)
            path = self._paths.path(state)
        for _ in self._columns:
            failing = self._failing(path)
            parts = {part for pair in failing for part in self._parts_of[pair]}
            if all(shares[part] == 0.0 for part in parts):
                break
            shares[list(parts)] = 0.0
            for pair in failing:
                slowed[pair] = self._distance(pair, old_rest)
            state = self._blend(step, wanted, shares)
            path = self._paths.path(state)
        self._report(slowed, shares, log)
        return state

    def _update_floor(self, pair: int, at_rest: float, position: Array) -> None:
        """Let a pair that is too near come no nearer than it is."""
        if at_rest < self._stop or pair in self._inside:
            floor = min(at_rest, self._distance(pair, position))
            floor = max(floor, self._inside.pop(pair, -np.inf))
            if floor < self._stop:
                self._inside[pair] = floor

    def _distance(self, pair: int, pose: Array) -> float:
        """Return the distance [m] of one pair at a pose [rad]."""
        return float(self._distances.contacts(np.array([pair]), pose)["distance"][0])

    def _blend(self, step: Step, wanted: MotionState, shares: Array) -> MotionState:
        return step.slowed(wanted, shares[self._part_of_joint])

    def _slow_down(
        self,
        step: Step,
        pair: int,
        start: float,
        path: BrakingPath,
        end: float,
        shares: Array,
    ) -> bool:
        """Lower the shares of the parts that bring a pair together too fast, if any do."""
        slow = self._config.slow
        inside = max(min(start, slow) - self._stop, 0.0)
        allowed = min(1.0, self._gain * step.duration) * inside + max(start - slow, 0.0)
        if start - end <= allowed + TOLERANCE * step.duration:
            return False
        approaching, approach = [], 0.0
        for part in self._parts_of[pair]:
            pose = step.state.rest.copy()
            pose[self._columns[part]] = path.state.rest[self._columns[part]]
            change = self._distance(pair, pose) - start
            if change < 0.0:
                approaching.append(part)
                approach -= change
        if approach <= allowed:
            return False
        shares[approaching] = np.minimum(shares[approaching], allowed / approach)
        return True

    def _report(self, slowed: dict[int, float], shares: Array, log: CauseLog) -> None:
        for pair, distance in slowed.items():
            stopped = any(shares[part] == 0.0 for part in self._parts_of[pair])
            if stopped or distance < self._stop + HOLDING:
                severity, limit = Severity.HOLD, self._config.stop
            else:
                severity, limit = Severity.LIMITED, self._config.slow
            log.add(Rule.SELF_COLLISION, self._names[pair], distance, limit, severity)
