# SPDX-License-Identifier: Apache-2.0
"""Postures for targets, without limits on speed."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from teleop_system.interfaces import IIKSolver, Pose6D

Array = NDArray[np.float64]

STEP = 0.02
"""Time of one step of the solver in [s]."""
MAX_STEPS = 40
"""Largest number of solver steps per sample; a target moves by centimetres between two."""
AT_REST = 1e-4
"""Largest joint motion per step in [rad] at which the solver counts as at rest."""
REACHED = 5e-4
"""Distance in [m] at which a target counts as reached."""


class PoseSequence(NamedTuple):
    """Poses of an end effector in the base frame, one per sample.

    Attributes:
        positions: In [m], shape (T, 3).
        orientations: xyzw, shape (T, 4).
    """

    positions: Array
    orientations: Array

    def __len__(self) -> int:
        return len(self.positions)

    def pose(self, sample: int) -> Pose6D:
        """Return one pose."""
        return Pose6D(self.positions[sample], self.orientations[sample])


def reachable_postures(
    solver: IIKSolver, targets: Mapping[str, PoseSequence], start: Array
) -> Array:
    """Return a posture for every sample of the targets, shape (T, N).

    The solver moves from one sample to the next within its limits on positions and distances of
    links, and takes as long as it needs: a target that it does not reach is out of reach.

    Args:
        solver: A solver that is used for nothing else.
        targets: The targets by chain.
        start: Posture before the first sample in [rad], solver order.
    """
    joints = start.copy()
    found = np.empty((len(next(iter(targets.values()))), joints.size))
    for sample in range(len(found)):
        poses = {chain: sequence.pose(sample) for chain, sequence in targets.items()}
        for _ in range(MAX_STEPS):
            result = solver.solve_multi(poses, joints, STEP)
            moved = float(np.abs(result.joint_positions - joints).max())
            joints = np.array(result.joint_positions)
            if moved < AT_REST or result.error_position < REACHED:
                break
        found[sample] = joints
    return found
