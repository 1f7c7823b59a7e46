# SPDX-License-Identifier: Apache-2.0
"""Body motion of a person at work: reaching, turning, looking around, stepping in place."""

import functools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import InvalidValueError
from teleop_system.interfaces import TrackerRole
from teleop_system.utils.minimum_jerk import PEAK_SPEED, minimum_jerk

Array = NDArray[np.float64]

FASTEST_REACH = 0.6
"""Largest speed of a hand relative to the body in [m/s]."""
SLOWEST_REACH = 0.35
"""Peak speed of a slow reach in [m/s]."""

HAND_ROTATION = 0.5
"""Largest rotation of a hand in [rad]."""
WAIST_SHARE = 0.25
"""Share of the hands' mean reach that the waist follows."""
LARGEST_DELAY = 0.15
"""Latest start of a reach, as a share of its time span."""
BREATH = 0.004
"""Rise of the chest per breath in [m]."""
BREATHS = 0.25
"""Breathing frequency in [Hz]."""

STEP_TIME = 0.7
"""Time to lift a foot and put it down in [s]."""
STEP_HEIGHT = 0.08
"""Height of a lifted foot in [m]."""
STEP_SHIFT = 0.02
"""Sideways shift of the waist over the standing foot in [m]."""
STANDING_TIME = 9.8
"""Standing time between two series of steps in [s]."""
STEPS = 8
"""Number of steps in a series, right foot first."""


@dataclass(frozen=True, slots=True, eq=False)
class BodyOffset:
    """Offset of a body part from its rest pose.

    Attributes:
        translation: Translation in [m], shape (3,).
        rotation: Rotation vector in the part's own frame in [rad], shape (3,).
    """

    translation: Array
    rotation: Array


@dataclass(frozen=True, slots=True, eq=False)
class _Goal:
    """Pose of the body at the end of one time span.

    Attributes:
        hands: Offsets of right and left hand from the body in [m], shape (2, 3).
        rotations: Rotation vectors of right and left hand in [rad], shape (2, 3).
        delays: Start of each hand's reach, as a share of the span, shape (2,).
        speeds: Intended peak speed of each hand in [m/s], shape (2,).
        waist: Offset of the waist in [m], shape (3,).
        lean: Rotation vector of the waist in [rad], shape (3,).
        gaze: Rotation vector of the head in [rad], shape (3,).
    """

    hands: Array
    rotations: Array
    delays: Array
    speeds: Array
    waist: Array
    lean: Array
    gaze: Array


class OperatorMotion:
    """Motion of the whole body; hands, waist, head and feet of one person are consistent.

    Time is divided into spans of `1 / frequency` seconds. In each, the person reaches for a point
    with one or both hands, and the body follows. About every 15 s the person steps in place.
    """

    def __init__(self, seed: int = 0, *, amplitude: float = 0.2, frequency: float = 0.5) -> None:
        """Create a motion.

        Args:
            seed: Seed of the motion.
            amplitude: Largest reach of a hand from its reference in [m]; reduced if the hand
                would be faster than 0.6 m/s.
            frequency: Reaches per second in [Hz].

        Raises:
            InvalidValueError: A number is not finite or negative, or the frequency is 0.
        """
        if not (math.isfinite(amplitude) and amplitude >= 0.0):
            raise InvalidValueError(f"amplitude must not be negative, got {amplitude}")
        if not (math.isfinite(frequency) and frequency > 0.0):
            raise InvalidValueError(f"frequency must be positive, got {frequency}")
        self._seed = seed
        self._span = 1.0 / frequency
        # The longest reach goes across the workspace in the time after a late start.
        longest = FASTEST_REACH * (1.0 - LARGEST_DELAY) * self._span / PEAK_SPEED
        self._amplitude = min(amplitude, 0.5 * longest)

    def offset(self, role: TrackerRole, time: float) -> BodyOffset:
        """Return the offset of a body part `time` [s] after the start."""
        if role is TrackerRole.RIGHT_FOOT or role is TrackerRole.LEFT_FOOT:
            return BodyOffset(_foot(role, time), np.zeros(3))
        last, goal, fraction, carried = _pose_at(self._seed, self._amplitude, self._span, time)
        if role is TrackerRole.WAIST:
            share = minimum_jerk(fraction)
            return BodyOffset(carried, last.lean + (goal.lean - last.lean) * share)
        if role is TrackerRole.HEAD:
            # The gaze leads: the head needs half the time of the hands.
            share = minimum_jerk(2.0 * fraction)
            return BodyOffset(carried, last.gaze + (goal.gaze - last.gaze) * share)
        side = 0 if role is TrackerRole.RIGHT_HAND else 1
        distance = goal.hands[side] - last.hands[side]
        duration = PEAK_SPEED * math.hypot(*distance) / (float(goal.speeds[side]) * self._span)
        delay = float(goal.delays[side])
        share = minimum_jerk((fraction - delay) / min(max(duration, 0.5), 1.0 - delay))
        rotations = last.rotations[side], goal.rotations[side]
        return BodyOffset(
            carried + last.hands[side] + distance * share,
            rotations[0] + (rotations[1] - rotations[0]) * share,
        )


class _BodyPose(NamedTuple):
    """What all body parts of a person have in common at a time.

    Attributes:
        last: The goal of the last time span.
        goal: The goal of the present time span.
        fraction: Completed share of the present time span.
        carried: Offset of the body in [m], shape (3,).
    """

    last: _Goal
    goal: _Goal
    fraction: float
    carried: Array


@functools.lru_cache(maxsize=4)
def _pose_at(seed: int, amplitude: float, span: float, time: float) -> _BodyPose:
    """Return the pose of the body; all trackers of a person ask for the same one."""
    number, fraction = divmod(max(time, 0.0) / span, 1.0)
    last = _draw_goal(seed, amplitude, int(number) - 1)
    goal = _draw_goal(seed, amplitude, int(number))
    carried = last.waist + (goal.waist - last.waist) * minimum_jerk(fraction)
    carried[1] += _weight_shift(time)
    carried[2] += BREATH * sway(time, BREATHS)
    carried.setflags(write=False)
    return _BodyPose(last, goal, fraction, carried)


@functools.lru_cache(maxsize=256)
def _draw_goal(seed: int, amplitude: float, number: int) -> _Goal:
    """Return the goal of one span; before the first span it is the rest pose."""
    random = np.random.default_rng((seed, max(number, 0)))
    busy = np.array([(1.0, 0.3), (0.3, 1.0), (1.0, 1.0)][random.integers(3)])  # Right, left.
    hands = amplitude * busy[:, None] * np.stack([_in_ball(random) for _ in range(2)])
    if busy.min() == 1.0 and random.random() < 0.5:
        hands[1] = hands[0] * (1.0, -1.0, 1.0)  # Both hands on one object move symmetrically.
    rotations = HAND_ROTATION * busy[:, None] * np.stack([_in_ball(random) for _ in range(2)])
    mean = hands.mean(axis=0)
    attention = 0.5 * (busy[1] - busy[0]) / 0.7  # Towards the busier hand; left is positive.
    goal = _Goal(
        hands=hands,
        rotations=rotations,
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
    """Return a uniformly distributed point in the unit ball."""
    direction = random.normal(size=3)
    result: Array = direction * (random.random() ** (1.0 / 3.0) / np.linalg.norm(direction))
    return result


def _step_at(time: float) -> tuple[int, float] | None:
    """Return number and progress of the current step, or None while standing."""
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


def _weight_shift(time: float) -> float:
    """Return the shift of the body to the left, over the standing foot, in [m]."""
    step = _step_at(time)
    if step is None:
        return 0.0
    towards_left = 1.0 if step[0] % 2 == 0 else -1.0
    return towards_left * STEP_SHIFT * lift(step[1])


def lift(fraction: float) -> float:
    """Return the height of a foot in one step, from 0 to 1 and back to 0.

    Velocity and acceleration are zero at both ends.
    """
    s = min(max(fraction, 0.0), 1.0)
    return 64.0 * (s * (1.0 - s)) ** 3


def sway(time: float, frequency: float) -> float:
    """Return a sine whose amplitude grows from 0 to 1 within the first period."""
    swell = minimum_jerk(time * frequency)
    return swell * math.sin(2.0 * math.pi * frequency * time)
