# SPDX-License-Identifier: Apache-2.0
"""Tells which limit keeps a joint from being where it is wished to be."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from teleop_system.interfaces.causes import Rule
from teleop_system.robots.description import JointLimits, RobotDescription
from teleop_system.safety.cause_log import CauseLog
from teleop_system.safety.motion.motion_state import MotionState
from teleop_system.safety.motion.step import Step
from teleop_system.safety.motion.wishes import Wishes

Array = NDArray[np.float64]

BEYOND = 1e-6
"""Distance outside a position limit in [rad] that is worth a cause."""
AT_LIMIT = 0.99
"""Part of a limit from which on it counts as reached."""


class LimitReport:
    """Reports the limits that act on joints which follow.

    Args:
        robot: The robot with its limits.
        joints: All joints.
        speeds: Largest speeds that are allowed in [rad/s], shape (N,); they may change.
        lag: How far a joint may be from where it is wished to be without a cause [rad].
    """

    def __init__(
        self, robot: RobotDescription, joints: Sequence[str], speeds: Array, lag: float
    ) -> None:
        self._joints = joints
        self._limits = [robot.limits(joint) for joint in joints]
        self._speeds = speeds
        self._lag = lag
        self._lag_squared = lag * lag

    def is_due(self, wishes: Wishes) -> bool:
        """Tell whether there is anything to report, where no guard changed the motion."""
        return wishes.is_beyond or wishes.behind > self._lag_squared

    def report(
        self,
        step: Step,
        state: MotionState,
        wishes: Wishes,
        holding: NDArray[np.bool_],
        log: CauseLog,
    ) -> None:
        """Add the causes of a cycle.

        Args:
            step: What it began with.
            state: The motion at its end.
            wishes: What was commanded.
            holding: Whether a joint holds, shape (N,); what holds has its reason already.
            log: Where they are reported.
        """
        behind = np.abs(wishes.positions - state.position)
        outside = (np.abs(wishes.beyond) > BEYOND) & ~holding
        for joint in np.flatnonzero(outside).tolist():
            limit = float(wishes.positions[joint])
            asked = limit + float(wishes.beyond[joint])
            log.add(Rule.POSITION, self._joints[joint], asked, limit)
        for joint in np.flatnonzero((behind > self._lag) & ~holding).tolist():
            self._report_lag(joint, step, state, wishes, log)

    def _report_lag(
        self, joint: int, step: Step, state: MotionState, wishes: Wishes, log: CauseLog
    ) -> None:
        name, limits = self._joints[joint], self._limits[joint]
        position, velocity, acceleration = state.table[:3, joint].tolist()
        speed, allowed = abs(velocity), float(self._speeds[joint])
        wished = abs(float(wishes.velocities[joint]))
        if allowed < AT_LIMIT * limits.velocity and speed >= AT_LIMIT * allowed:
            behind = abs(float(wishes.positions[joint]) - position)
            log.add(Rule.ENGAGE_JUMP, name, behind, self._lag)
        elif wishes.aims[joint] != wishes.unclipped[joint] and wished > speed:
            log.add(Rule.STOPPING_SPEED, name, wished, _stopping_speed(limits, position))
        elif speed >= AT_LIMIT * allowed:
            log.add(Rule.VELOCITY, name, max(wished, speed), allowed)
        elif abs(acceleration) >= AT_LIMIT * limits.acceleration:
            log.add(Rule.ACCELERATION, name, abs(acceleration), limits.acceleration)
        else:
            jerk = abs(acceleration - float(step.state.acceleration[joint])) / step.duration
            # Less than that, and it was a guard that slowed the joint down, not its jerk limit.
            if jerk >= 0.5 * limits.jerk:
                log.add(Rule.JERK, name, jerk, limits.jerk)


def _stopping_speed(limits: JointLimits, position: float) -> float:
    """Return the largest speed [rad/s] from which a joint stops before the nearer limit."""
    room = max(min(limits.upper - position, position - limits.lower), 0.0)
    # The positive root of v² / (2 a) + v a / (2 j) = room.
    fading = 0.5 * limits.acceleration**2 / limits.jerk
    return math.sqrt(fading * fading + 2.0 * limits.acceleration * room) - fading
