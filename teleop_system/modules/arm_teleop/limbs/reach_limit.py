# SPDX-License-Identifier: Apache-2.0
"""Keeps the target of a limb where the limb can go."""

from collections.abc import Callable
from math import inf

import numpy as np
from numpy.typing import NDArray

from teleop_system.interfaces.causes import Rule
from teleop_system.modules.arm_teleop.chain_kinematics import Reach
from teleop_system.modules.arm_teleop.config import LimbConfig
from teleop_system.modules.arm_teleop.limbs import limb_kernels as kernels
from teleop_system.modules.arm_teleop.spatial import ORIGIN, Placement
from teleop_system.safety.cause_log import CauseLog


class ReachLimit:
    """Pulls targets into a limb's workspace and onto the sphere that it reaches.

    Both take the nearest point, which moves no faster than the target does. The sphere is where
    the operator wants what carries the limb, not where that is: a torso that leans after a hand
    would take the hand's own limit along, and never come to an end.

    Args:
        name: The limb, as causes should call it.
        config: With its workspace.
        reach: The sphere; None where nobody knows it.
        share: Part of the sphere's radius to stay within.
        lean: How far what carries the limb may be taken along in [m].
        aim: Tells where a chain should be in the base frame.

    Attributes:
        terms: Workspace and sphere as numbers; see `limb_kernels`.
        carrier: The chain that carries the sphere, or None.
    """

    def __init__(
        self,
        name: str,
        config: LimbConfig,
        reach: Reach | None,
        *,
        share: float,
        lean: float,
        aim: Callable[[str], Placement],
    ) -> None:
        self._name = name
        box = config.workspace
        lower, upper = (box.lower, box.upper) if box is not None else ((-inf,) * 3, (inf,) * 3)
        centre, radius, self.carrier = (0.0, 0.0, 0.0), inf, None
        if reach is not None:
            centre, self.carrier = reach.centre, reach.carrier
            radius = share * reach.radius + (lean if reach.carrier is not None else 0.0)
        self.terms: NDArray[np.float64] = np.array([*lower, *upper, *centre, radius])
        self._aim = aim

    def apply(self, target: Placement, log: CauseLog) -> Placement:
        """Return the nearest target within the limits, and log where it is another."""
        carrier = ORIGIN if self.carrier is None else self._aim(self.carrier)
        position, outside, away = kernels.limited(self.terms, carrier, target[0])
        self.report(outside, away, log)
        return position, target[1]

    def report(self, outside: float, away: float, log: CauseLog) -> None:
        """Log what limits a target, as `limb_kernels.limited` tells it."""
        if outside != 0.0:
            log.add(Rule.WORKSPACE, self._name, outside, 0.0)
        if away != 0.0:
            log.add(Rule.UNREACHABLE, self._name, away, float(self.terms[-1]))
