# SPDX-License-Identifier: Apache-2.0
"""What the operator's feet say: standing, stepping in place, walking, turning."""

import enum
import math
from dataclasses import dataclass

from teleop_system.interfaces import Pose6D
from teleop_system.modules.locomotion.body_motion import BodyMotion
from teleop_system.modules.locomotion.config import GaitConfig
from teleop_system.modules.locomotion.foot_motion import FootMotion, Place, place_of
from teleop_system.modules.locomotion.step_counter import StepCounter

SIDE_BY_SIDE = 0.7
"""Cosine of the angle between feet and heading from which they stand side by side."""


class GaitState(enum.Enum):
    """What the operator is doing, the most telling first."""

    WALKING = "walking"
    STEPPING = "stepping"
    TURNING = "turning"
    STANDING = "standing"


@dataclass(slots=True)  # One is made for every sample, and to freeze it takes longer.
class GaitEstimate:
    """What the operator is doing, and the motion they wish for by it.

    Attributes:
        state: The most telling of what goes on; stepping and walking may turn as well.
        forward: Wished speed ahead in [m/s].
        lateral: Wished speed to the left in [m/s].
        turn: Wished turning rate, counter-clockwise positive, in [rad/s].
        confidence: How clear the evidence for the state is, from 0 to 1.
        stance: How far the left foot stands to the left of the right one in [m], as of the
            last time the operator stood side by side; negative where they are exchanged.
    """

    state: GaitState = GaitState.STANDING
    forward: float = 0.0
    lateral: float = 0.0
    turn: float = 0.0
    confidence: float = 0.0
    stance: float = 0.0


class GaitDetector:
    """Turns tracker poses (ROS axes) into a wish, sample by sample.

    The wish is a velocity: the base does what the operator's body does, and stops when it stops,
    wherever in the room that is. Stepping in place stands for walking where there is no room.
    Motion counts from an anchor, the spot where the feet last rested; only when the body has left
    its surroundings (`walk_start`, `turn_start`) is there a wish at all, so that noise and sway
    give exactly none.
    """

    def __init__(self, config: GaitConfig) -> None:
        self._config = config
        self._steps = StepCounter(config)
        self._body = BodyMotion(config.window, trusts=config.alone == "mean")
        self._stance = 0.0
        self.reset()

    def reset(self) -> None:
        """Forget all but the stance; the next poses are the anchor."""
        self._feet: dict[str, FootMotion] = {}
        self._time = -math.inf
        self._heading = 0.0
        self._is_walking = self._is_turning = False
        self._estimate = GaitEstimate()

    @property
    def estimate(self) -> GaitEstimate:
        """The newest estimate."""
        return self._estimate

    def update(self, left: Pose6D, right: Pose6D, waist: Pose6D | None = None) -> GaitEstimate:
        """Return what the newest poses say; poses that are no newer change nothing."""
        now = max(left.timestamp, right.timestamp)
        if now <= self._time:
            return self._estimate
        dt, self._time = now - self._time, now
        places = {"left": place_of(left), "right": place_of(right)}
        times = {"left": left.timestamp, "right": right.timestamp}
        if waist is not None:
            places["waist"] = place_of(waist)
        if not self._feet:
            self._feet = {
                side: FootMotion(self._config, places[side], time) for side, time in times.items()
            }
            self._steps.reset()
            self._set_anchor(places)
        lifted = tuple(
            [side for side, foot in self._feet.items() if foot.update(places[side], times[side])]
        )
        if self._is_resting:
            # All counts from here, so that nothing before need be worked out.
            self._steps.reset()
            self._set_anchor(places)
            self._estimate = GaitEstimate(confidence=1.0, stance=self._stance)
        else:
            self._steps.update(self._feet, lifted, now)
            self._body.update(places, now)
            self._note_motion(places, dt)
            self._estimate = self._judge(now)
        return self._estimate

    @property
    def _is_resting(self) -> bool:
        left, right = self._feet["left"], self._feet["right"]
        return min(left.resting_time, right.resting_time) >= self._config.rest_after

    def _set_anchor(self, places: dict[str, Place]) -> None:
        """Count from here on; the feet rest, and tell ahead and their sides."""
        self._body.anchor(places)
        self._is_walking = self._is_turning = False
        (left, left_turn), (right, right_turn) = places["left"], places["right"]
        x, y = left[0] - right[0], left[1] - right[1]
        square = math.atan2(-x, y)
        is_strapped = self._config.heading == "stance"
        self._heading = square if is_strapped else _heading(left_turn, right_turn)
        side = math.cos(square - self._heading)
        # With one foot well ahead of the other their sides tell nothing.
        if abs(side) > SIDE_BY_SIDE:
            self._stance = side * math.hypot(x, y)

    def _note_motion(self, places: dict[str, Place], dt: float) -> None:
        """Begin and end walking and turning, each with its hysteresis."""
        config = self._config
        x, y, turn = self._body.displacement
        vx, vy, rate = self._body.rate
        walked, speed = math.hypot(x, y), math.hypot(vx, vy)
        was_moving = self._is_walking or self._is_turning
        self._is_walking = speed > config.walk_stop and (
            self._is_walking or walked > config.walk_start
        )
        self._is_turning = abs(rate) > config.turn_stop and (
            self._is_turning or abs(turn) > config.turn_start
        )
        if self._is_walking or self._is_turning:
            return
        if was_moving:
            self._heading += turn
            self._body.anchor(places)
        elif self._steps.is_stepping:
            # Nobody steps on the same spot for long; what creeps is not walking.
            self._body.drift(-math.expm1(-dt / config.drift_time))

    def _judge(self, now: float) -> GaitEstimate:
        config = self._config
        vx, vy, rate = self._body.rate
        turn = rate if self._is_turning else 0.0
        if self._is_walking:
            heading = self._heading + self._body.displacement[2]
            cosine, sine = math.cos(heading), math.sin(heading)
            speed = math.hypot(vx, vy)
            confidence = min(1.0, speed / (4.0 * config.walk_stop))
            forward, lateral = vx * cosine + vy * sine, vy * cosine - vx * sine
            return GaitEstimate(
                GaitState.WALKING, forward, lateral, turn, confidence, self._stance
            )
        if self._steps.is_stepping:
            cadence = self._steps.cadence(now)
            confidence = min(1.0, cadence * config.longest_step / 2.0)
            return GaitEstimate(
                GaitState.STEPPING, cadence * config.stride, 0.0, turn, confidence, self._stance
            )
        if self._is_turning:
            confidence = min(1.0, abs(rate) / (4.0 * config.turn_stop))
            return GaitEstimate(GaitState.TURNING, 0.0, 0.0, turn, confidence, self._stance)
        return GaitEstimate(confidence=0.5, stance=self._stance)


def _heading(left: list[float], right: list[float]) -> float:
    """Return the mean direction of the trackers' x axes on the floor in [rad]."""
    x = y = 0.0
    for qx, qy, qz, qw in (left, right):
        x += 1.0 - 2.0 * (qy * qy + qz * qz)
        y += 2.0 * (qx * qy + qz * qw)
    return math.atan2(y, x)
