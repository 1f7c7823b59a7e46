# SPDX-License-Identifier: Apache-2.0
"""A PID controller for every joint, for effort mode."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import ConfigError
from teleop_system.simulators.config import MuJoCoConfig
from teleop_system.simulators.mujoco_joints import IndexArray, JointTable
from teleop_system.simulators.mujoco_servos import ControlMode, read_servos
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class PidGains:
    """Gains and bounds of some joints, shape (N,) each.

    Attributes:
        p: Effort per position error in [N m/rad] or [N/m].
        i: Effort per position error and time in [N m/(rad s)] or [N/(m s)].
        d: Effort per velocity error in [N m s/rad] or [N s/m].
        effort: Largest effort in [N m] or [N]; may be infinite.
    """

    p: Array
    i: Array
    d: Array
    effort: Array

    @classmethod
    def of_model(cls, simulator: MuJoCoSimulator, indices: IndexArray) -> "PidGains":
        """Return the gains of the model's own servos; they have no integral part."""
        model = simulator.model
        servos = read_servos(model, JointTable(model), MuJoCoConfig("unused"))
        return cls(
            servos.stiffness[indices],
            np.zeros(len(indices)),
            servos.damping[indices],
            servos.upper[ControlMode.EFFORT, indices],
        )

    def changed(self, **gains: Sequence[float]) -> "PidGains":
        """Return gains with some replaced: one number for all joints, or one per joint.

        Raises:
            ConfigError: The count is neither, or a number is negative or not finite.
        """
        values = {"p": self.p, "i": self.i, "d": self.d}
        for name, numbers in gains.items():
            if not len(numbers):
                continue
            given = np.asarray(numbers, dtype=np.float64)
            if given.size not in (1, self.p.size):
                raise ConfigError(
                    f"gains {name!r} must be 1 or {self.p.size} numbers, got {given.size}"
                )
            if not (np.isfinite(given).all() and (given >= 0.0).all()):
                raise ConfigError(f"gains {name!r} must not be negative, got {given.tolist()}")
            values[name] = np.broadcast_to(given, self.p.shape).copy()
        return PidGains(values["p"], values["i"], values["d"], self.effort)


class JointPid:
    """Efforts that bring joints to their targets.

    Args:
        gains: Gains and bounds.
    """

    def __init__(self, gains: PidGains) -> None:
        self.gains = gains
        self._sum = np.zeros(gains.p.size)

    def reset(self) -> None:
        """Forget past errors."""
        self._sum[:] = 0.0

    def update(self, error: Array, error_rate: Array, dt: float, extra: Array) -> Array:
        """Return efforts in [N m] or [N], shape (N,).

        Args:
            error: Target minus position in [rad] or [m], shape (N,).
            error_rate: Rate of the error in [rad/s] or [m/s], shape (N,).
            dt: Time since the last update in [s].
            extra: Efforts to add, within the same bounds.
        """
        gains = self.gains
        wanted = gains.p * error + gains.d * error_rate + extra
        integral = self._sum + gains.i * error * dt
        # The integral stays within the room below the effort limit, so it cannot wind up.
        room = np.maximum(gains.effort - np.abs(wanted), 0.0)
        self._sum = np.minimum(np.maximum(integral, -room), room)
        effort: Array = np.minimum(np.maximum(wanted + self._sum, -gains.effort), gains.effort)
        return effort
