# SPDX-License-Identifier: Apache-2.0
"""Keeps end effectors inside their boxes, where boxes are configured."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.safety.cause_log import CauseLog
from teleop_system.safety.guards.guard import IGuard
from teleop_system.safety.motion.joint_motion import MotionState, Step
from teleop_system.safety.parts import RobotParts
from teleop_system.solvers.robot_geometry import RobotGeometry
from teleop_system.utils.workspace_box import WorkspaceBox

Array = NDArray[np.float64]

SLOW = 0.05
"""Distance to a wall in [m] below which the allowed speed of approach falls to zero."""
SPEED = 0.6
"""Greatest speed of approach in [m/s] at that distance."""


class WorkspaceGuard(IGuard):
    """Slows parts down that would carry an end effector out of its box.

    As with collisions, the position where the end effector comes to rest decides. Motion back
    inside is never slowed.

    Args:
        geometry: Computes the positions of end effectors.
        parts: The parts of the robot.
        boxes: Boxes by the name of the chain.
    """

    def __init__(
        self,
        geometry: RobotGeometry,
        parts: RobotParts,
        boxes: Mapping[str, WorkspaceBox],
    ) -> None:
        self._geometry = geometry
        self._walls = {
            chain: (np.array(box.lower), np.array(box.upper)) for chain, box in boxes.items()
        }
        self._columns = {
            chain: [
                part.columns
                for part in parts.values()
                if geometry.moves(chain)[part.columns].any()
            ]
            for chain in boxes
        }

    @override
    def reset(self, positions: Array) -> None:
        pass  # It depends on the present motion alone.

    @override
    def limit(self, step: Step, wanted: MotionState, log: CauseLog) -> MotionState:
        start = step.state.rest
        for chain in self._walls:
            rest = wanted.rest
            before, after = self._margin(chain, start), self._margin(chain, rest)
            allowed = self._allowed(before, step.duration)
            if after >= SLOW or before - after <= allowed + 1e-9:
                continue
            wanted = self._slowed(step, wanted, chain, start, rest, before)
            holds = before < 0.001
            severity = Severity.HOLD if holds else Severity.LIMITED
            log.add(Rule.WORKSPACE, chain, before, 0.0 if holds else SLOW, severity)
        return wanted

    def _allowed(self, margin: float, duration: float) -> float:
        fraction = min(1.0, SPEED / SLOW * duration)
        return fraction * max(min(margin, SLOW), 0.0) + max(margin - SLOW, 0.0)

    def _slowed(
        self,
        step: Step,
        wanted: MotionState,
        chain: str,
        start: Array,
        rest: Array,
        before: float,
    ) -> MotionState:
        approaching, approach = [], 0.0
        for columns in self._columns[chain]:
            pose = start.copy()
            pose[columns] = rest[columns]
            change = self._margin(chain, pose) - before
            if change < 0.0:
                approaching.append(columns)
                approach -= change
        share = np.ones(start.size)
        allowed = self._allowed(before, step.duration)
        for columns in approaching:
            share[columns] = min(1.0, allowed / approach)
        state = step.slowed(wanted, share)
        floor = min(before, 0.0)
        if self._margin(chain, state.rest) >= floor:
            return state
        for columns in self._columns[chain]:
            share[columns] = 0.0
        return step.slowed(wanted, share)

    def _margin(self, chain: str, joints: Array) -> float:
        """Return how far inside its box an end effector is in [m]; negative outside."""
        lower, upper = self._walls[chain]
        position = self._geometry.end_effector(chain, joints)
        return float(np.minimum(position - lower, upper - position).min())
