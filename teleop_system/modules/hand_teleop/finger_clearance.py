# SPDX-License-Identifier: Apache-2.0
"""Gaps between the fingers of a DG-5F, and their derivatives by the joints.

Each finger is modelled by three capsules, from its second joint to its round tip. All 90 pairs of
capsules of different fingers are measured at once: the closest points of two segments follow from
scalar products of their start points and directions. One Gram matrix per hand holds all of them.
"""

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from teleop_system.modules.hand_teleop.dg5f import (
    FINGER_RADIUS,
    FINGERS,
    TIP_CENTRE,
    Array,
    FingerPoints,
    finger_positions,
)

FINGER_PAIRS = tuple((a, b) for a in range(5) for b in range(a + 1, 5))
"""Indices of fingers that can touch; the four pairs with the thumb come first."""
THUMB_PAIRS = 4
"""Number of pairs with the thumb."""

LINK_PAIRS = 9
"""Number of link pairs of two fingers."""

_LINKS = 3
_A = np.array([a * _LINKS + i for a, _ in FINGER_PAIRS for i in range(3) for _ in range(3)])
_B = np.array([b * _LINKS + j for _, b in FINGER_PAIRS for _ in range(3) for j in range(3)])
_STARTS = np.stack([_A, _B]) // _LINKS * 4 + np.stack([_A, _B]) % _LINKS
_SEGMENTS = 5 * _LINKS
_VECTORS = 2 * _SEGMENTS


@functools.cache
def _gram_entries(hands: int) -> NDArray[np.intp]:
    """Return the indices of each pair's scalar products in the Gram matrices, (8, H, 90)."""
    start_a, start_b = _A + _SEGMENTS, _B + _SEGMENTS
    rows = [_A, _A, _A, _B, _B, start_a, start_a, start_b]
    columns = [_B, start_a, start_b, start_a, start_b, start_a, start_b, start_b]
    entries = np.stack([row * _VECTORS + col for row, col in zip(rows, columns, strict=True)])
    return entries[:, None] + _VECTORS**2 * np.arange(hands)[:, None]


def _squared_lengths() -> Array:
    ends = finger_positions(np.zeros((1, 20)), extension=TIP_CENTRE)[:, 0]
    squares: Array = ((ends[:, 1:] - ends[:, :3]) ** 2).sum(axis=-1)
    return squares.ravel()


_AA, _BB = _squared_lengths()[_A], _squared_lengths()[_B]


class Clearances(NamedTuple):
    """Gaps between the links of different fingers of H hands.

    Attributes:
        gaps: Distance between the surfaces of each pair of links in [m], shape (H, 90): nine for
            each pair of fingers; negative if they overlap.
        fractions: Positions of the closest points along both links, 0 to 1, shape (2, H, 90).
    """

    gaps: Array
    fractions: Array


def finger_gaps(positions: Array) -> Array:
    """Return the smallest gap of each finger pair [m], (H, 10), at positions [rad], (H, 20)."""
    found = clearances(finger_positions(positions, extension=TIP_CENTRE))
    smallest: Array = found.gaps.reshape(-1, len(FINGER_PAIRS), LINK_PAIRS).min(axis=-1)
    return smallest


def clearances(points: Array) -> Clearances:
    """Measure gaps between fingers with joints and tip centres at `points` [m], (5, H, 4, 3)."""
    hands = points.shape[1]
    vectors: Array = np.empty((hands, 2, 5, _LINKS, 3))
    by_hand = points.transpose(1, 0, 2, 3)
    np.subtract(by_hand[:, :, 1:], by_hand[:, :, :3], out=vectors[:, 0])
    vectors[:, 1] = by_hand[:, :, :3]
    vectors = vectors.reshape(hands, _VECTORS, 3)
    gram = np.matmul(vectors, vectors.transpose(0, 2, 1))
    products = gram.ravel().take(_gram_entries(hands))
    ab, a_start_a, a_start_b, b_start_a, b_start_b, p_aa, p_ab, p_bb = products
    toward_a = a_start_a - a_start_b  # Direction a times (start a - start b).
    toward_b = b_start_a - b_start_b
    # Parallel links have many closest pairs; a positive divisor selects one of them.
    spread = np.maximum(_AA * _BB - ab * ab, 1e-12)
    fractions = np.empty((2, hands, _A.size))
    s, t = fractions
    _clip_fraction((ab * toward_b - toward_a * _BB) / spread, out=s)
    _clip_fraction((ab * s + toward_b) / _BB, out=t)
    _clip_fraction((ab * t - toward_a) / _AA, out=s)
    between_starts = p_aa - 2.0 * p_ab + p_bb
    squared = (
        between_starts + s * (s * _AA + 2.0 * (toward_a - t * ab)) + t * (t * _BB - 2.0 * toward_b)
    )
    gaps = np.sqrt(np.maximum(squared, 0.0))
    gaps -= 2.0 * FINGER_RADIUS
    return Clearances(gaps, fractions)


def _clip_fraction(value: Array, *, out: Array) -> None:
    # `np.clip` is three times slower on arrays of this size.
    np.maximum(value, 0.0, out=value)
    np.minimum(value, 1.0, out=out)


def clearance_gradients(
    fingers: FingerPoints, found: Clearances, chosen: NDArray[np.intp]
) -> Array:
    """Return the derivatives of gaps by the joints in [m/rad], shape (H, M, 20).

    Args:
        fingers: The points that `found` was measured on.
        found: The gaps.
        chosen: Indices of M link pairs, each from 0 to 89, shape (M,).
    """
    hands = len(found.gaps)
    fraction = found.fractions[:, :, chosen, None]
    # Each closest point lies between two neighbouring points of its finger.
    start = _STARTS[:, None, chosen]
    finger, point = start // 4, start % 4
    near = (finger * hands + np.arange(hands)[:, None]) * 4 + point  # (2, H, M)
    both = np.stack([near, near + 1])
    points = fingers.points.reshape(-1, 3).take(both, axis=0)
    closest = points[0] + fraction * (points[1] - points[0])  # (2, H, M, 3)
    gap = closest[0] - closest[1]
    # Crossing links have no separating direction; a tiny length keeps the quotient finite.
    normal = gap / np.maximum(np.sqrt((gap * gap).sum(axis=-1, keepdims=True)), 1e-9)
    moving = fingers.jacobians.reshape(-1, 4, 3).take(both, axis=0)
    rates = np.matmul(moving, normal[..., None])[..., 0]  # (2, 2, H, M, 4)
    rates = rates[0] + fraction * (rates[1] - rates[0])
    gradients = np.zeros((hands, len(chosen), 5, 4))
    rows = np.arange(len(chosen))
    gradients[:, rows, finger[0, 0]] = rates[0]
    gradients[:, rows, finger[1, 0]] = -rates[1]
    return gradients.reshape(hands, len(chosen), -1)


def nearest_links(found: Clearances) -> NDArray[np.intp]:
    """Return the index of the closest link pair of each finger pair of the first hand, (10,)."""
    by_pair = found.gaps[0].reshape(len(FINGER_PAIRS), LINK_PAIRS)
    nearest: NDArray[np.intp] = by_pair.argmin(axis=1) + LINK_PAIRS * np.arange(len(FINGER_PAIRS))
    return nearest


def pair_name(pair: int, side: str) -> str:
    """Return the name of a finger pair in a cause, such as "right thumb and index"."""
    first, second = FINGER_PAIRS[pair]
    return f"{side} {FINGERS[first]} and {FINGERS[second]}"
