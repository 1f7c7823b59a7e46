# SPDX-License-Identifier: Apache-2.0
"""Postures for targets as if there were all the time in the world."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from teleop_system.interfaces import IIKSolver, Pose6D

Array = NDArray[np.float64]

STEP = 0.02
"""Time of one step of the solver in [s]."""
MOST_STEPS = 40
"""Steps of the solver per moment; a target moves by centimetres from one to the next."""
STILL = 1e-4
"""Way in [rad] of the quickest joint below which the solver has come to rest."""
CLOSE = 5e-4
"""Distance in [m] at which it need go no further."""


class Course(NamedTuple):
    """Poses of an end effector in the base frame, moment by moment.

    Attributes:
        positions: In [m], shape (T, 3).
        orientations: xyzw, shape (T, 4).
    """

    positions: Array
    orientations: Array

    def __len__(self) -> int:
        return len(self.positions)

    def pose(self, moment: int) -> Pose6D:
        """Return one pose."""
        return Pose6D(self.positions[moment], self.orientations[moment])


def slow_motion(solver: IIKSolver, targets: Mapping[str, Course], begin: Array) -> Array:
    """Return the posture for every moment of targets, shape (T, N).

    The solver goes from one to the next with all its limits on positions and all distances that
    it keeps between links, but for as long as it takes: where it stays away from a target, the
    robot cannot be there.

    Args:
        solver: A solver of its own, whose joints and limits count.
        targets: By chain.
        begin: Posture from which it goes to the first in [rad], solver order.
    """
    joints = begin.copy()
    found = np.empty((len(next(iter(targets.values()))), joints.size))
    for moment in range(len(found)):
        poses = {chain: course.pose(moment) for chain, course in targets.items()}
        for _ in range(MOST_STEPS):
            result = solver.solve_multi(poses, joints, STEP)
            moved = float(np.abs(result.joint_positions - joints).max())
            joints = np.array(result.joint_positions)
            if moved < STILL or result.error_position < CLOSE:
                break
        found[moment] = joints
    return found
