# SPDX-License-Identifier: Apache-2.0
"""Keeps the target of a limb within reach."""

from math import inf

import numpy as np

from teleop_system.interfaces.causes import Rule
from teleop_system.modules.arm_teleop.config import LimbConfig
from teleop_system.modules.arm_teleop.limbs import pose_kernels as kernels
from teleop_system.modules.arm_teleop.limbs.limb_mapping import LimbMapping
from teleop_system.modules.arm_teleop.limbs.pose_filter import PoseFilter
from teleop_system.safety.cause_log import CauseLog
from teleop_system.solvers.chain_kinematics import Reach
from teleop_system.utils.poses import PoseTuple


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
        self._limits = limits = np.zeros(1, dtype=kernels.LIMITS)
        box = config.workspace
        limits["lower"] = -inf if box is None else box.lower
        limits["upper"] = inf if box is None else box.upper
        self._radius = inf
        self.carrier: str | None = None
        if reach is not None:
            self.carrier = reach.carrier
            self._radius = share * reach.radius + (lean if reach.carrier is not None else 0.0)
            limits["centre"] = reach.centre
        limits["radius"] = self._radius

    def target_of(
        self,
        tracker: PoseFilter,
        age: float,
        mapping: LimbMapping,
        carrier: PoseTuple,
        log: CauseLog,
    ) -> PoseTuple:
        """Return the nearest target within the limits; log which of them changed it.

        Args:
            tracker: Predicts the pose of the tracker.
            age: Age of its newest sample [s].
            mapping: Maps that pose to the requested target in the base frame.
            carrier: Target of the carrying chain; the origin without one.
            log: Takes the causes.
        """
        # In one kernel: three calls would cost more than their arithmetic.
        position, orientation, outside, distance = kernels.target_of(
            tracker.state, age, mapping.record, self._limits, *carrier
        )
        if outside > 0.0:
            log.add(Rule.WORKSPACE, self._name, outside, 0.0)
        if distance > self._radius:
            log.add(Rule.UNREACHABLE, self._name, distance, self._radius)
        return position, orientation
