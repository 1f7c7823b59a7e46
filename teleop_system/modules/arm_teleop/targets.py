# SPDX-License-Identifier: Apache-2.0
"""Where end effectors should be, as numbers in a table and as poses for whoever asks."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from teleop_system.interfaces import Pose6D

Array = NDArray[np.float64]


class Targets(Mapping[str, Pose6D]):
    """Poses in the base frame by chain, made when they are first asked for.

    Args:
        chains: Names of the chains.
        rows: Position [m] and quaternion xyzw of each, known to be sound, shape (C, 7).
        timestamp: Time of the poses in [s].

    Attributes:
        chains: As given.
        rows: As given.
    """

    __slots__ = ("_poses", "_timestamp", "chains", "rows")

    def __init__(self, chains: tuple[str, ...], rows: Array, timestamp: float) -> None:
        self.chains = chains
        self.rows = rows
        self._timestamp = timestamp
        self._poses: dict[str, Pose6D] | None = None

    @override
    def __getitem__(self, chain: str) -> Pose6D:
        if self._poses is None:
            self._poses = {
                name: _trusted_pose(row, self._timestamp)
                for name, row in zip(self.chains, self.rows, strict=True)
            }
        return self._poses[chain]

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(self.chains)

    @override
    def __len__(self) -> int:
        return len(self.chains)

    @override
    def __contains__(self, chain: object) -> bool:
        return chain in self.chains


def _trusted_pose(row: Array, timestamp: float) -> Pose6D:
    """Return a pose of numbers known to be sound; checking them again takes 10 us."""
    pose: Pose6D = _EMPTY(Pose6D)
    numbers = np.empty(8)
    numbers[:7], numbers[7] = row, timestamp
    numbers.setflags(write=False)
    _NUMBERS(pose, numbers)
    _POSITION(pose, numbers[:3])
    _ORIENTATION(pose, numbers[3:7])
    _TIMESTAMP(pose, timestamp)
    _VALID(pose, True)
    return pose


_EMPTY: Any = object.__new__
# Slots are written through their own descriptors: by name takes twice as long.
_POSITION, _ORIENTATION, _TIMESTAMP, _VALID, _NUMBERS = (
    getattr(Pose6D, name).__set__
    for name in ("position", "orientation", "timestamp", "valid", "numbers")
)
