# SPDX-License-Identifier: Apache-2.0
"""Keeps the target of a limb within reach."""

from math import dist

from teleop_system.interfaces.causes import Rule
from teleop_system.modules.arm_teleop.config import LimbConfig
from teleop_system.modules.arm_teleop.limbs.pose_kernels import nearest_in_sphere
from teleop_system.safety.cause_log import CauseLog
from teleop_system.solvers.chain_kinematics import Reach
from teleop_system.utils.poses import PoseTuple
from teleop_system.utils.quaternion_kernels import Vector
from teleop_system.utils.workspace_box import WorkspaceBox


class ReachLimit:
    """Moves targets to the nearest point of a limb's workspace and of the sphere it reaches.

    The nearest point never moves faster than the target. The sphere is carried by the target of
    the chain that carries the limb, not by its present pose: a torso that leans after a hand
    would otherwise move the hand's own limit, and never stop.

    Args:
        name: The limb, as causes name it.
        config: With its workspace.
        reach: The sphere; None if it is unknown.
        share: Part of the sphere's radius to stay within.
        lean: How far the carrying chain may lean after the limb in [m].

    Attributes:
        carrier: The chain that carries the sphere, or None.
    """

    def __init__(
        self, name: str, config: LimbConfig, reach: Reach | None, *, share: float, lean: float
    ) -> None:
        self._name = name
        self._workspace = config.workspace
        self._centre: Vector | None = None
        self._radius = 0.0
        self.carrier: str | None = None
        if reach is not None:
            self._centre, self.carrier = reach.centre, reach.carrier
            self._radius = share * reach.radius + (lean if reach.carrier is not None else 0.0)

    def apply(self, target: PoseTuple, carrier: PoseTuple, log: CauseLog) -> PoseTuple:
        """Return the nearest target within the limits; log which of them changed it.

        Args:
            target: The requested target in the base frame.
            carrier: Target of the carrying chain; the origin without one.
            log: Takes the causes.
        """
        position, orientation = target
        if self._workspace is not None:
            position = self._in_box(position, self._workspace, log)
        if self._centre is None:
            return position, orientation
        position, distance = nearest_in_sphere(position, self._centre, self._radius, *carrier)
        if distance > self._radius:
            log.add(Rule.UNREACHABLE, self._name, distance, self._radius)
        return position, orientation

    def _in_box(self, position: Vector, box: WorkspaceBox, log: CauseLog) -> Vector:
        (x, y, z), lower, upper = position, box.lower, box.upper
        inside = (
            min(max(x, lower[0]), upper[0]),
            min(max(y, lower[1]), upper[1]),
            min(max(z, lower[2]), upper[2]),
        )
        if inside != position:
            log.add(Rule.WORKSPACE, self._name, dist(inside, position), 0.0)
        return inside
