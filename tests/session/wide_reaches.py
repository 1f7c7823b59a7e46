# SPDX-License-Identifier: Apache-2.0
"""An operator who reaches forward, overhead, across, down by the hips, and to the side."""

import functools
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from teleop_system.interfaces import Pose6D
from teleop_system.session.signals import Samples

Array = NDArray[np.float64]

READY = np.array([0.365, -0.242, 0.910])
"""Position of the right hand of the RB-Y1, and of the operator's, in the ready pose in [m]."""
ACROSS = ((0.50, 0.08, 1.10), (0.08, 0.06, 0.12), (0.0, 0.0, 0.4))
OWN = (
    ((0.62, -0.20, 1.15), (0.10, 0.12, 0.15), (0.0, -0.3, 0.0)),  # Forward.
    ((0.35, -0.30, 1.62), (0.12, 0.10, 0.10), (0.0, -1.2, 0.0)),  # Overhead.
    ((0.15, -0.42, 0.62), (0.10, 0.05, 0.06), (0.0, 1.0, 0.0)),  # Down by the hip.
    ((0.20, -0.70, 1.15), (0.10, 0.10, 0.15), (0.0, 0.0, -0.8)),  # To the side.
    ((0.36, -0.25, 0.92), (0.05, 0.05, 0.05), (0.0, 0.0, 0.0)),  # Back.
)
ZONES = (*OWN, ACROSS)
"""Centre [m] and half size [m] of the zones of the right hand, and its rotation vector [rad]."""
PEAK = 1.875
"""Largest speed of a minimum-jerk motion over its mean speed."""
WAIST_SHARE = 0.15
"""Share of the hands' mean displacement by which the waist moves."""
MIRROR = {"right_hand": np.ones(3), "left_hand": np.array([1.0, -1.0, 1.0])}

Zones = tuple[tuple[tuple[float, float, float], ...], ...]
Leg = tuple[float, float, Array, Array]
"""Start and end in [s], and the position and rotation vector of a hand at both."""


class WideReaches:
    """Replaces the hands and the waist of a simulated operator.

    Args:
        seed: Seed of the random reaches.
        speed: Fastest speed of a hand in [m/s].
        start: Time in [s] before which everything rests.
    """

    def __init__(self, seed: int, *, speed: float, start: float = 2.5) -> None:
        random = np.random.default_rng(seed)
        # People reach across with one hand at a time, not through their own other hand.
        crossing = tuple(MIRROR)[seed % 2]
        self._legs = {
            hand: _plan(
                random, speed, start, MIRROR[hand], zones=ZONES if hand == crossing else OWN
            )
            for hand in MIRROR
        }

    def __call__(self, now: float, samples: Samples) -> Samples:
        """Return the samples with the hands and the waist moved."""
        offsets = {hand: self._offset(hand, now) for hand in self._legs}
        mean = np.mean([offset[:3] for offset in offsets.values()], axis=0)
        waist = WAIST_SHARE * np.append(mean * (1.0, 1.0, 0.5), (0.0, max(mean[0], 0.0), 0.0))
        moved = {**offsets, "waist": waist}
        return {**samples, **{name: _pose(name, offset, now) for name, offset in moved.items()}}

    def _offset(self, hand: str, now: float) -> Array:
        legs = self._legs[hand]
        begin, end, here, there = next((leg for leg in legs if now < leg[1]), legs[-1])
        share = min(max((now - begin) / (end - begin), 0.0), 1.0)
        return here + share**3 * (10.0 - 15.0 * share + 6.0 * share**2) * (there - here)


def _plan(
    random: np.random.Generator, speed: float, start: float, mirror: Array, *, zones: Zones
) -> list[Leg]:
    legs, time, here = [], start, np.zeros(6)
    while time < 150.0:
        middle, spread, rotation = zones[random.integers(len(zones))]
        offset = mirror * (middle + spread * random.uniform(-1.0, 1.0, 3) - READY)
        # A mirror reverses rotations about all axes except the one normal to it.
        angles = mirror * (-1.0) ** (mirror[1] < 0.0) * (rotation + random.uniform(-0.3, 0.3, 3))
        there = np.append(offset, angles)
        fastest = speed * random.uniform(0.5, 1.0)
        duration = max(0.5, PEAK * float(np.linalg.norm(offset - here[:3])) / fastest)
        legs.append((time, time + duration, here, there))
        time, here = time + duration + random.uniform(0.0, 0.5), there
    return legs


@functools.cache
def _rest(name: str) -> Array:
    positions: Mapping[str, tuple[float, float, float]] = {
        "right_hand": (0.4, -0.3, 1.0),
        "left_hand": (0.4, 0.3, 1.0),
        "waist": (0.0, 0.0, 0.9),
    }
    return np.array(positions[name])


def _pose(name: str, offset: Array, now: float) -> Pose6D:
    return Pose6D(_rest(name) + offset[:3], Rotation.from_rotvec(offset[3:]).as_quat(), now)
