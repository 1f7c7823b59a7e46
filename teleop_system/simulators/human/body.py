# SPDX-License-Identifier: Apache-2.0
"""A person at work: reaching, turning, looking about, now and then stepping on the spot."""

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import InvalidValueError
from teleop_system.interfaces import TrackerRole
from teleop_system.simulators.human.profiles import lift, sway
from teleop_system.utils.minimum_jerk import PEAK_SPEED, minimum_jerk

Array = NDArray[np.float64]

FASTEST_REACH = 0.6
"""Largest speed of a hand against the body in [m/s]."""
SLOWEST_REACH = 0.35
"""Speed a hand at leisure aims for in [m/s]."""

HAND_TURN = 0.5
"""Largest turn of a hand in [rad]."""
WAIST_SHARE = 0.25
"""How much of the hands' mean reach the waist follows."""
LARGEST_DELAY = 0.15
"""Latest start of a reach, as a share of the time it has."""
BREATH = 0.004
"""Rise of the chest with a breath in [m]."""
BREATHS = 0.25
"""Breaths in [Hz]."""

STEP_TIME = 0.7
"""Time to lift a foot and put it down in [s]."""
STEP_HEIGHT = 0.08
"""Height a foot is lifted to in [m]."""
STEP_SHIFT = 0.02
"""How far the waist moves over the standing foot in [m]."""
STANDING_TIME = 9.8
"""Time between two bouts of stepping in [s]."""
STEPS = 8
"""Steps of one bout, right foot first."""


@dataclass(frozen=True, slots=True, eq=False)
class BodyOffset:
    """How far a part of the body is from where it rests.

    Attributes:
        translation: In [m], shape (3,).
        rotation: Rotation vector in the part's own frame in [rad], shape (3,).
    """

    translation: Array
    rotation: Array


@dataclass(frozen=True, slots=True, eq=False)
class _Goal:
    """Where everything should be at the end of one span of time.

    Attributes:
        hands: Offsets of right and left hand from the body in [m], shape (2, 3).
        turns: Rotation vectors of right and left hand in [rad], shape (2, 3).
        delays: Start of each hand's reach, as a share of the span, shape (2,).
        speeds: Peak speed each hand aims for in [m/s], shape (2,).
        waist: Offset of the waist in [m], shape (3,).
        lean: Rotation vector of the waist in [rad], shape (3,).
        gaze: Rotation vector of the head in [rad], shape (3,).
    """

    hands: Array
    turns: Array
    delays: Array
    speeds: Array
    waist: Array
    lean: Array
    gaze: Array


class OperatorMotion:
    """The whole body's motion, so that hands, waist, head and feet of one person agree.

    Time is cut into spans of `1 / frequency` seconds; in each, the person reaches for something
    with one hand or both, and the body follows. Every fifteen seconds or so they step on the
    spot.
    """

    def __init__(self, seed: int = 0, *, amplitude: float = 0.2, frequency: float = 0.5) -> None:
        """Plan a motion.

        Args:
            seed: Chooses among motions; the same seed gives the same motion.
            amplitude: Largest reach of a hand from its reference in [m]; less where the time
                for it would make the hand faster than 0.6 m/s.
            frequency: Reaches per second in [Hz].

        Raises:
            InvalidValueError: A number is not finite, negative, or a frequency of zero.
        """
        if not (math.isfinite(amplitude) and amplitude >= 0.0):
            raise InvalidValueError(f"amplitude must be a length not below 0, got {amplitude}")
        if not (math.isfinite(frequency) and frequency > 0.0):
            raise InvalidValueError(f"frequency must be positive, got {frequency}")
        self._seed = seed
        self._span = 1.0 / frequency
        # From one end of the workspace to the other within the time that a late start leaves.
        longest = FASTEST_REACH * (1.0 - LARGEST_DELAY) * self._span / PEAK_SPEED
        self._amplitude = min(amplitude, 0.5 * longest)

    def offset(self, role: TrackerRole, time: float) -> BodyOffset:
        """Return how far a part of the body is from its reference, `time` [s] after the start."""
        if role is TrackerRole.RIGHT_FOOT or role is TrackerRole.LEFT_FOOT:
            return BodyOffset(_foot(role, time), np.zeros(3))
        number, fraction = divmod(max(time, 0.0) / self._span, 1.0)
        last, goal = self._goal(int(number) - 1), self._goal(int(number))
        carried = _between(last.waist, goal.waist, fraction) + _weight_shift(time)
        carried[2] += BREATH * sway(time, BREATHS)
        if role is TrackerRole.WAIST:
            return BodyOffset(carried, _between(last.lean, goal.lean, fraction))
        if role is TrackerRole.HEAD:
            # The eyes lead: the head is there in half the time the hands need.
            return BodyOffset(carried, _between(last.gaze, goal.gaze, 2.0 * fraction))
        side = 0 if role is TrackerRole.RIGHT_HAND else 1
        reach = self._reach_fraction(last, goal, side, fraction)
        return BodyOffset(
            carried + _between(last.hands[side], goal.hands[side], reach),
            _between(last.turns[side], goal.turns[side], reach),
        )

    def _reach_fraction(self, last: _Goal, goal: _Goal, side: int, fraction: float) -> float:
        """Return the share of a hand's own reach that is over, from the share of the span."""
        distance = float(np.linalg.norm(goal.hands[side] - last.hands[side]))
        wished = PEAK_SPEED * distance / (float(goal.speeds[side]) * self._span)
        delay = float(goal.delays[side])
        share = min(max(wished, 0.5), 1.0 - delay)
        return (fraction - delay) / share

    def _goal(self, number: int) -> _Goal:
        return _plan(self._seed, self._amplitude, number)


@functools.lru_cache(maxsize=256)
def _plan(seed: int, amplitude: float, number: int) -> _Goal:
    """Return the goal of one span; before the first, everything rests."""
    random = np.random.default_rng((seed, max(number, 0)))
    busy = np.array([(1.0, 0.3), (0.3, 1.0), (1.0, 1.0)][random.integers(3)])  # Right, left.
    hands = amplitude * busy[:, None] * np.stack([_in_ball(random) for _ in range(2)])
    if busy.min() == 1.0 and random.random() < 0.5:
        hands[1] = hands[0] * (1.0, -1.0, 1.0)  # Both hands at one thing move as in a mirror.
    turns = HAND_TURN * busy[:, None] * np.stack([_in_ball(random) for _ in range(2)])
    mean = hands.mean(axis=0)
    attention = 0.5 * (busy[1] - busy[0]) / 0.7  # To the busier hand, left is positive.
    goal = _Goal(
        hands=hands,
        turns=turns,
        delays=random.uniform(0.0, LARGEST_DELAY, 2),
        speeds=random.uniform(SLOWEST_REACH, FASTEST_REACH, 2),
        waist=WAIST_SHARE * mean * (1.0, 1.0, 0.5),
        lean=np.array([0.0, max(mean[0], 0.0), 0.3 * attention + 0.1 * random.uniform(-1, 1)]),
        gaze=np.array([0.0, random.uniform(0.0, 0.4), 0.8 * attention * random.random()]),
    )
    if number >= 0:
        return goal
    rest = {name: np.zeros_like(getattr(goal, name)) for name in goal.__slots__}
    return _Goal(**rest)


def _in_ball(random: np.random.Generator) -> Array:
    """Return a point, evenly distributed in the ball of radius 1."""
    direction = random.normal(size=3)
    result: Array = direction * (random.random() ** (1.0 / 3.0) / np.linalg.norm(direction))
    return result


def _between(start: Array, end: Array, fraction: float) -> Array:
    return start + (end - start) * minimum_jerk(fraction)


def _step_at(time: float) -> tuple[int, float] | None:
    """Return number and progress of the step a time falls into, or None while standing."""
    moment = time % (STANDING_TIME + STEPS * STEP_TIME) - STANDING_TIME
    if time < 0.0 or moment < 0.0:
        return None
    number, fraction = divmod(moment / STEP_TIME, 1.0)
    return int(number), fraction


def _foot(role: TrackerRole, time: float) -> Array:
    step = _step_at(time)
    right = role is TrackerRole.RIGHT_FOOT
    if step is None or (step[0] % 2 == 0) is not right:
        return np.zeros(3)
    return np.array([0.0, 0.0, STEP_HEIGHT * lift(step[1])])


def _weight_shift(time: float) -> Array:
    """Return how the body moves over the foot that stays on the ground."""
    step = _step_at(time)
    if step is None:
        return np.zeros(3)
    towards_left = 1.0 if step[0] % 2 == 0 else -1.0
    return np.array([0.0, towards_left * STEP_SHIFT * lift(step[1]), 0.0])
