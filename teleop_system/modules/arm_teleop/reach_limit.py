# SPDX-License-Identifier: Apache-2.0
"""Keeps the target of a limb where the limb can go."""

from collections.abc import Callable

from teleop_system.modules.arm_teleop.chain_kinematics import Reach
from teleop_system.modules.arm_teleop.config import LimbConfig
from teleop_system.modules.arm_teleop.spatial import Placement, Vector, distance, rotate
from teleop_system.modules.pose_gate import CauseLog
from teleop_system.runtime.causes import Rule

NEAR = 0.1
"""Distance in [m] from the end of its reach at which a limb's centre has to be known exactly."""
LOOK_AGAIN = 10
"""Ticks for which the last centre is good enough elsewhere; it moves by centimetres meanwhile."""


class ReachLimit:
    """Pulls targets into a limb's workspace and onto the sphere that it reaches.

    Both take the nearest point, which moves no faster than the target does.

    Args:
        name: The limb, as causes should call it.
        config: With its workspace.
        reach: The sphere; None where nobody knows it.
        share: Part of the sphere's radius to stay within.
        place: Tells where a chain is in the base frame.
    """

    def __init__(
        self,
        name: str,
        config: LimbConfig,
        reach: Reach | None,
        share: float,
        place: Callable[[str], Placement],
    ) -> None:
        self._name = name
        self._box = config.workspace
        self._reach = reach
        self._radius = share * reach.radius if reach is not None else 0.0
        self._place = place
        self.reset()

    def reset(self) -> None:
        """Look anew where the limb is carried."""
        self._centre: Vector = self._reach.centre if self._reach is not None else (0.0, 0.0, 0.0)
        self._ticks = 0

    def apply(self, target: Placement, log: CauseLog) -> Placement:
        """Return the nearest target within the limits, and log where it is another."""
        position = target[0]
        if self._box is not None:
            position = self._boxed(position, log)
        if self._reach is not None:
            position = self._reached(position, self._reach, log)
        return target if position is target[0] else (position, target[1])

    def _boxed(self, position: Vector, log: CauseLog) -> Vector:
        assert self._box is not None
        (ax, ay, az), (bx, by, bz) = self._box.lower, self._box.upper
        x, y, z = position
        inside = min(max(x, ax), bx), min(max(y, ay), by), min(max(z, az), bz)
        if inside == position:
            return position
        log.add(Rule.WORKSPACE, self._name, distance(inside, position), 0.0)
        return inside

    def _reached(self, position: Vector, reach: Reach, log: CauseLog) -> Vector:
        radius = self._radius
        away = distance(self._centre, position)
        if reach.carrier is not None:
            self._ticks -= 1
            if away > radius - NEAR or self._ticks < 0:
                self._ticks = LOOK_AGAIN
                (ox, oy, oz), q = self._place(reach.carrier)
                x, y, z = rotate(q, reach.centre)
                self._centre = (ox + x, oy + y, oz + z)
                away = distance(self._centre, position)
        if away <= radius:
            return position
        log.add(Rule.UNREACHABLE, self._name, away, radius)
        k, (cx, cy, cz), (x, y, z) = radius / away, self._centre, position
        return cx + k * (x - cx), cy + k * (y - cy), cz + k * (z - cz)
