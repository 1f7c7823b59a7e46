# SPDX-License-Identifier: Apache-2.0
"""Converts the operator's head orientation to pan and tilt of the robot's head."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from teleop_system.exceptions import InvalidPoseError
from teleop_system.interfaces import Pose6D
from teleop_system.interfaces.causes import Cause, Rule, Severity
from teleop_system.modules.camera.config import CameraConfig
from teleop_system.modules.camera.gaze import gaze_angles
from teleop_system.modules.camera.neck import Angles, Neck
from teleop_system.modules.gate import (
    USABLE,
    PoseGate,
    TickClock,
    TickTime,
    Verdict,
    malformed_rule,
)
from teleop_system.safety.cause_log import CauseLog
from teleop_system.safety.engage_ramp import EngageRamp
from teleop_system.utils.filters import OneEuroRotationFilter


@dataclass(slots=True)  # Not frozen: one is created per tick, and freezing is slower.
class PanTiltOutput:
    """Command of the robot's head in one tick.

    Attributes:
        pan: Angle of the pan joint, left positive, in [rad].
        tilt: Angle of the tilt joint, down positive, in [rad].
        causes: Why the head is limited or holds.
        timestamp: Time of measurement of the operator's head in [s]; the current time while the
            head holds.
    """

    pan: float
    tilt: float
    causes: tuple[Cause, ...]
    timestamp: float


class CameraController:
    """Moves the robot's head like the operator's, relative to a centre.

    Positive tilt looks down. After any input error the head brakes and holds; when it follows
    again, it catches up along a ramp.
    """

    def __init__(self, config: CameraConfig) -> None:
        self._config = config
        self._log = CauseLog()
        self._clock = TickClock("head", config.stall_after)
        self._gate = PoseGate("head", config.gate)
        self._filter = OneEuroRotationFilter(
            config.min_cutoff, config.beta, config.derivative_cutoff
        )
        self._neck = Neck(config)
        self._ramp = EngageRamp(config.ramp_time)
        self.reset()

    def reset(self, pan: float = 0.0, tilt: float = 0.0) -> None:
        """Forget all inputs, and hold at these angles in [rad]."""
        self._neck.reset(pan, tilt)
        self._clock.reset()
        self._forget_input()
        self._center: Angles | None = None
        self._side = 0.0
        self._is_following = False
        self._begin_ramp()

    def recenter(self) -> None:
        """Use the next usable sample as the new centre."""
        self._center = None

    def update(
        self, head: Pose6D | ArrayLike | None, *, now: float, dt: float, engaged: bool = True
    ) -> PanTiltOutput:
        """Return the command of this tick.

        Args:
            head: Newest pose of the head in ROS axes, or a quaternion xyzw measured now, or None.
            now: Time in [s] on the clock of the poses' stamps.
            dt: Time since the last call in [s].
            engaged: Whether the operator has engaged the head.
        """
        time = self._clock.begin(now, dt, self._log)
        if time is TickTime.BACKWARDS:
            self._forget_input()
        is_timely = time is TickTime.REGULAR
        if not (math.isfinite(dt) and dt > 0.0):
            dt = 1.0 / self._config.rate
        has_input = is_timely and self._filter_sample(self._as_pose(head, now), now)
        if not engaged:
            self._log.add(Rule.NOT_ENGAGED, "head", 0.0, 1.0, Severity.HOLD)
            if self._config.center_on_engage:
                self._center = None
        if engaged and has_input:
            self._follow(dt)
        else:
            self._is_following = False
            self._neck.hold(dt)
        stamp = self._gate.stamp if self._is_following else self._clock.now
        if not math.isfinite(stamp):
            stamp = 0.0
        return PanTiltOutput(*self._neck.angles, self._log.causes, stamp)

    def _as_pose(self, head: Pose6D | ArrayLike | None, now: float) -> Pose6D | None:
        if head is None or isinstance(head, Pose6D):
            return head
        try:
            return Pose6D(np.zeros(3), np.asarray(head, dtype=np.float64), now)
        except InvalidPoseError as error:
            rule = malformed_rule(error)
            self._log.add(rule, "head", float(np.size(head)), 4.0, Severity.HOLD)
            return None

    def _filter_sample(self, pose: Pose6D | None, now: float) -> bool:
        """Filter a new sample; return whether there is a usable one."""
        gate, last = self._gate, self._gate.stamp
        verdict = gate.check(pose, now, self._log)
        if verdict is Verdict.JUMPED:
            self._filter.reset()
        elif verdict is Verdict.NEW and gate.pose is not None:
            self._filter.update(gate.pose[1], gate.stamp - last)
        return verdict in USABLE

    def _forget_input(self) -> None:
        self._gate.reset()
        self._filter.reset()

    def _begin_ramp(self) -> None:
        self._ramp.restart()
        self._start = self._neck.begin()

    def _follow(self, dt: float) -> None:
        """Move towards the direction of the operator's gaze."""
        assert self._filter.value is not None
        angles = gaze_angles(self._filter.value)
        if self._center is None:
            self._center = angles
            self._side = 0.0
            self._is_following = False
        if not self._is_following:
            self._is_following = True
            self._begin_ramp()
        else:
            self._ramp.advance(dt)
        pan, tilt = self._targets(angles, self._center)
        (start_pan, start_tilt), blend = self._start, self._ramp.blend
        pan = start_pan + blend * (pan - start_pan)
        self._neck.follow(pan, start_tilt + blend * (tilt - start_tilt), dt)

    def _targets(self, gaze: Angles, center: Angles) -> Angles:
        """Return pan and tilt of the operator's gaze, within their ranges."""
        config = self._config
        relative_yaw = math.remainder(gaze[0] - center[0], 2.0 * math.pi)
        pan = config.pan_scale * relative_yaw
        if config.pan_lower <= pan <= config.pan_upper:
            self._side = math.copysign(1.0, pan)
        else:
            # An operator who looks backwards stays at the limit of the same side; otherwise the
            # head would swing through the front to the other side.
            self._side = self._side or math.copysign(1.0, pan)
            limit = config.pan_upper if self._side > 0.0 else config.pan_lower
            self._log.add(Rule.POSITION, "pan", pan, limit)
            pan = limit
        tilt = config.tilt_scale * (gaze[1] - (center[1] if config.center_tilt else 0.0))
        clamped = min(config.tilt_upper, max(config.tilt_lower, tilt))
        if clamped != tilt:
            self._log.add(Rule.POSITION, "tilt", tilt, clamped)
        return pan, clamped
