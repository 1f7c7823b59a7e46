# SPDX-License-Identifier: Apache-2.0
"""Gaps between fingers against brute force and finite differences."""

import numpy as np
import pytest

from teleop_system.modules.hand_teleop import dg5f
from teleop_system.modules.hand_teleop.finger_clearance import (
    FINGER_PAIRS,
    clearance_gradients,
    clearances,
    finger_gaps,
    pair_name,
)

RADIUS = 0.0105


def brute_force_gap(points: np.ndarray, first: int, second: int) -> float:
    """Return the gap between two fingers by trying points along all their links."""
    shares = np.linspace(0.0, 1.0, 81)[:, None]

    def along(finger: int) -> np.ndarray:
        ends = points[finger]
        return np.concatenate([ends[k] + shares * (ends[k + 1] - ends[k]) for k in range(3)])

    separation = along(first)[:, None] - along(second)[None]
    return float(np.linalg.norm(separation, axis=-1).min()) - 2.0 * RADIUS


def random_hands(count: int) -> np.ndarray:
    rng = np.random.default_rng(7)
    return rng.uniform(dg5f.CURL_LOWER, dg5f.UPPER, (count, 20))


def test_gaps_are_those_of_brute_force() -> None:
    hands = random_hands(5)
    gaps = finger_gaps(hands)
    points = dg5f.finger_positions(hands, extension=dg5f.TIP_CENTRE)
    for row in range(len(hands)):
        for pair, (first, second) in enumerate(FINGER_PAIRS):
            tried = brute_force_gap(points[:, row], first, second)
            assert gaps[row, pair] <= tried + 1e-12
            # Steps of half a millimetre miss the nearest points by a quarter of one each, which
            # matters most where the links cross.
            assert gaps[row, pair] == pytest.approx(tried, abs=4e-4)


def test_neighbours_of_a_straight_hand_are_as_far_apart_as_their_knuckles() -> None:
    gaps = dict(zip(FINGER_PAIRS, finger_gaps(np.zeros((1, 20)))[0], strict=True))
    assert gaps[1, 2] == pytest.approx(0.0245 - 2.0 * RADIUS, abs=1e-12)
    assert gaps[2, 3] == pytest.approx(0.0245 - 2.0 * RADIUS, abs=1e-12)


def test_gradients_are_the_finite_differences_of_the_gaps() -> None:
    hands = random_hands(20)
    fingers = dg5f.finger_points(hands, extension=dg5f.TIP_CENTRE)
    found = clearances(fingers.points)
    pairs = np.array([0, 4, 8, 22, 44, 49, 53, 89])
    gradients = clearance_gradients(fingers, found, pairs)
    apart = found.gaps[:, pairs] > -0.015  # Links that cross have no direction apart.
    step = 1e-6
    for joint in range(20):
        change = np.zeros(20)
        change[joint] = step
        after, before = (
            clearances(dg5f.finger_positions(hands + sign * change, extension=dg5f.TIP_CENTRE))
            for sign in (1, -1)
        )
        rates = (after.gaps - before.gaps)[:, pairs] / (2.0 * step)
        np.testing.assert_allclose(gradients[:, :, joint][apart], rates[apart], atol=1e-7)


def test_a_pair_is_named_after_its_fingers() -> None:
    assert pair_name(0, "right") == "right thumb and index"
    assert pair_name(9, "left") == "left ring and pinky"
