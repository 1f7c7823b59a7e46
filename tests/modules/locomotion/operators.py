# SPDX-License-Identifier: Apache-2.0
"""Computed operators: two feet that stand, step, walk and rotate on the spot."""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass

from teleop_system.interfaces import Pose6D
from teleop_system.modules.locomotion.gait_detector import GaitDetector, GaitEstimate
from teleop_system.utils.poses import PoseTuple

HALF_STANCE = 0.12
ANKLE = 0.1


@dataclass(frozen=True)
class Stance:
    """Both feet at one time: x, y, height above the floor, yaw."""

    left: tuple[float, float, float, float] = (0.0, HALF_STANCE, 0.0, 0.0)
    right: tuple[float, float, float, float] = (0.0, -HALF_STANCE, 0.0, 0.0)

    def poses(self, time: float, rng: random.Random | None = None) -> tuple[Pose6D, Pose6D]:
        """Return left and right tracker, with 2 mm and 0.5 degrees of noise if `rng` is given."""
        left, right = (_pose(foot, time, rng) for foot in (self.left, self.right))
        return left, right


Operator = Callable[[float], Stance]


def estimate_of(
    detector: GaitDetector, left: Pose6D, right: Pose6D, waist: Pose6D | None = None
) -> GaitEstimate:
    """Return the estimate of a detector that is given these poses."""
    bodies = {"left": left, "right": right} | ({"waist": waist} if waist is not None else {})
    poses = {name: _floats(pose) for name, pose in bodies.items()}
    return detector.update(poses, left.timestamp, right.timestamp)


def _floats(pose: Pose6D) -> PoseTuple:
    x, y, z = pose.position.tolist()
    qx, qy, qz, qw = pose.orientation.tolist()
    return (x, y, z), (qx, qy, qz, qw)


def _pose(
    foot: tuple[float, float, float, float], time: float, rng: random.Random | None
) -> Pose6D:
    x, y, height, yaw = foot
    position, rotation = [x, y, ANKLE + height], [0.0, 0.0, yaw]
    if rng is not None:
        position = [value + rng.gauss(0.0, 0.002) for value in position]
        rotation = [value + rng.gauss(0.0, 0.009) for value in rotation]
    # Roll and pitch are noise, so small that this approximation holds.
    half = [0.5 * angle for angle in rotation]
    quaternion = [half[0], half[1], math.sin(half[2]), math.cos(half[2])]
    length = math.hypot(*quaternion)
    return Pose6D(position, [value / length for value in quaternion], time)


def standing(time: float) -> Stance:
    """Stand still."""
    return Stance()


def stepping(cadence: float, start: float = 1.0, stop: float = math.inf) -> Operator:
    """Step in place at `cadence` steps per second."""

    def operator(time: float) -> Stance:
        if not start <= time <= stop:
            return Stance()
        lift = 0.1 * math.sin(math.pi * cadence * (time - start))
        return Stance(
            (0.0, HALF_STANCE, max(0.0, lift), 0.0), (0.0, -HALF_STANCE, max(0.0, -lift), 0.0)
        )

    return operator


def walking(
    speed: float, heading: float = 0.0, start: float = 1.0, stop: float = math.inf
) -> Operator:
    """Walk at a mean speed, two steps per second, in a direction of the room."""

    def operator(time: float) -> Stance:
        (left, left_lift), (right, right_lift) = _strides(min(time, stop) - start)
        if time >= stop:
            left_lift = right_lift = 0.0
        ahead, aside = speed * math.cos(heading), speed * math.sin(heading)
        return Stance(
            (left * ahead, HALF_STANCE + left * aside, left_lift, 0.0),
            (right * ahead, -HALF_STANCE + right * aside, right_lift, 0.0),
        )

    return operator


def turning(rate: float, start: float = 1.0, stop: float = math.inf) -> Operator:
    """Rotate on the spot at a mean rate, two steps per second."""

    def operator(time: float) -> Stance:
        (left, left_lift), (right, right_lift) = _strides(min(time, stop) - start)
        if time >= stop:
            left_lift = right_lift = 0.0
        a, b = rate * left, rate * right
        return Stance(
            (-HALF_STANCE * math.sin(a), HALF_STANCE * math.cos(a), left_lift, a),
            (HALF_STANCE * math.sin(b), -HALF_STANCE * math.cos(b), right_lift, b),
        )

    return operator


def _strides(time: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the walked time of each foot, and its height."""
    if time <= 0.0:
        return (0.0, 0.0), (0.0, 0.0)
    return _stride(time), _stride(time + 0.5)


def _stride(time: float) -> tuple[float, float]:
    whole = math.floor(time)
    swing = max(0.0, 2.0 * (time - whole) - 1.0)
    return whole + 0.5 - 0.5 * math.cos(math.pi * swing), 0.1 * math.sin(math.pi * swing)
