# SPDX-License-Identifier: Apache-2.0
"""How far the fingers of a DG-5F are from each other, and how that changes with the joints.

Each finger is three capsules, from its second joint to the round of its tip. All 90 pairs of
capsules of different fingers are measured at once: the closest points of two segments follow from
the scalar products of their ends and directions, and one Gram matrix per hand holds them all.
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
"""Fingers that can touch, by number; the four pairs with the thumb come first."""
THUMB_PAIRS = 4

LINK_PAIRS = 9
"""Pairs of links of two fingers: every one of the first with every one of the second."""

_LINKS = 3
_A = np.array([a * _LINKS + i for a, _ in FINGER_PAIRS for i in range(3) for _ in range(3)])
_B = np.array([b * _LINKS + j for _, b in FINGER_PAIRS for _ in range(3) for j in range(3)])
_STARTS = np.stack([_A, _B]) // _LINKS * 4 + np.stack([_A, _B]) % _LINKS
_SEGMENTS = 5 * _LINKS
_VECTORS = 2 * _SEGMENTS


@functools.cache
def _gram_entries(hands: int) -> NDArray[np.intp]:
    """Return where the scalar products of each pair stand in the Gram matrices, (8, H, 90)."""
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
    """The gaps between the links of different fingers of H hands.

    Attributes:
        gaps: Distance between the surfaces of each pair of links in [m], shape (H, 90): nine for
            each pair of fingers; negative where they overlap.
        shares: Where along both links the nearest points lie, from 0 to 1, shape (2, H, 90).
    """

    gaps: Array
    shares: Array


def finger_gaps(positions: Array) -> Array:
    """Return the gaps [m], shape (H, 10), at the positions [rad] of right hands, (H, 20)."""
    found = clearances(finger_positions(positions, extension=TIP_CENTRE))
    least: Array = found.gaps.reshape(-1, len(FINGER_PAIRS), LINK_PAIRS).min(axis=-1)
    return least


def clearances(points: Array) -> Clearances:
    """Measure the gaps between fingers whose joints and tip centres are at (5, H, 4, 3) [m]."""
    hands = points.shape[1]
    vectors: Array = np.empty((hands, 2, 5, _LINKS, 3))
    by_hand = points.transpose(1, 0, 2, 3)
    np.subtract(by_hand[:, :, 1:], by_hand[:, :, :3], out=vectors[:, 0])
    vectors[:, 1] = by_hand[:, :, :3]
    vectors = vectors.reshape(hands, _VECTORS, 3)
    gram = np.matmul(vectors, vectors.transpose(0, 2, 1))
    products = gram.ravel().take(_gram_entries(hands))
    ab, a_start_a, a_start_b, b_start_a, b_start_b, p_aa, p_ab, p_bb = products
    toward_a = a_start_a - a_start_b  # Direction a with the way from start b to start a.
    toward_b = b_start_a - b_start_b
    # Parallel links have no single nearest pair; any will do, so the divisor is kept off zero.
    spread = np.maximum(_AA * _BB - ab * ab, 1e-12)
    shares = np.empty((2, hands, _A.size))
    s, t = shares
    _clip_share((ab * toward_b - toward_a * _BB) / spread, out=s)
    _clip_share((ab * s + toward_b) / _BB, out=t)
    _clip_share((ab * t - toward_a) / _AA, out=s)
    apart = p_aa - 2.0 * p_ab + p_bb
    squared = apart + s * (s * _AA + 2.0 * (toward_a - t * ab)) + t * (t * _BB - 2.0 * toward_b)
    gaps = np.sqrt(np.maximum(squared, 0.0))
    gaps -= 2.0 * FINGER_RADIUS
    return Clearances(gaps, shares)


def _clip_share(value: Array, *, out: Array) -> None:
    # `np.clip` takes three times as long on arrays of this size.
    np.maximum(value, 0.0, out=value)
    np.minimum(value, 1.0, out=out)


def clearance_gradients(
    fingers: FingerPoints, found: Clearances, chosen: NDArray[np.intp]
) -> Array:
    """Return how the gaps of the chosen pairs of links grow with the joints.

    Args:
        fingers: What `found` was measured on.
        found: The gaps.
        chosen: Numbers of M pairs of links, each from 0 to 89, shape (M,).

    Returns:
        The derivatives in [m/rad], shape (H, M, 20).
    """
    hands = len(found.gaps)
    share = found.shares[:, :, chosen, None]
    # Each of the two nearest points lies between a point of its finger and the next.
    start = _STARTS[:, None, chosen]
    finger, point = start // 4, start % 4
    near = (finger * hands + np.arange(hands)[:, None]) * 4 + point  # (2, H, M)
    both = np.stack([near, near + 1])
    points = fingers.points.reshape(-1, 3).take(both, axis=0)
    touching = points[0] + share * (points[1] - points[0])  # (2, H, M, 3)
    gap = touching[0] - touching[1]
    # Two links that cross have no direction apart; a tiny length keeps the quotient finite.
    normal = gap / np.maximum(np.sqrt((gap * gap).sum(axis=-1, keepdims=True)), 1e-9)
    moving = fingers.jacobians.reshape(-1, 4, 3).take(both, axis=0)
    rates = np.matmul(moving, normal[..., None])[..., 0]  # (2, 2, H, M, 4)
    rates = rates[0] + share * (rates[1] - rates[0])
    gradients = np.zeros((hands, len(chosen), 5, 4))
    rows = np.arange(len(chosen))
    gradients[:, rows, finger[0, 0]] = rates[0]
    gradients[:, rows, finger[1, 0]] = -rates[1]
    return gradients.reshape(hands, len(chosen), -1)


def nearest_links(found: Clearances) -> NDArray[np.intp]:
    """Return which pair of links is nearest for each pair of fingers of the first hand, (10,)."""
    by_pair = found.gaps[0].reshape(len(FINGER_PAIRS), LINK_PAIRS)
    nearest: NDArray[np.intp] = by_pair.argmin(axis=1) + LINK_PAIRS * np.arange(len(FINGER_PAIRS))
    return nearest


def pair_name(pair: int, side: str) -> str:
    """Return what a pair of fingers is called in a cause, such as "right thumb and index"."""
    first, second = FINGER_PAIRS[pair]
    return f"{side} {FINGERS[first]} and {FINGERS[second]}"
