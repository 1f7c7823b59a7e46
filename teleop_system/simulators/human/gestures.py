# SPDX-License-Identifier: Apache-2.0
"""Gestures of a hand: open, close, pinch, point and count."""

import functools

import numpy as np
from numpy.typing import NDArray

from teleop_system.utils.minimum_jerk import minimum_jerk

Array = NDArray[np.float64]

CURL = np.array([1.45, 0.0, 1.7, 1.1])
"""Angles of a finger curled to the palm in [rad]."""
SPREAD = np.array([0.22, 0.05, -0.12, -0.28])
"""Abduction of index to pinky of a spread hand in [rad]."""

THUMB_OUT = (0.0, 0.35, 0.0, 0.0)
THUMB_IN = (0.7, 0.6, 0.6, 0.7)
# Solved so that the tips of thumb and index touch.
THUMB_PINCH = (0.47, 0.66, 0.33, 0.31)
FINGER_PINCH = (0.80, 0.02, 0.87, 0.43)

CHANGE_TIME = 0.8
"""Time from one gesture to the next in [s]; finger joints stay below 4 rad/s."""


def _hand(thumb: tuple[float, ...], curls: tuple[float, ...], spread: float = 0.0) -> Array:
    """Return the 20 angles of a thumb and four fingers, each curled from 0 to 1."""
    fingers = np.outer(curls, CURL)
    fingers[:, 1] = spread * SPREAD * (1.0 - np.array(curls))  # A curled finger cannot spread.
    angles: Array = np.vstack([thumb, fingers]).ravel()
    return angles


def _pinch() -> Array:
    angles = _hand(THUMB_PINCH, (0.0, 0.15, 0.15, 0.15))
    angles[4:8] = FINGER_PINCH
    return angles


GESTURES: dict[str, Array] = {
    "relaxed": _hand((0.15, 0.3, 0.15, 0.2), (0.18, 0.2, 0.22, 0.25), 0.3),
    "open": _hand(THUMB_OUT, (0.0, 0.0, 0.0, 0.0), 1.0),
    "fist": _hand(THUMB_IN, (1.0, 1.0, 1.0, 1.0)),
    "pinch": _pinch(),
    "one": _hand(THUMB_IN, (0.0, 1.0, 1.0, 1.0)),
    "two": _hand(THUMB_IN, (0.0, 0.0, 1.0, 1.0), 0.8),
    "three": _hand(THUMB_IN, (0.0, 0.0, 0.0, 1.0), 0.8),
    "four": _hand(THUMB_IN, (0.0, 0.0, 0.0, 0.0), 0.8),
}
"""Named gestures, each of 20 angles in [rad]."""

REST = "relaxed"


def gesture_at(seed: int, span: float, time: float) -> Array:
    """Return the 20 angles of a hand that changes its gesture once every `span` [s].

    Args:
        seed: Seed of the gestures.
        span: Time between the starts of two changes in [s].
        time: Time since the start in [s]; before it the hand is relaxed.
    """
    number, fraction = divmod(max(time, 0.0) / span, 1.0)
    names = _gesture(seed, int(number) - 1), _gesture(seed, int(number))
    return blend_gestures(*names, fraction * span, min(span, CHANGE_TIME))


def blend_gestures(start: str, end: str, time: float, duration: float = CHANGE_TIME) -> Array:
    """Return the 20 angles of a hand `time` [s] after the start of a change."""
    share = minimum_jerk(time / duration)
    return GESTURES[start] + (GESTURES[end] - GESTURES[start]) * share


@functools.lru_cache(maxsize=256)
def _gesture(seed: int, number: int) -> str:
    if number < 0:
        return REST
    names = list(GESTURES)
    return names[np.random.default_rng((seed, number)).integers(len(names))]
