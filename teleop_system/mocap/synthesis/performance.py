# SPDX-License-Identifier: Apache-2.0
"""Rotations of a person's body parts over time.

Axes are those of BVH: x to the left, y up, z ahead. Rotations are relative to the parent part,
from a T-pose.
"""

import itertools
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from teleop_system.mocap.body_path import gaussian_smooth
from teleop_system.mocap.mapped_motion import smooth_step
from teleop_system.mocap.synthesis.skeletons import ANKLE, HIP_DROP, SHANK, THIGH

Array = NDArray[np.float64]

GLIDE = 0.12
"""Width in [s] of the window that smooths the hips between two steps."""
SIGN = {"Left": 1.0, "Right": -1.0}
Key = tuple[float, float]
"""A time in [s] and the value at that time."""


def keyed(times: Array, *keys: Key) -> Array:
    """Return minimum-jerk transitions from key to key, at rest at each."""
    values = np.full(len(times), keys[0][1])
    for (start, before), (end, after) in itertools.pairwise(keys):
        share = smooth_step((times - start) / (end - start))
        values = np.where(times >= start, before + (after - before) * share, values)
    return values


def about(axis: str, angles: Array) -> Array:
    """Return rotations about an axis, shape (F, 3, 3)."""
    first, second = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    matrices = np.tile(np.eye(3), (len(angles), 1, 1))
    matrices[:, first, first] = matrices[:, second, second] = np.cos(angles)
    matrices[:, second, first] = np.sin(angles)
    matrices[:, first, second] = -np.sin(angles)
    return matrices


@dataclass(slots=True, eq=False)
class Performance:
    """A motion of the whole body.

    Attributes:
        times: Of the frames in [s], shape (F,).
        rotations: Rotation of each part of the body, shape (F, 3, 3).
        hips: Position of the hips in [m], shape (F, 3).
    """

    times: Array
    rotations: dict[str, Array] = field(default_factory=dict)
    hips: Array = field(default_factory=lambda: np.zeros((0, 3)))

    def arm(
        self, side: str, *, raised: Array, out: Array, bent: Array, twisted: Array | None = None
    ) -> None:
        """Set the angles of an arm.

        Args:
            side: "Left" or "Right".
            raised: Angle of the upper arm ahead from hanging in [rad].
            out: Angle of the upper arm away from the body in [rad].
            bent: Angle of the elbow in [rad].
            twisted: Inward rotation of the upper arm about its own axis in [rad].
        """
        sign = SIGN[side]
        upper = about("x", -raised) @ about("z", sign * (out - 0.5 * np.pi))
        if twisted is not None:
            upper = upper @ about("x", -twisted)
        self.rotations[f"{side} arm"] = upper
        self.rotations[f"{side} forearm"] = about("y", -sign * bent)

    def finger(self, side: str, name: str, curl: Array) -> None:
        """Curl a finger from straight (0) to bent to the palm (1)."""
        sign = SIGN[side]
        if name == "Thumb":
            for number, largest in ((1, 0.6), (2, 0.6), (3, 0.7)):
                self.rotations[f"{side} {name} {number}"] = about("y", sign * largest * curl)
            return
        for number, largest in ((1, 1.4), (2, 1.6), (3, 1.0)):
            self.rotations[f"{side} {name} {number}"] = about("z", -sign * largest * curl)

    def stand(self, yaw: Array | None = None) -> None:
        """Stand still with a heading [rad]."""
        frames = len(self.times)
        yaw = np.zeros(frames) if yaw is None else yaw
        self.rotations["hips"] = about("y", yaw)
        self._put_on_floor(yaw)

    def walk(
        self, activity: Array, *, swing: float, rate: float, yaw: Array | None = None
    ) -> None:
        """Walk; the foot on the floor does not slide.

        Args:
            activity: Share of the walk, from 0 (standing) to 1, shape (F,).
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
            self.rotations[f"{side} thigh"] = about("x", -thigh)
            self.rotations[f"{side} shank"] = about("x", knee)
            self.rotations[f"{side} foot"] = about("x", thigh - knee)
        self.rotations["hips"] = about("y", yaw)
        self._put_on_floor(yaw)

    def _put_on_floor(self, yaw: Array) -> None:
        """Move the hips so that the lower foot is on the floor and does not slide."""
        feet = np.stack([self._foot(side) for side in SIGN])  # Two feet, frames, x y z.
        lower = np.argmin(feet[:, :, 1], axis=0)
        frames = np.arange(len(self.times))
        height = -feet[lower, frames, 1] + ANKLE
        ahead = np.zeros(len(frames))
        # The foot that is lower at the end of a step carries the body.
        ahead[1:] = -(feet[lower[1:], frames[1:], 2] - feet[lower[1:], frames[:-1], 2])
        # A body moves smoothly between steps; the ankles absorb the difference.
        width = GLIDE * float(len(frames) - 1) / float(self.times[-1] - self.times[0])
        ahead, height = gaussian_smooth(ahead, width), gaussian_smooth(height, width)
        hips = np.zeros((len(frames), 3))
        hips[:, 0] = np.cumsum(ahead * np.sin(yaw))
        hips[:, 2] = np.cumsum(ahead * np.cos(yaw))
        hips[:, 1] = height
        self.hips = hips

    def _foot(self, side: str) -> Array:
        """Return an ankle relative to the hips in [m], shape (F, 3)."""
        still = np.tile(np.eye(3), (len(self.times), 1, 1))
        thigh = self.rotations.get(f"{side} thigh", still)
        shank = thigh @ self.rotations.get(f"{side} shank", still)
        found: Array = thigh @ np.array([0.0, -THIGH, 0.0]) + shank @ np.array([0.0, -SHANK, 0.0])
        return found - (0.0, HIP_DROP, 0.0)
