# SPDX-License-Identifier: Apache-2.0
"""One chain's target, its distance from it, and the step to take towards it."""

import numpy as np
from numpy.typing import NDArray

from teleop_system.solvers.chain_config import ChainConfig
from teleop_system.solvers.chain_kernels import pose_difference
from teleop_system.utils.poses import PoseTuple

Array = NDArray[np.float64]

TARGET_ACCELERATION = (15.0, 60.0)
"""Changes of a target's velocity up to these [m/s^2], [rad/s^2] count as motion to be followed
without lag; anything faster is a jump to catch up with."""


class ChainTask:
    """Follows one target with one frame.

    The desired step is the target's own motion since the last tick, plus what is left of the
    old error, shortened so that the chain arrives without overshooting: with `A` the planned
    deceleration, a distance `s` is closed by `sqrt((A dt²)² + 2 A dt² s) - A dt²`, nearly all
    of it if `s` is small against `A dt²`.

    Args:
        name: The chain.
        config: Its frame and weights.
        damping: Factor of its damping.
        record: Its `CHAIN` record, one of an array that `chain_kernels` works on.
    """

    def __init__(
        self, name: str, config: ChainConfig, damping: float, record: NDArray[np.void]
    ) -> None:
        self.name = name
        self.config = config
        self._chain = record
        self._is_held = False
        record["weight"] = config.position_weight**2, config.orientation_weight**2
        record["damping_factor"], record["share"] = damping, 1.0
        record["orientation"][3] = record["target_orientation"][3] = 1.0

    @property
    def position(self) -> Array:
        """Position of the frame in the world [m], as last observed."""
        position: Array = self._chain["position"]
        return position

    @property
    def step(self) -> Array:
        """Desired step of this tick: linear [m], then angular [rad], world axes."""
        step: Array = self._chain["step"]
        return step

    @property
    def share(self) -> float:
        """Factor on the chain's squared weights in this tick, from 0 to 1.

        It decreases with the distance of the target, so that an unreachable target does not pull
        the other chains off theirs.
        """
        return float(self._chain["share"])

    @property
    def damping(self) -> float:
        """Damping for the part of `step` that catches up."""
        return float(self._chain["damping"])

    def set_period(self, dt: float) -> None:
        """Prepare for ticks of `dt` [s]; the target is taken to be at rest."""
        config, chain = self.config, self._chain
        linear, angular = config.linear_acceleration, config.angular_acceleration
        chain["braking"] = linear * dt * dt, angular * dt * dt
        chain["jump"] = [value * dt * dt for value in TARGET_ACCELERATION]
        chain["largest_step"] = config.linear_speed * dt, config.angular_speed * dt
        chain["motion"] = 0.0

    def hold(self) -> None:
        """Keep the pose of the first tick without a target."""
        if not self._is_held:
            chain = self._chain
            chain["target_position"] = chain["position"]
            chain["target_orientation"] = chain["orientation"]
            chain["bias"] = chain["motion"] = chain["residual"] = 0.0
            self._is_held = True

    def release(self) -> None:
        """Follow targets again; the next `hold()` keeps the pose of that moment."""
        self._is_held = False

    def target_from(self, pose: PoseTuple) -> Array:
        """Return the target as seen from a pose: [m] and [rad], world axes."""
        position, orientation = self._chain["target_position"], self._chain["target_orientation"]
        difference = pose_difference(*pose, tuple(position.tolist()), tuple(orientation.tolist()))
        return np.concatenate(difference)
