# SPDX-License-Identifier: Apache-2.0
"""Whether a command fits its part: numbers, names and stamp."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from teleop_system.interfaces.causes import Rule
from teleop_system.safety.parts import Part
from teleop_system.safety.values import PartCommand

Array = NDArray[np.float64]


@dataclass(slots=True, eq=False)
class CheckedCommand(PartCommand):
    """A command that `CommandCheck` has read: finite positions in the part's own order.

    Attributes:
        positions: Joint positions in [rad] or [m]; a copy, so its sender cannot change it.
    """

    positions: Array


class Fault(NamedTuple):
    """What is wrong with a command, as a cause reports it."""

    rule: Rule
    subject: str
    value: float
    limit: float


class CommandCheck:
    """Reads the commands of one part.

    Args:
        part: The part.
    """

    def __init__(self, part: Part) -> None:
        self._part = part
        self._shape = (len(part.joints),)
        self._orders: dict[tuple[str, ...], NDArray[np.intp]] = {}

    def read(self, command: PartCommand) -> CheckedCommand | Fault:
        """Return a command that can be followed, or why this one cannot be.

        A command that was checked before passes as it is.
        """
        if isinstance(command, CheckedCommand):
            return command
        positions = self.positions(command)
        if isinstance(positions, Fault):
            return positions
        return CheckedCommand(positions, command.timestamp)

    def positions(self, command: PartCommand) -> Array | Fault:
        """Return finite positions in the part's own order, or why there are none."""
        if isinstance(command, CheckedCommand):
            return command.positions
        name, size = self._part.name, len(self._part.joints)
        if not _is_time(command.timestamp):
            return Fault(Rule.NON_FINITE, f"{name} time stamp", math.nan, 0.0)
        try:
            positions = np.array(command.positions, np.float64)
        except (TypeError, ValueError):
            return Fault(Rule.WRONG_SHAPE, name, math.nan, size)
        except OverflowError:  # An integer that no float can hold.
            return Fault(Rule.NON_FINITE, name, math.inf, 0.0)
        if positions.shape != self._shape:
            return Fault(Rule.WRONG_SHAPE, name, positions.size, size)
        if command.names is not None:
            order = self._order(command.names)
            if order is None:
                count = len(command.names) if hasattr(command.names, "__len__") else math.nan
                return Fault(Rule.WRONG_SHAPE, f"{name} names", count, size)
            positions = positions[order]
        if not all(map(isfinite, positions.tolist())):
            first = int(np.flatnonzero(~np.isfinite(positions))[0])
            return Fault(Rule.NON_FINITE, self._part.joints[first], float(positions[first]), 0.0)
        return positions

    def _order(self, names: Sequence[str]) -> NDArray[np.intp] | None:
        """Return the index of each joint of the part among the names, or None."""
        try:
            key = tuple(names)
            order = self._orders.get(key)
        except TypeError:
            return None
        if order is None and sorted(map(str, key)) == sorted(self._part.joints):
            order = np.array([key.index(joint) for joint in self._part.joints])
            self._orders[key] = order
        return order


def _is_time(stamp: object) -> bool:
    try:
        return isinstance(stamp, (int, float)) and isfinite(stamp)
    except OverflowError:
        return False
