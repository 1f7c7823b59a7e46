# SPDX-License-Identifier: Apache-2.0
"""The motion of all joints at one time, and the motions that follow within their limits."""

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from teleop_system.safety.motion import braking_kernels as kernels
from teleop_system.safety.motion.pursuit_kernels import step_joints

Array = NDArray[np.float64]


class MotionState(NamedTuple):
    """The motion of all joints at one time; never changed once it is made.

    Attributes:
        position: Positions in [rad] or [m], shape (N,), as all arrays.
        velocity: Velocities in [rad/s] or [m/s].
        acceleration: Accelerations in [rad/s^2] or [m/s^2].
        rest: Where the joints come to rest if all brake.
        excursion: Bound of how far braking leaves the range between `position` and `rest`.
    """

    position: Array
    velocity: Array
    acceleration: Array
    rest: Array
    excursion: Array

    @classmethod
    def empty(cls, size: int) -> "MotionState":
        """Return a state of `size` joints for a kernel to fill in."""
        empty = np.empty
        return cls(empty(size), empty(size), empty(size), empty(size), empty(size))

    @classmethod
    def at_rest(cls, position: Array) -> "MotionState":
        """Return the state of joints that stand still."""
        zero = np.zeros(position.size)
        return cls(position.copy(), zero, zero, position.copy(), zero)

    def is_resting(self, columns: slice = slice(None)) -> bool:
        """Whether some joints stand still."""
        return not (self.velocity[columns].any() or self.acceleration[columns].any())


class MotionLimits:
    """Moves a number of joints, each by itself, as fast as its limits allow.

    Args:
        speed: Largest speeds in [rad/s], shape (N,), as all arrays.
        acceleration: Largest accelerations in [rad/s^2].
        jerk: Largest jerks in [rad/s^3].

    Attributes:
        speed: Largest speeds at present; a ramp changes them in place.
        acceleration: Largest accelerations.
        jerk: Largest jerks.
    """

    def __init__(self, speed: Array, acceleration: Array, jerk: Array) -> None:
        self.speed, self.acceleration, self.jerk = (
            np.array(values, dtype=np.float64) for values in (speed, acceleration, jerk)
        )
        self._size = self.speed.size

    def motion(self, position: Array, velocity: Array, acceleration: Array) -> MotionState:
        """Return a motion together with where braking would end."""
        state = MotionState.empty(self._size)
        state.position[:], state.velocity[:] = position, velocity
        state.acceleration[:] = acceleration
        kernels.find_rest(*state[:3], self.acceleration, self.jerk, state.rest, state.excursion)
        return state

    def braked(self, state: MotionState, step: float) -> MotionState:
        """Return the state after every joint has braked for one step of `step` [s]."""
        new = MotionState.empty(self._size)
        kernels.brake_joints(*state[:3], self.acceleration, self.jerk, step, *new)
        return new

    def stepped(
        self, state: MotionState, target: Array, braking: NDArray[np.bool_], step: float
    ) -> MotionState:
        """Return the state after one step of the fastest motions to rest at targets.

        Args:
            state: The present motion.
            target: Where each joint should come to rest [rad], shape (N,).
            braking: Joints that brake instead, shape (N,); those without a finite target do too.
            step: Duration of the step in [s].
        """
        new = MotionState.empty(self._size)
        step_joints(
            state.position,
            state.velocity,
            state.acceleration,
            state.rest,
            target,
            braking,
            self.speed,
            self.acceleration,
            self.jerk,
            step,
            *new,
        )
        return new

    def braking_pose(self, state: MotionState, share: float) -> Array:
        """Return where the joints are after a share of the time in which all come to rest."""
        pose = np.empty(self._size)
        kernels.braking_pose(*state[:3], self.acceleration, self.jerk, share, pose)
        return pose

    def blended(self, start: MotionState, end: MotionState, share: Array) -> MotionState:
        """Return the state that lies a `share` of the distance between two states, shape (N,).

        Where two motions from one start keep within limits, so does every motion between them.
        """
        position, velocity, acceleration = (
            one + share * (other - one) for one, other in zip(start[:3], end[:3], strict=True)
        )
        return self.motion(position, velocity, acceleration)


class Step:
    """One step of motion: what all rules of a cycle start from.

    Args:
        limits: Limits of the joints.
        state: The present motion.
        duration: Length of the step in [s].
    """

    def __init__(self, limits: MotionLimits, state: MotionState, duration: float) -> None:
        self.state = state
        self.duration = duration
        self._limits = limits

    @functools.cached_property
    def braked(self) -> MotionState:
        """The motion after the step if every joint brakes."""
        return self._limits.braked(self.state, self.duration)

    def slowed(self, wanted: MotionState, share: Array) -> MotionState:
        """Return the motion between braking (share 0) and `wanted` (share 1), shape (N,)."""
        return self._limits.blended(self.braked, wanted, share)
