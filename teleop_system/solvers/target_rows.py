# SPDX-License-Identifier: Apache-2.0
"""Targets as numbers: a position in [m] and a quaternion xyzw in a row, shape (K, 7)."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import InvalidPoseError
from teleop_system.interfaces import Pose6D
from teleop_system.solvers import chain_kernels

Array = NDArray[np.float64]


def rows_of(poses: Mapping[str, Pose6D]) -> Array:
    """Return the rows of poses.

    Raises:
        InvalidPoseError: One is marked invalid.
    """
    numbers: list[float] = []
    for name, pose in poses.items():
        if not pose.valid:
            raise InvalidPoseError(f"the target of {name!r} is marked invalid")
        numbers += pose.position.tolist()
        numbers += pose.orientation.tolist()
    return np.array(numbers).reshape(-1, 7)


def refusal(chains: Sequence[str], rows: Array, bad: int) -> InvalidPoseError:
    """Return what is wrong with rows, of which `bad` tells as `chain_kernels.aim` does."""
    if bad == chain_kernels.MISSHAPEN:
        return InvalidPoseError(
            "targets need a position and a quaternion for each chain, "
            f"shape {(len(chains), 7)}, got {rows.shape}"
        )
    target, position, turn = f"the target of {chains[bad]!r}", rows[bad, :3], rows[bad, 3:]
    if not np.isfinite(position).all():
        return InvalidPoseError(f"{target} needs a finite position, got {position.tolist()}")
    length = float(np.linalg.norm(turn))
    return InvalidPoseError(f"{target} needs a unit quaternion, got one of length {length:.6g}")
