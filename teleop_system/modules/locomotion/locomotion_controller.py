# SPDX-License-Identifier: Apache-2.0
"""Converts the motion of the operator's feet to a base velocity."""

import math
from dataclasses import dataclass

import numpy as np

from teleop_system.interfaces import Pose6D, VelocityCommand
from teleop_system.interfaces.causes import Cause, Rule, Severity
from teleop_system.modules.gate import USABLE, PoseGate, TickClock, TickTime, exchange_distance
from teleop_system.modules.gate.swap_detector import LEAP
from teleop_system.modules.locomotion.base_slew import BaseSlew
from teleop_system.modules.locomotion.config import LocomotionConfig
from teleop_system.modules.locomotion.gait_detector import GaitDetector, GaitEstimate
from teleop_system.modules.locomotion.slew_kernels import Array
from teleop_system.safety.cause_log import CauseLog
from teleop_system.safety.engage_ramp import EngageRamp

SMALLEST_STANCE = -0.08
"""Stance in [m] below which the foot trackers count as exchanged (see `GaitEstimate.stance`)."""


@dataclass(slots=True)  # Not frozen: one is created per tick, and freezing is slower.
class LocomotionOutput:
    """Command of the base in one tick.

    Attributes:
        command: Velocity of the base, within every limit.
        causes: Why the requested velocity was changed, limited or stopped.
        gait: Estimate of the operator's gait.
    """

    command: VelocityCommand
    causes: tuple[Cause, ...]
    gait: GaitEstimate


class LocomotionController:
    """Drives a base with the operator's stepping, walking and turning.

    Any fault of a foot tracker, of time or of the engagement makes the base brake at once, harder
    than it accelerates. Braking always continues to a standstill. After that, when all faults are
    gone, the base follows the feet again from a new anchor, with a ramp.
    """

    def __init__(self, config: LocomotionConfig) -> None:
        self._config = config
        self._is_holonomic = config.drive == "holonomic"
        self._linear_range = config.dead_zone, config.max_linear
        self._angular_range = config.angular_dead_zone, config.max_angular
        self._log = CauseLog()
        self._clock = TickClock("base", config.stall_after)
        # A lost foot stops the base at once: no sample is bridged.
        self._left = PoseGate("left_foot", config.gate, bridges_losses=False)
        self._right = PoseGate("right_foot", config.gate, bridges_losses=False)
        self._waist = PoseGate("waist", config.gate, Severity.INFO, bridges_losses=False)
        self._slew = BaseSlew(config)
        self._ramp = EngageRamp(config.ramp_time)
        self.reset()

    def reset(self) -> None:
        """Forget all inputs and start at rest; call it only while the base stands still."""
        self._slew.reset()
        self._detector = GaitDetector(self._config.gait)
        self._forget_inputs()
        self._clock.reset()
        self._is_braking = False
        self._ramp.restart()

    def update(
        self,
        left_foot: Pose6D | None,
        right_foot: Pose6D | None,
        waist: Pose6D | None = None,
        *,
        now: float,
        dt: float,
        engaged: bool = True,
    ) -> LocomotionOutput:
        """Return the command of this tick.

        Args:
            left_foot: Newest pose of the left foot in ROS axes, or None.
            right_foot: Newest pose of the right foot, or None.
            waist: Newest pose of the waist, or None; optional.
            now: Time in [s] on the clock of the poses' stamps.
            dt: Time since the last call in [s].
            engaged: Whether the operator has engaged the base.
        """
        time = self._clock.begin(now, dt, self._log)
        if time is TickTime.BACKWARDS:
            self._forget_inputs()
        is_timely = time is TickTime.REGULAR
        if not (math.isfinite(dt) and dt > 0.0):
            dt = 1.0 / self._config.rate  # A broken clock must not keep the base from braking.
        has_input = is_timely and self._detect_gait(left_foot, right_foot, waist, now)
        if not engaged:
            self._log.add(Rule.NOT_ENGAGED, "base", 0.0, 1.0, Severity.HOLD)
        if engaged and has_input:
            self._is_braking = self._is_braking and not self._slew.is_standing
        else:
            self._is_braking = True
            self._detector.reset()
        if self._is_braking:
            self._ramp.restart()
            self._slew.brake(dt)
        else:
            self._slew.follow(self._requested_speeds(dt), dt)
        return LocomotionOutput(self._command(), self._log.causes, self._detector.estimate)

    def _forget_inputs(self) -> None:
        for gate in (self._left, self._right, self._waist):
            gate.reset()
        self._detector.reset()

    def _detect_gait(
        self, left: Pose6D | None, right: Pose6D | None, waist: Pose6D | None, now: float
    ) -> bool:
        """Update the detector; return whether both feet have usable samples."""
        # Every gate is checked, so that every cause is reported and every gap noticed.
        before = self._left.pose, self._right.pose
        has_left = self._left.check(left, now, self._log) in USABLE
        has_right = self._right.check(right, now, self._log) in USABLE
        has_waist = self._config.with_waist and waist is not None
        has_waist = has_waist and self._waist.check(waist, now, self._log) in USABLE
        if not (has_left and has_right):
            return False
        after = self._left.pose, self._right.pose
        stance = self._update_detector(has_waist).stance
        if self._config.check_sides and stance < SMALLEST_STANCE:
            self._log.add(Rule.SWAPPED, "feet", stance, SMALLEST_STANCE, Severity.HOLD)
            return False
        exchanged = exchange_distance(before, after)
        if exchanged:
            self._log.add(Rule.SWAPPED, "feet", exchanged, LEAP, Severity.HOLD)
        return not exchanged

    def _update_detector(self, has_waist: bool) -> GaitEstimate:
        """Add the newest poses, after both feet have passed their gates."""
        left, right, waist = self._left.pose, self._right.pose, self._waist.pose
        assert left is not None
        assert right is not None
        poses = {"left": left, "right": right}
        if has_waist and waist is not None:
            poses["waist"] = waist
        return self._detector.update(poses, self._left.stamp, self._right.stamp)

    def _requested_speeds(self, dt: float) -> Array:
        """Return the requested speed of every axis of the base, within its limits, as BaseSlew."""
        config, gait = self._config, self._detector.estimate
        self._ramp.advance(dt)
        linear, angular = config.linear_scale, config.angular_scale
        forward = self._limit("linear_x", gait.forward * linear, *self._linear_range)
        lateral = self._limit("linear_y", gait.lateral * linear, *self._linear_range)
        yaw_rate = self._limit("angular_z", gait.yaw_rate * angular, *self._angular_range)
        if lateral != 0.0 and not self._is_holonomic:
            self._log.add(Rule.UNSUPPORTED, "base", lateral, 0.0)
        speeds = (forward, yaw_rate, lateral) if self._is_holonomic else (forward, yaw_rate)
        requested = np.array(speeds)
        if not self._ramp.is_complete:
            requested *= self._ramp.blend
        return requested

    def _limit(self, axis: str, speed: float, dead_zone: float, largest: float) -> float:
        """Return a speed after dead zone and saturation."""
        if abs(speed) < dead_zone:
            return 0.0
        if abs(speed) > largest:
            self._log.add(Rule.VELOCITY, f"base {axis}", abs(speed), largest)
        return max(-largest, min(largest, speed))

    def _command(self) -> VelocityCommand:
        forward, yaw_rate, *lateral = self._slew.speeds.tolist()
        stamp = self._clock.now
        if not self._is_braking:
            stamp = min(self._left.stamp, self._right.stamp)
        if not math.isfinite(stamp):
            stamp = 0.0
        # Adding 0.0 removes the sign of a negative zero.
        return VelocityCommand.unchecked(
            forward + 0.0, lateral[0] + 0.0 if lateral else 0.0, yaw_rate + 0.0, stamp
        )
