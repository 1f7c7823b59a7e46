# SPDX-License-Identifier: Apache-2.0
"""Linear model of missing clearance between the fingers of DG-5F hands."""

import numpy as np

from teleop_system.modules.hand_teleop.config import FingertipConfig
from teleop_system.modules.hand_teleop.dg5f import JOINT_COUNT, TIP_CENTRE, Array, finger_points
from teleop_system.modules.hand_teleop.finger_clearance import (
    FINGER_PAIRS,
    LINK_PAIRS,
    THUMB_PAIRS,
    clearance_gradients,
    clearances,
)

_HORIZON = 0.02
"""Gaps larger than required by more than this in [m] cannot close within one sample."""
_VALID_RANGE = 0.02
"""Joint motion in [rad] after which gaps are measured again. Up to there the error of the model is
below 0.1 mm on a lever of 0.1 m."""


class GapModel:
    """Missing clearance of M link pairs as linear functions of the joints of H right hands.

    Two fingers side by side are close at all links, so every near pair of links counts, not only
    the closest one.

    Args:
        config: Gaps and weight.
        hands: Number of hands H.

    Attributes:
        rows: Derivatives of the gaps times the square root of the weight, shape (H, M, 20).
    """

    def __init__(self, config: FingertipConfig, hands: int) -> None:
        self._root = float(np.sqrt(config.clearance_weight))
        self._margins = np.full(LINK_PAIRS * len(FINGER_PAIRS), config.clearance)
        # The thumb may touch other fingers in a pinch.
        self._margins[: LINK_PAIRS * THUMB_PAIRS] = min(config.pinch_gap, 0.0)
        self._measured: Array | None = None
        self._start: Array = np.zeros((hands, 0))
        self.rows: Array = np.zeros((hands, 0, JOINT_COUNT))

    def refresh(self, positions: Array) -> None:
        """Measure the gaps at positions [rad], shape (H, 20), unless the model is valid there."""
        measured = self._measured
        if measured is not None and np.abs(positions - measured).max() < _VALID_RANGE:
            return
        if self._root == 0.0:
            return
        fingers = finger_points(positions, extension=TIP_CENTRE)
        found = clearances(fingers.points)
        shortfall = self._margins - found.gaps
        near = shortfall > -_HORIZON
        chosen = np.flatnonzero(near.any(axis=0))
        self.rows = self._root * clearance_gradients(fingers, found, chosen)
        self.rows *= near[:, chosen, None]  # One hand does not depend on the other.
        # Extrapolated to zero joint positions, so that one product gives the shortfall anywhere.
        here = np.matmul(self.rows, positions[:, :, None])[:, :, 0]
        self._start = self._root * shortfall[:, chosen] + here
        self._measured = positions

    def shortfall(self, positions: Array) -> Array:
        """Return the missing clearance [m] times the square root of the weight, shape (H, M)."""
        shortfall: Array = self._start - np.matmul(self.rows, positions[:, :, None])[:, :, 0]
        return shortfall
