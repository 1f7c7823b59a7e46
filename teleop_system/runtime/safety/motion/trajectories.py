# SPDX-License-Identifier: Apache-2.0
"""The one place that calls Ruckig: fastest motions within acceleration and jerk limits."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import MissingExtraError
from teleop_system.runtime.safety.motion.motion_state import MotionState

Array = NDArray[np.float64]


class Trajectories:
    """Fastest motions of a number of joints, each for itself.

    Args:
        acceleration: Largest accelerations in [rad/s^2], shape (N,).
        jerk: Largest jerks in [rad/s^3], shape (N,).

    Raises:
        MissingExtraError: Ruckig is not installed.
    """

    def __init__(self, acceleration: Array, jerk: Array) -> None:
        try:
            import ruckig
        except ImportError as error:
            raise MissingExtraError("ruckig", "ik") from error
        size = acceleration.size
        self._good = (ruckig.Result.Working, ruckig.Result.Finished)
        self._ruckig: Any = ruckig.Ruckig(size, 0.01)
        self._output: Any = ruckig.OutputParameter(size)
        self._trajectory: Any = ruckig.Trajectory(size)
        self._following, self._braking = (ruckig.InputParameter(size) for _ in range(2))
        self._braking.control_interface = ruckig.ControlInterface.Velocity
        for given in (self._following, self._braking):
            given.synchronization = ruckig.Synchronization.No
            given.target_velocity = given.target_acceleration = [0.0] * size
            given.max_velocity = [1.0] * size
            given.max_acceleration = acceleration.tolist()
            given.max_jerk = jerk.tolist()
        self._fading_time = acceleration / jerk
        self._half_inverse_jerk = 0.5 / jerk
        self._twice_jerk: list[float] = (2.0 * jerk).tolist()

    def set_speeds(self, velocity: Array) -> None:
        """Set the largest speeds in [rad/s], shape (N,)."""
        self._following.max_velocity = velocity.tolist()

    def follow(self, state: MotionState, aims: Array, step: float) -> MotionState | None:
        """Return the state after one step of the fastest motions that end at rest at `aims`.

        Args:
            state: The present state.
            aims: Where each joint shall come to rest in [rad], shape (N,).
            step: Duration of the step in [s].

        Returns:
            The state after the step; None where there is no such motion.
        """
        ruckig, given, result = self._ruckig, self._following, self._output
        given.current_position, given.current_velocity, given.current_acceleration = state.lists
        given.target_position = aims.tolist()
        ruckig.delta_time = step
        # Otherwise equal inputs would be taken for the next step of the motion before.
        ruckig.reset()
        if ruckig.update(given, result) not in self._good:
            return None
        return MotionState(result.new_position, result.new_velocity, result.new_acceleration)

    def rest(self, state: MotionState) -> Array:
        """Return where the joints come to rest if all brake [rad], shape (N,)."""
        motion = self._brake(state)
        return np.array(motion.at_time(motion.duration)[0])

    def braked(self, state: MotionState, step: float) -> MotionState:
        """Return the state after every joint has braked for one step of `step` [s]."""
        motion = self._brake(state)
        position, velocity, acceleration = motion.at_time(step)
        moving = np.array(motion.independent_min_durations) > step
        # Rounding must not leave a joint creeping.
        return MotionState(
            np.array(position),
            np.where(moving, velocity, 0.0),
            np.where(moving, acceleration, 0.0),
        )

    def braking_pose(self, state: MotionState, share: float) -> Array:
        """Return where the joints are on the way to rest [rad], after a part of its time."""
        motion = self._brake(state)
        return np.array(motion.at_time(share * motion.duration)[0])

    def excursion(self, state: MotionState) -> Array | None:
        """Return a bound of how far braking leads out of the way from here to rest [rad].

        Only a joint that turns round while it brakes does so: its acceleration is so large that
        it outlasts the speed, by at most the time in which the acceleration fades. None where no
        joint does.
        """
        _, velocity, acceleration = state.lists
        # By far most joints do not; a glance at each is cheaper than arithmetic with all.
        for v, a, jerk in zip(velocity, acceleration, self._twice_jerk, strict=True):
            if v * a < 0.0 and a * a > jerk * abs(v):
                break
        else:
            return None
        onward = np.abs(state.acceleration) * state.acceleration * self._half_inverse_jerk
        onward += state.velocity
        turning = onward * state.velocity < 0.0
        return np.where(turning, np.abs(state.velocity) * self._fading_time, 0.0)

    def _brake(self, state: MotionState) -> Any:
        given, motion = self._braking, self._trajectory
        given.current_position, given.current_velocity, given.current_acceleration = state.lists
        if self._ruckig.calculate(given, motion) not in self._good:
            # No finite motion lacks one: this can only be an error of ours.
            raise ArithmeticError(f"there is no way to brake from {state.lists}")
        return motion
