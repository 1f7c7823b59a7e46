# SPDX-License-Identifier: Apache-2.0
"""Keeps the fingers of one DG-5F from running into each other, whatever asks them to."""

import copy

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
from teleop_system.utils.rate_limiter import RateLimiter

_PAIRS = np.array(FINGER_PAIRS)
_SWEEPS = 3
_CUSHION = 0.0002
"""How much more than their limit fingers that slide along each other keep, in [m]."""
_BRAKING = np.array([0.0, 0.25, 0.5, 0.75, 1.0])[:, None]
"""When the gaps are measured, in parts of the time until the hand is at rest."""
_REACH = np.array([0.165, 0.115, 0.085, 0.045])
"""How far a finger reaches beyond its joints, at most, in [m]."""
_ROUNDING = 1e-9
"""Change of a gap in [m] that is none."""


class FingerGuard:
    """Lets a hand's rate limiter take only steps from which it can still brake clear of contact.

    What counts is the way the fingers would go if they braked from the next cycle on: as long as
    that is clear in every cycle, braking is always left as a way out. A goal that is not clear
    loses the part that brings two fingers together, so they slide along each other; if that is
    not enough they brake. A gap that is already too small may only grow.

    Args:
        speed: Largest joint speed in [rad/s].
        braking: Largest joint acceleration in [rad/s^2].
        min_gap: Smallest gap between two fingers in [m].
        min_thumb_gap: Smallest gap between the thumb and a finger in [m].
    """

    def __init__(
        self, speed: float, braking: float, *, min_gap: float, min_thumb_gap: float
    ) -> None:
        self._limits = np.full(len(FINGER_PAIRS), min_gap)
        self._limits[:THUMB_PAIRS] = min_thumb_gap
        self._limiter = RateLimiter(speed, braking)
        self._braking = braking
        self.reset(np.zeros(JOINT_COUNT))

    @property
    def position(self) -> Array:
        """The newest command of a right hand in [rad], shape (20,)."""
        return np.asarray(self._limiter.position)

    @property
    def velocity(self) -> Array:
        """Its velocity in [rad/s], shape (20,)."""
        return np.asarray(self._limiter.velocity)

    @property
    def limits(self) -> Array:
        """The smallest gap of every pair of fingers in [m], shape (10,)."""
        return self._limits

    def reset(self, positions: Array) -> None:
        """Be at rest at positions [rad], shape (20,)."""
        self._limiter.reset(positions)
        self._gaps: Array = finger_gaps(positions[None])[0]
        self._measured, self._measured_at = self._gaps, positions

    def update(self, goal: Array, dt: float, speed: float) -> Array:
        """Take one step towards the goal; return by how much it was too near, shape (10,).

        Args:
            goal: Where to go in [rad], shape (20,).
            dt: Time since the last step in [s].
            speed: Largest joint speed in [rad/s].
        """
        allowed = np.minimum(self._limits - _ROUNDING, self._gaps)
        trial, gaps = self._try(goal, dt, speed)
        asked = allowed - gaps
        if asked.max() > 0.0:
            trial, gaps = self._evade(goal, dt, speed, allowed, asked)
        self._limiter, self._gaps = trial, gaps
        too_near: Array = np.where(asked > _ROUNDING, asked, 0.0)
        return too_near

    def _evade(
        self, goal: Array, dt: float, speed: float, allowed: Array, lack: Array
    ) -> tuple[RateLimiter, Array]:
        """Return the limiter one step on, and its gaps, with as many fingers free as can be."""
        rest = self._rest()
        slide = _Sliding(rest, self._limits, self._braking * dt * dt)
        sliding, braking = np.zeros((2, len(FINGERS)), dtype=bool)
        while True:
            touching = np.zeros(len(FINGERS), dtype=bool)
            touching[_PAIRS[lack > 0.0]] = True
            if (touching & ~sliding).any():
                sliding |= touching
            elif (touching & ~braking).any():
                braking |= touching
            else:
                braking[:] = True
            chosen = np.where(np.repeat(braking, 4), rest, slide.goal(goal, sliding))
            trial, gaps = self._try(chosen, dt, speed)
            lack = allowed - gaps
            # With all fingers braking this is the way found clear in the last cycle.
            if not lack.max() > 0.0 or braking.all():
                return trial, gaps

    def halt(self, dt: float) -> None:
        """Brake for one step of `dt` [s]."""
        self._limiter.update(self._rest(), dt)

    def _rest(self) -> Array:
        """Return where the hand comes to rest if it brakes from now on, shape (20,)."""
        position = np.asarray(self._limiter.position)
        # The limiter counts a crawl as rest; its last hair's breadth must not leave the range.
        low, high = np.minimum(CURL_LOWER, position), np.maximum(UPPER, position)
        rest: Array = np.minimum(np.maximum(self._limiter.stopping_point, low), high)
        return rest

    def _try(self, goal: Array, dt: float, speed: float) -> tuple[RateLimiter, Array]:
        """Return the limiter one step on, and the smallest gaps from there until it is at rest."""
        trial = copy.copy(self._limiter)  # It replaces its arrays and never writes into them.
        trial.update(goal, dt, velocity=speed)
        position, velocity = np.asarray(trial.position), np.asarray(trial.velocity)
        stopping = velocity * np.abs(velocity) / (2.0 * self._braking)
        # No point of a finger moves further than the angles times the lengths beyond the joints.
        travel = (np.abs(position - self._measured_at) + np.abs(stopping)).reshape(5, 4) @ _REACH
        least: Array = self._measured - travel[_PAIRS].sum(axis=1)
        if (least > self._limits).all():
            return trial, least
        # Each joint brakes as hard as it can, and so comes to rest in its own time.
        times = np.abs(velocity) / self._braking
        times = np.minimum(times, _BRAKING * times.max())
        way = times * (velocity - (0.5 * self._braking) * times * np.sign(velocity))
        gaps = finger_gaps(position + way)
        self._measured, self._measured_at = gaps[0], position
        return trial, gaps.min(axis=0)


class _Sliding:
    """How fingers that touch at `rest` [rad] can go on without coming closer, to first order.

    Their way is cut to `longest` [rad], since joints that all hurry do not keep a direction.
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
        """Return the goal with only the fingers in `sliding` led past each other."""
        chosen = np.repeat(sliding, 4)
        way = np.where(chosen, goal - self._rest, 0.0)
        way *= self._longest / max(np.abs(way).max(), self._longest)
        pairs = np.flatnonzero(sliding[_PAIRS].all(axis=1))
        for _ in range(_SWEEPS):
            for pair in pairs:
                lack = self._slack[pair] - self._rows[pair] @ way
                if lack > 0.0:
                    way = way + self._rows[pair] * (lack / self._squares[pair])
        slid = np.minimum(np.maximum(self._rest + way, self._low), self._high)
        led: Array = np.where(chosen, slid, goal)
        return led
