# SPDX-License-Identifier: Apache-2.0
"""What a person does, part by part of the body, as rotations over time.

Axes are those of BVH: x to the left, y up, z ahead. Every part is turned against its parent, from
a T-pose.
"""

import itertools
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from teleop_system.mocap.body_path import smooth
from teleop_system.mocap.mapped_motion import smooth_step
from teleop_system.mocap.synthesis.skeletons import ANKLE, HIP_DROP, SHANK, THIGH

Array = NDArray[np.float64]

GLIDE = 0.12
"""Width in [s] over which the hips are carried from one foot to the other."""
SIGN = {"Left": 1.0, "Right": -1.0}
Key = tuple[float, float]
"""A time in [s] and a value to be at by then."""


def keyed(times: Array, *keys: Key) -> Array:
    """Return values that go smoothly from key to key, and rest at each."""
    values = np.full(len(times), keys[0][1])
    for (start, before), (end, after) in itertools.pairwise(keys):
        share = smooth_step((times - start) / (end - start))
        values = np.where(times >= start, before + (after - before) * share, values)
    return values


def about(axis: str, angles: Array) -> Array:
    """Return rotations about an axis, shape (F, 3, 3)."""
    first, second = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    turns = np.tile(np.eye(3), (len(angles), 1, 1))
    turns[:, first, first] = turns[:, second, second] = np.cos(angles)
    turns[:, second, first] = np.sin(angles)
    turns[:, first, second] = -np.sin(angles)
    return turns


@dataclass(slots=True, eq=False)
class Performance:
    """A motion of the whole body.

    Attributes:
        times: Of the frames in [s], shape (F,).
        turns: Rotation of each part of the body, shape (F, 3, 3).
        hips: Place of the hips in [m], shape (F, 3).
    """

    times: Array
    turns: dict[str, Array] = field(default_factory=dict)
    hips: Array = field(default_factory=lambda: np.zeros((0, 3)))

    def arm(
        self, side: str, *, raised: Array, out: Array, bent: Array, twisted: Array | None = None
    ) -> None:
        """Place an arm.

        Args:
            side: "Left" or "Right".
            raised: Angle of the upper arm ahead from hanging in [rad].
            out: Angle of the upper arm away from the body in [rad].
            bent: Angle of the elbow in [rad].
            twisted: Turn of the upper arm about itself, inwards, in [rad].
        """
        sign = SIGN[side]
        upper = about("x", -raised) @ about("z", sign * (out - 0.5 * np.pi))
        if twisted is not None:
            upper = upper @ about("x", -twisted)
        self.turns[f"{side} arm"] = upper
        self.turns[f"{side} forearm"] = about("y", -sign * bent)

    def finger(self, side: str, name: str, curl: Array) -> None:
        """Curl a finger from straight (0) to bent to the palm (1)."""
        sign = SIGN[side]
        if name == "Thumb":
            for number, largest in ((1, 0.6), (2, 0.6), (3, 0.7)):
                self.turns[f"{side} {name} {number}"] = about("y", sign * largest * curl)
            return
        for number, largest in ((1, 1.4), (2, 1.6), (3, 1.0)):
            self.turns[f"{side} {name} {number}"] = about("z", -sign * largest * curl)

    def stand(self, yaw: Array | None = None) -> None:
        """Stand on the spot, turned by an angle [rad]."""
        frames = len(self.times)
        yaw = np.zeros(frames) if yaw is None else yaw
        self.turns["hips"] = about("y", yaw)
        self._put_on_floor(yaw)

    def walk(
        self, activity: Array, *, swing: float, rate: float, yaw: Array | None = None
    ) -> None:
        """Walk as much as `activity` from 0 to 1 says, so that the foot on the floor stays there.

        Args:
            activity: From standing to walking.
            swing: Largest angle of a thigh from the vertical in [rad]; 0 is stepping in place.
            rate: Pairs of steps per second in [Hz].
            yaw: Heading in [rad].
        """
        yaw = np.zeros(len(self.times)) if yaw is None else yaw
        phase = 2.0 * np.pi * rate * self.times
        for side, shift in (("Left", 0.0), ("Right", np.pi)):
            thigh = swing * activity * np.sin(phase + shift)
            # The knee bends while the thigh comes forward, which lifts the foot.
            lift = activity * np.maximum(np.cos(phase + shift), 0.0) ** 2
            thigh = thigh + 0.35 * lift
            knee = 0.75 * lift
            self.turns[f"{side} thigh"] = about("x", -thigh)
            self.turns[f"{side} shank"] = about("x", knee)
            self.turns[f"{side} foot"] = about("x", thigh - knee)
        self.turns["hips"] = about("y", yaw)
        self._put_on_floor(yaw)

    def _put_on_floor(self, yaw: Array) -> None:
        """Move the hips so that the lower foot is on the floor, and stays where it is."""
        feet = np.stack([self._foot(side) for side in SIGN])  # Two feet, frames, x y z.
        lower = np.argmin(feet[:, :, 1], axis=0)
        frames = np.arange(len(self.times))
        height = -feet[lower, frames, 1] + ANKLE
        ahead = np.zeros(len(frames))
        # The foot that is lower in both frames of a step carries it.
        way = -(feet[lower[1:], frames[1:], 2] - feet[lower[1:], frames[:-1], 2])
        ahead[1:] = way
        # A body does not jerk from foot to foot; ankles give way instead.
        width = GLIDE * float(len(frames) - 1) / float(self.times[-1] - self.times[0])
        ahead, height = smooth(ahead, width), smooth(height, width)
        hips = np.zeros((len(frames), 3))
        hips[:, 0] = np.cumsum(ahead * np.sin(yaw))
        hips[:, 2] = np.cumsum(ahead * np.cos(yaw))
        hips[:, 1] = height
        self.hips = hips

    def _foot(self, side: str) -> Array:
        """Return an ankle as the hips see it, shape (F, 3)."""
        still = np.tile(np.eye(3), (len(self.times), 1, 1))
        thigh = self.turns.get(f"{side} thigh", still)
        shank = thigh @ self.turns.get(f"{side} shank", still)
        found: Array = thigh @ np.array([0.0, -THIGH, 0.0]) + shank @ np.array([0.0, -SHANK, 0.0])
        return found - (0.0, HIP_DROP, 0.0)
