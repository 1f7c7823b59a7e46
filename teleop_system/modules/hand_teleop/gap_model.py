# SPDX-License-Identifier: Apache-2.0
"""How much room the fingers of DG-5F hands lack, linear about a recent pose."""

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
"""Gaps that exceed what they should by more than this in [m] hardly close within one sample."""
_TRUSTED = 0.02
"""How far joints may go in [rad] before the gaps are measured anew: then the curvature of their
paths, 0.1 m wide, has cost the model less than 0.1 mm."""


class GapModel:
    """What gaps between links lack, as M linear functions of the joints of H right hands.

    Of two fingers side by side all links are about as near, and each has to be kept apart, so
    every pair of links that comes near counts and not only the nearest.

    Args:
        config: Gaps and weight.
        hands: Number of hands H.

    Attributes:
        rows: Derivatives of the gaps, times the root of the weight, shape (H, M, 20).
    """

    def __init__(self, config: FingertipConfig, hands: int) -> None:
        self._root = float(np.sqrt(config.clearance_weight))
        self._margins = np.full(LINK_PAIRS * len(FINGER_PAIRS), config.clearance)
        # The thumb may touch: that is what a pinch is.
        self._margins[: LINK_PAIRS * THUMB_PAIRS] = min(config.pinch_gap, 0.0)
        self._measured: Array | None = None
        self._start: Array = np.zeros((hands, 0))
        self.rows: Array = np.zeros((hands, 0, JOINT_COUNT))

    def refresh(self, positions: Array) -> None:
        """Measure the gaps at positions [rad], shape (H, 20), unless it was done nearby."""
        measured = self._measured
        if measured is not None and np.abs(positions - measured).max() < _TRUSTED:
            return
        if self._root == 0.0:
            return
        fingers = finger_points(positions, extension=TIP_CENTRE)
        found = clearances(fingers.points)
        lack = self._margins - found.gaps
        near = lack > -_HORIZON
        chosen = np.flatnonzero(near.any(axis=0))
        self.rows = self._root * clearance_gradients(fingers, found, chosen)
        self.rows *= near[:, chosen, None]  # So that a hand does not depend on the other.
        # At joint positions of zero, so that one product gives the lack anywhere.
        here = np.matmul(self.rows, positions[:, :, None])[:, :, 0]
        self._start = self._root * lack[:, chosen] + here
        self._measured = positions

    def lack_at(self, positions: Array) -> Array:
        """Return what the gaps lack [m], times the root of the weight, shape (H, M)."""
        lack: Array = self._start - np.matmul(self.rows, positions[:, :, None])[:, :, 0]
        return lack
