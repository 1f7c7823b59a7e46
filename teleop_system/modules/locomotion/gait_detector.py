# SPDX-License-Identifier: Apache-2.0
"""Detects the operator's gait: standing, stepping in place, walking, turning."""

import enum
import math
from dataclasses import dataclass

from teleop_system.modules.locomotion.body_motion import BodyMotion
from teleop_system.modules.locomotion.config import GaitConfig
from teleop_system.modules.locomotion.foot_motion import FootMotion
from teleop_system.modules.locomotion.step_counter import StepCounter
from teleop_system.modules.locomotion.yaw_kernels import heading_of_feet
from teleop_system.utils.poses import PoseTuple

SIDE_BY_SIDE = 0.7
"""Cosine of the angle between stance and heading above which feet are side by side."""


class GaitState(enum.Enum):
    """What the operator is doing, in order of precedence."""

    WALKING = "walking"
    STEPPING = "stepping"
    TURNING = "turning"
    STANDING = "standing"


@dataclass(slots=True)  # Not frozen: one is created per sample, and freezing is slower.
class GaitEstimate:
    """What the operator is doing, and the velocity they request by it.

    Attributes:
        state: The gait; stepping and walking may include turning.
        forward: Requested speed ahead in [m/s].
        lateral: Requested speed to the left in [m/s].
        yaw_rate: Requested yaw rate, counter-clockwise positive, in [rad/s].
        confidence: Confidence in the state, from 0 to 1.
        stance: Distance in [m] of the left foot to the left of the right foot when they last
            stood side by side; negative if the trackers are exchanged.
    """

    state: GaitState = GaitState.STANDING
    forward: float = 0.0
    lateral: float = 0.0
    yaw_rate: float = 0.0
    confidence: float = 0.0
    stance: float = 0.0


class GaitDetector:
    """Converts tracker poses (ROS axes) to a requested velocity, sample by sample.

    The base moves with the velocity of the operator's body, and stops when it stops. Stepping in
    place replaces walking in a small room. Motion counts from an anchor, where the feet rested
    last. Below `walk_start` and `turn_start` the request is exactly zero, despite noise and sway.
    """

    def __init__(self, config: GaitConfig) -> None:
        self._config = config
        self._steps = StepCounter(config)
        self._body = BodyMotion(config.window, uses_mean=config.alone == "mean")
        self._stance = 0.0
        self.reset()

    def reset(self) -> None:
        """Forget everything but the stance; the next poses set the anchor."""
        self._feet: dict[str, FootMotion] = {}
        self._time = -math.inf
        self._heading = 0.0
        self._is_walking = self._is_turning = False
        self._estimate = GaitEstimate()

    @property
    def estimate(self) -> GaitEstimate:
        """The newest estimate."""
        return self._estimate

    def update(self, poses: dict[str, PoseTuple], left: float, right: float) -> GaitEstimate:
        """Return the estimate for the newest poses; older poses change nothing.

        Args:
            poses: Poses of the trackers "left" and "right" and, if it is worn, "waist".
            left: When the left foot was measured in [s].
            right: When the right foot was measured in [s].
        """
        now = max(left, right)
        if now <= self._time:
            return self._estimate
        dt, self._time = now - self._time, now
        if not self._feet:
            self._feet = {
                "left": FootMotion(self._config, poses["left"], left),
                "right": FootMotion(self._config, poses["right"], right),
            }
            self._steps.reset()
            self._set_anchor(poses)
        times = {"left": left, "right": right}
        lifted = [
            side for side, foot in self._feet.items() if foot.update(poses[side], times[side])
        ]
        if self._is_resting:
            self._steps.reset()
            self._set_anchor(poses)
            self._estimate = GaitEstimate(confidence=1.0, stance=self._stance)
        else:
            self._steps.update(self._feet, lifted, now)
            self._body.update(poses, now)
            self._update_motion(poses, dt)
            self._estimate = self._make_estimate(now)
        return self._estimate

    @property
    def _is_resting(self) -> bool:
        left, right = self._feet["left"], self._feet["right"]
        return min(left.resting_time, right.resting_time) >= self._config.rest_after

    def _set_anchor(self, poses: dict[str, PoseTuple]) -> None:
        """Count motion from these poses; resting feet define heading and stance."""
        self._body.anchor(poses)
        self._is_walking = self._is_turning = False
        (left, left_rotation), (right, right_rotation) = poses["left"], poses["right"]
        x, y = left[0] - right[0], left[1] - right[1]
        perpendicular = math.atan2(-x, y)
        uses_stance = self._config.heading == "stance"
        self._heading = (
            perpendicular if uses_stance else heading_of_feet(left_rotation, right_rotation)
        )
        alignment = math.cos(perpendicular - self._heading)
        # With one foot far ahead of the other the stance is undefined.
        if abs(alignment) > SIDE_BY_SIDE:
            self._stance = alignment * math.hypot(x, y)

    def _update_motion(self, poses: dict[str, PoseTuple], dt: float) -> None:
        """Start and end walking and turning, each with hysteresis."""
        config = self._config
        x, y, yaw = self._body.displacement
        vx, vy, rate = self._body.rate
        distance, speed = math.hypot(x, y), math.hypot(vx, vy)
        was_moving = self._is_walking or self._is_turning
        self._is_walking = speed > config.walk_stop and (
            self._is_walking or distance > config.walk_start
        )
        self._is_turning = abs(rate) > config.turn_stop and (
            self._is_turning or abs(yaw) > config.turn_start
        )
        if self._is_walking or self._is_turning:
            return
        if was_moving:
            self._heading += yaw
            self._body.anchor(poses)
        elif self._steps.is_stepping:
            # People drift slowly while they step in place; that is not walking.
            self._body.drift(-math.expm1(-dt / config.drift_time))

    def _make_estimate(self, now: float) -> GaitEstimate:
        config = self._config
        vx, vy, rate = self._body.rate
        yaw_rate = rate if self._is_turning else 0.0
        if self._is_walking:
            heading = self._heading + self._body.displacement[2]
            cosine, sine = math.cos(heading), math.sin(heading)
            speed = math.hypot(vx, vy)
            confidence = min(1.0, speed / (4.0 * config.walk_stop))
            forward, lateral = vx * cosine + vy * sine, vy * cosine - vx * sine
            return GaitEstimate(
                GaitState.WALKING, forward, lateral, yaw_rate, confidence, self._stance
            )
        if self._steps.is_stepping:
            cadence = self._steps.cadence(now)
            confidence = min(1.0, cadence * config.longest_step / 2.0)
            return GaitEstimate(
                GaitState.STEPPING,
                cadence * config.stride,
                0.0,
                yaw_rate,
                confidence,
                self._stance,
            )
        if self._is_turning:
            confidence = min(1.0, abs(rate) / (4.0 * config.turn_stop))
            return GaitEstimate(GaitState.TURNING, 0.0, 0.0, yaw_rate, confidence, self._stance)
        return GaitEstimate(confidence=0.5, stance=self._stance)
