# SPDX-License-Identifier: Apache-2.0
"""Keeps the target of a limb where the limb can go."""

from collections.abc import Callable

from teleop_system.modules.arm_teleop.chain_kinematics import Reach
from teleop_system.modules.arm_teleop.config import LimbConfig
from teleop_system.modules.arm_teleop.spatial import Placement, Vector, distance, rotate
from teleop_system.modules.pose_gate import CauseLog
from teleop_system.runtime.causes import Rule


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
        self._box = config.workspace
        self._reach = reach
        self._radius = 0.0
        if reach is not None:
            self._radius = share * reach.radius + (lean if reach.carrier is not None else 0.0)
        self._aim = aim

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
        cx, cy, cz = reach.centre
        if reach.carrier is not None:
            (ox, oy, oz), q = self._aim(reach.carrier)
            x, y, z = rotate(q, reach.centre)
            cx, cy, cz = ox + x, oy + y, oz + z
        radius = self._radius
        away = distance((cx, cy, cz), position)
        if away <= radius:
            return position
        log.add(Rule.UNREACHABLE, self._name, away, radius)
        k, (x, y, z) = radius / away, position
        return cx + k * (x - cx), cy + k * (y - cy), cz + k * (z - cz)
