# SPDX-License-Identifier: Apache-2.0
"""Keeps the fingers of one DG-5F from colliding with each other."""

import numpy as np
from numpy.typing import NDArray

from teleop_system.modules.hand_teleop.dg5f import (
    CURL_LOWER,
    FINGERS,
    JOINT_COUNT,
    TIP_CENTRE,
    UPPER,
    Array,
    finger_points,
)
from teleop_system.modules.hand_teleop.finger_clearance import (
    FINGER_PAIRS,
    THUMB_PAIRS,
    clearance_gradients,
    clearances,
    finger_gaps,
    nearest_links,
)
from teleop_system.safety.joint_limiter import JointLimiter
from teleop_system.safety.joint_limiter_kernels import Joints

_PAIRS = np.array(FINGER_PAIRS)
_SWEEPS = 3
_CUSHION = 0.0002
"""Extra gap that sliding fingers keep above their limit in [m]."""
_BRAKING_FRACTIONS = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
"""When gaps are measured while braking, as fractions of the time until rest."""
_REACH = np.array([0.165, 0.115, 0.085, 0.045])
"""Largest distance from each joint to the end of its finger in [m]."""
_ROUNDING = 1e-9
"""Change of a gap in [m] that is only rounding."""


class FingerGuard:
    """Allows only steps after which the hand can still brake without contact.

    The guard checks the path that the fingers take if they brake from the next cycle on. While
    that path is clear in every cycle, braking always remains possible. If a goal is not clear, the
    component that brings two fingers together is removed, so they slide along each other; if that
    does not suffice, they brake. A gap that is already too small may only grow.

    Args:
        speed: Largest joint speed in [rad/s].
        acceleration: Largest joint acceleration in [rad/s^2].
        jerk: Largest joint jerk in [rad/s^3].
        min_gap: Smallest gap between two fingers in [m].
        min_thumb_gap: Smallest gap between the thumb and a finger in [m].
    """

    def __init__(
        self,
        speed: float,
        acceleration: float,
        jerk: float,
        *,
        min_gap: float,
        min_thumb_gap: float,
    ) -> None:
        self._limits = np.full(len(FINGER_PAIRS), min_gap)
        self._limits[:THUMB_PAIRS] = min_thumb_gap
        self._limiter = JointLimiter(JOINT_COUNT, speed, acceleration, jerk)
        self._acceleration = acceleration
        self.reset(np.zeros(JOINT_COUNT))

    @property
    def position(self) -> Array:
        """The newest command of a right hand in [rad], shape (20,)."""
        return self._limiter.position

    @property
    def velocity(self) -> Array:
        """Its velocity in [rad/s], shape (20,)."""
        return self._limiter.velocity

    @property
    def limits(self) -> Array:
        """The smallest gap of every pair of fingers in [m], shape (10,)."""
        return self._limits

    def reset(self, positions: Array) -> None:
        """Start at rest at positions [rad], shape (20,)."""
        self._limiter.reset(positions)
        self._gaps: Array = finger_gaps(positions[None])[0]
        self._measured, self._measured_at = self._gaps, positions

    def update(self, goal: Array, dt: float, speed: float) -> Array:
        """Take one step towards the goal; return the missing gap per finger pair [m], (10,).

        Args:
            goal: Target positions in [rad], shape (20,).
            dt: Time since the last step in [s].
            speed: Largest joint speed in [rad/s].
        """
        allowed = np.minimum(self._limits - _ROUNDING, self._gaps)
        trial, gaps = self._try(goal, dt, speed)
        shortfall = allowed - gaps
        if shortfall.max() > 0.0:
            trial, gaps = self._evade(goal, dt, speed, allowed, shortfall)
        self._limiter.state, self._gaps = trial, gaps
        missing: Array = np.where(shortfall > _ROUNDING, shortfall, 0.0)
        return missing

    def _evade(
        self, goal: Array, dt: float, speed: float, allowed: Array, shortfall: Array
    ) -> tuple[Joints, Array]:
        """Return the next motion and its gaps; restrict as few fingers as possible."""
        rest = self._limiter.rest.copy()
        slide = _Sliding(rest, self._limits, self._acceleration * dt * dt)
        sliding, braking = np.zeros((2, len(FINGERS)), dtype=bool)
        while True:
            touching = np.zeros(len(FINGERS), dtype=bool)
            touching[_PAIRS[shortfall > 0.0]] = True
            if (touching & ~sliding).any():
                sliding |= touching
            elif (touching & ~braking).any():
                braking |= touching
            else:
                braking[:] = True
            chosen = np.where(np.repeat(braking, 4), rest, slide.goal(goal, sliding))
            trial, gaps = self._try(chosen, dt, speed)
            shortfall = allowed - gaps
            # With all fingers braking this is the path that was clear in the last cycle.
            if not shortfall.max() > 0.0 or braking.all():
                return trial, gaps

    def brake(self, dt: float) -> None:
        """Brake for one step of `dt` [s]."""
        self._limiter.brake(dt)

    def _try(self, goal: Array, dt: float, speed: float) -> tuple[Joints, Array]:
        """Return the motion after one step, and the smallest gaps from there until rest."""
        limiter = self._limiter
        present = limiter.state
        limiter.update(goal, dt, max_speed=speed)
        trial = limiter.state
        position: Array = trial["position"]
        # A point of a finger moves at most by joint angles times lengths beyond the joints.
        braking = np.abs(trial["rest"] - position) + trial["excursion"]
        travel = (np.abs(position - self._measured_at) + braking).reshape(5, 4) @ _REACH
        bound: Array = self._measured - travel[_PAIRS].sum(axis=1)
        if (bound > self._limits).all():
            limiter.state = present
            return trial, bound
        # Each joint brakes as fast as it can, so joints stop at different times.
        gaps = finger_gaps(limiter.braking_poses(_BRAKING_FRACTIONS))
        limiter.state = present
        self._measured, self._measured_at = gaps[0], position
        return trial, gaps.min(axis=0)


class _Sliding:
    """Motion of touching fingers without coming closer, linearised at `rest` [rad].

    The motion is limited to `longest` [rad], because joints at their rate limits change direction.
    """

    def __init__(self, rest: Array, limits: Array, longest: float) -> None:
        fingers = finger_points(rest[None], extension=TIP_CENTRE)
        found = clearances(fingers.points)
        nearest = nearest_links(found)
        self._rows = clearance_gradients(fingers, found, nearest)[0]
        self._squares = np.maximum((self._rows * self._rows).sum(axis=1), 1e-12)
        self._slack = np.minimum(limits + _CUSHION - found.gaps[0, nearest], _CUSHION)
        self._low, self._high = np.minimum(CURL_LOWER, rest), np.maximum(UPPER, rest)
        self._rest, self._longest = rest, longest

    def goal(self, goal: Array, sliding: NDArray[np.bool_]) -> Array:
        """Return the goal, changed for the fingers in `sliding` so that they pass each other."""
        chosen = np.repeat(sliding, 4)
        motion = np.where(chosen, goal - self._rest, 0.0)
        motion *= self._longest / max(np.abs(motion).max(), self._longest)
        pairs = np.flatnonzero(sliding[_PAIRS].all(axis=1))
        for _ in range(_SWEEPS):
            for pair in pairs:
                shortfall = self._slack[pair] - self._rows[pair] @ motion
                if shortfall > 0.0:
                    motion = motion + self._rows[pair] * (shortfall / self._squares[pair])
        slid = np.minimum(np.maximum(self._rest + motion, self._low), self._high)
        changed: Array = np.where(chosen, slid, goal)
        return changed
