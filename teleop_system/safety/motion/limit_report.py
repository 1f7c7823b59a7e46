# SPDX-License-Identifier: Apache-2.0
"""Reports which limit keeps a joint away from its command."""

import math

import numpy as np

from teleop_system.interfaces.causes import Rule
from teleop_system.robots.description import JointLimits, RobotDescription
from teleop_system.safety.cause_log import CauseLog
from teleop_system.safety.motion.command_kernels import find_limited
from teleop_system.safety.motion.commands import CommandBuffer
from teleop_system.safety.motion.joint_motion import MotionLimits, MotionState, Step
from teleop_system.safety.parts import RobotParts

AT_LIMIT = 0.99
"""Share of a limit from which on it counts as reached."""


class LimitReport:
    """Reports the limits that act on the joints that follow.

    Args:
        robot: The robot with its limits.
        parts: Its joints.
        present: The limits at present, where a ramp may have lowered speeds.
        lag: How far a joint may be from its command without a cause [rad].
    """

    def __init__(
        self, robot: RobotDescription, parts: RobotParts, present: MotionLimits, lag: float
    ) -> None:
        self._joints = parts.joints
        self._limits = [robot.limits(joint) for joint in parts.joints]
        self._present = present
        self._lag = lag
        self._is_outside, self._is_behind = np.zeros((2, parts.size), dtype=bool)

    def report(
        self,
        step: Step,
        state: MotionState,
        commands: CommandBuffer,
        log: CauseLog,
    ) -> None:
        """Add the causes of a cycle.

        Args:
            step: What it began with.
            state: The motion at its end.
            commands: What was commanded; the reason why a joint holds is already reported.
            log: Where causes are reported.
        """
        if not find_limited(
            commands.joints,
            state.position,
            commands.is_held,
            self._lag,
            self._is_outside,
            self._is_behind,
        ):
            return
        for joint in np.flatnonzero(self._is_outside).tolist():
            limit = float(commands.position[joint])
            requested = limit + float(commands.excess[joint])
            log.add(Rule.POSITION, self._joints[joint], requested, limit)
        for joint in np.flatnonzero(self._is_behind).tolist():
            self._report_lag(joint, step, state, commands, log)

    def _report_lag(
        self,
        joint: int,
        step: Step,
        state: MotionState,
        commands: CommandBuffer,
        log: CauseLog,
    ) -> None:
        lag = abs(float(commands.position[joint] - state.position[joint]))
        name, limits = self._joints[joint], self._limits[joint]
        speed, acceleration = abs(float(state.velocity[joint])), float(state.acceleration[joint])
        allowed = float(self._present.speed[joint])
        requested = abs(float(commands.velocity[joint]))
        is_cut = commands.target[joint] != commands.unlimited[joint]
        if allowed < AT_LIMIT * limits.velocity and speed >= AT_LIMIT * allowed:
            log.add(Rule.ENGAGE_JUMP, name, lag, self._lag)
        elif is_cut and requested > speed:
            largest = _stopping_speed(limits, float(state.position[joint]))
            log.add(Rule.STOPPING_SPEED, name, requested, largest)
        elif speed >= AT_LIMIT * allowed:
            log.add(Rule.VELOCITY, name, max(requested, speed), allowed)
        elif abs(acceleration) >= AT_LIMIT * limits.acceleration:
            log.add(Rule.ACCELERATION, name, abs(acceleration), limits.acceleration)
        else:
            jerk = abs(acceleration - float(step.state.acceleration[joint])) / step.duration
            # Below that, a guard slowed the joint down rather than its jerk limit.
            if jerk >= 0.5 * limits.jerk:
                log.add(Rule.JERK, name, jerk, limits.jerk)


def _stopping_speed(limits: JointLimits, position: float) -> float:
    """Return the largest speed [rad/s] from which a joint stops before the nearer limit."""
    room = max(min(limits.upper - position, position - limits.lower), 0.0)
    # The positive root of v² / (2 a) + v a / (2 j) = room.
    fading = 0.5 * limits.acceleration**2 / limits.jerk
    return math.sqrt(fading * fading + 2.0 * limits.acceleration * room) - fading
