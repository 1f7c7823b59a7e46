# SPDX-License-Identifier: Apache-2.0
"""One chain's target, how far the chain is from it, and the step to take towards it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from teleop_system.solvers import chain_kernels as kernels
from teleop_system.solvers.chain_config import ChainConfig

Array = NDArray[np.float64]

TARGET_ACCELERATION = (15.0, 60.0)
"""Changes of a target's velocity up to these [m/s^2], [rad/s^2] count as motion that is to be
followed without lag; what is faster is a jump, to be caught up with."""


class ChainTask:
    """Follows one target with one frame.

    The step asked for is the target's own motion since the last tick, plus what is left of the
    old error, shortened so that the chain arrives without overshooting: with `A` the planned
    deceleration, a distance `s` is closed by `sqrt((A dt²)² + 2 A dt² s) - A dt²`, nearly all
    of it where `s` is small against `A dt²`.

    Args:
        name: The chain.
        config: Its frame and weights.
        row: Its numbers, a row of the table that `chain_kernels` works on for all chains at once.
    """

    def __init__(self, name: str, config: ChainConfig, row: Array | None = None) -> None:
        self.name = name
        self.config = config
        self._row = row = np.zeros(kernels.SIZE) if row is None else row
        self._target = row[kernels.TARGET : kernels.STEP]
        self._is_held = False
        weights = (config.position_weight**2, config.orientation_weight**2)
        row[kernels.WEIGHT : kernels.WEIGHT + 2] = weights
        row[kernels.SHARE] = 1.0
        row[kernels.PLACE + 6] = row[kernels.TARGET + 6] = 1.0

    @property
    def position(self) -> Array:
        """Where the frame is in the world [m], as last observed."""
        return self._row[kernels.PLACE : kernels.PLACE + 3]

    @property
    def step(self) -> Array:
        """Step asked for in this tick: linear [m], then angular [rad], world axes."""
        return self._row[kernels.STEP : kernels.STEP + 6]

    @property
    def share(self) -> float:
        """Part of its weights, squared, that the chain has in this tick.

        The farther away its target, the less, so that no unreachable target drags the other
        chains off theirs.
        """
        return float(self._row[kernels.SHARE])

    @property
    def damping(self) -> float:
        """Damping that the part of `step` which is catching up asks for."""
        return float(self._row[kernels.DAMPING])

    @property
    def away(self) -> tuple[float, float]:
        """Distances from the target in [m] and [rad], as last measured."""
        distance, angle = self._row[kernels.AWAY : kernels.AWAY + 2].tolist()
        return distance, angle

    def set_period(self, dt: float) -> None:
        """Prepare for ticks of `dt` [s]; the target is taken to be at rest."""
        config, row = self.config, self._row
        linear, angular = config.linear_acceleration, config.angular_acceleration
        row[kernels.BRAKE : kernels.BRAKE + 2] = linear * dt * dt, angular * dt * dt
        row[kernels.JUMP : kernels.JUMP + 2] = [value * dt * dt for value in TARGET_ACCELERATION]
        speeds = config.linear_speed * dt, config.angular_speed * dt
        row[kernels.FASTEST : kernels.FASTEST + 2] = speeds
        row[kernels.MOTION : kernels.MOTION + 6] = 0.0

    def take_aim(self) -> None:
        """Follow the target that was written to the table."""
        self._is_held = False

    def hold(self) -> None:
        """Keep the pose the frame had when it was last told where to go, or has now."""
        if not self._is_held:
            self._target[:] = self._row[kernels.PLACE : kernels.TARGET]
            self._is_held = True
            self.forget_motion()

    def forget_motion(self) -> None:
        """Start anew: the target is taken to be at rest, the error all still to be closed."""
        self._row[kernels.BIAS : kernels.MOTION + 6] = 0.0
        kernels.measure(self._row[None])

    def release(self) -> None:
        """Let the next `hold()` take the pose of that moment."""
        self._is_held = False

    def target_from(self, position: Sequence[float], quaternion: Sequence[float]) -> Array:
        """Return how the target lies from a pose: [m] and [rad], world axes."""
        twist = np.empty(6)
        kernels.write_twist(np.array([*position, *quaternion]), self._target, twist)
        return twist
