# SPDX-License-Identifier: Apache-2.0
"""Where end effectors should be, as rows for the solver and as poses for everyone else."""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from teleop_system.interfaces import Pose6D
from teleop_system.utils.poses import PoseTuple

Array = NDArray[np.float64]


class Targets(Mapping[str, Pose6D]):
    """Poses in the base frame by chain; a `Pose6D` is made only when it is read.

    Args:
        poses: Position [m] and unit quaternion xyzw of each chain.
        timestamp: Time of the poses in [s].

    Attributes:
        chains: Names of the chains.
        rows: Position and quaternion of each, shape (C, 7), read-only.
    """

    __slots__ = ("_timestamp", "chains", "rows")

    def __init__(self, poses: Mapping[str, PoseTuple], timestamp: float) -> None:
        self.chains = tuple(poses)
        self.rows: Array = np.array([(*p, *q) for p, q in poses.values()]).reshape(-1, 7)
        self.rows.setflags(write=False)
        self._timestamp = timestamp

    @override
    def __getitem__(self, chain: str) -> Pose6D:
        if chain not in self.chains:
            raise KeyError(chain)
        row = self.rows[self.chains.index(chain)]
        return Pose6D.unchecked(row[:3], row[3:], self._timestamp)

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(self.chains)

    @override
    def __len__(self) -> int:
        return len(self.chains)
