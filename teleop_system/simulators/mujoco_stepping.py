# SPDX-License-Identifier: Apache-2.0
"""Advances a world in time and detects divergence."""

import math

from teleop_system.exceptions import InvalidValueError, SimulationError
from teleop_system.robots.mujoco_library import mujoco
from teleop_system.simulators.mujoco_servos import Array
from teleop_system.simulators.mujoco_world import World

LONGEST_RAMP = 0.02
"""Longest ramp to new position commands in [s]."""

DIVERGED = ("BADQPOS", "BADQVEL", "BADQACC", "BADCTRL")
"""MuJoCo's warnings that the simulation has diverged."""


class Stepper:
    """Steps of one world, whole or in halves.

    MuJoCo resets a bad state to its default pose, which would be a jump. The reset also resets the
    time, so checking the time after every step detects it at low cost.

    If several steps are taken at once, new position commands ramp linearly over the first of them,
    as in real drives; a step change would saturate stiff drives.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._model, self._data = world.model, world.data
        self._actuation = world.actuation
        self._timestep = float(world.model.opt.timestep)
        resets = not world.model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_AUTORESET
        # A reset in the very first step cannot be seen in the time.
        self._suspect_until = 0.0 if resets else math.inf
        self._has_halves = world.model.opt.integrator != mujoco.mjtIntegrator.mjINT_RK4
        self._mj_step = mujoco.mj_step
        self._control: Array = world.data.ctrl
        self._ramp_steps = max(1, int(LONGEST_RAMP / self._timestep))
        self._remainder = 0.0
        self._time = 0.0
        self._halfway = False
        self._failure: str | None = None

    def restart(self) -> None:
        """Forget failures and the time remainder."""
        self._remainder = self._time = 0.0
        self._halfway = False
        self._failure = None

    def whole_steps(self, dt: float) -> int:
        """Return the number of steps in `dt` [s] plus the remainder of earlier calls.

        Raises:
            InvalidValueError: `dt` is negative or not finite.
        """
        if not (math.isfinite(dt) and dt >= 0.0):
            raise InvalidValueError(f"dt must be a time not below 0, got {dt}")
        self._remainder += dt
        # A tolerance of 5e-7 steps, so that rounding does not lose a step.
        count = int(self._remainder / self._timestep + 5e-7)
        self._remainder -= count * self._timestep
        return count

    def advance(self, count: int) -> None:
        """Take whole steps.

        Raises:
            SimulationError: The simulation has diverged.
        """
        if self._failure is not None:
            raise SimulationError(self._failure)
        self._halfway = False
        self._step(count, self._actuation.ramp(min(count, self._ramp_steps)))

    def _step(self, count: int, ramp: Array | None) -> None:
        """Take whole steps, the first ones with the controls of `ramp`, shape (steps, nu)."""
        data = self._data
        if self._actuation.is_servoing:
            for _ in range(count):
                self._actuation.advance(self._timestep)
                self._mj_step(self._model, data)
        elif ramp is not None:
            last = len(ramp) - 1
            for controls in ramp[:last]:
                self._control[:] = controls
                self._mj_step(self._model, data)
            self._control[:] = ramp[last]
            self._mj_step(self._model, data, count - last)
        elif count:
            self._mj_step(self._model, data, count)
        self._actuation.settle()
        # Each access to MuJoCo's state costs about 1 % of a step, so read the time once.
        before, self._time = self._time, data.time
        expected = before + (count - 0.5) * self._timestep
        if self._time < expected or before <= self._suspect_until:
            self._check_divergence(before)

    def first_half(self) -> None:
        """Take `mj_step1`.

        Raises:
            SimulationError: The simulation has diverged, or its integrator (RK4) has no halves.
        """
        if self._failure is not None:
            raise SimulationError(self._failure)
        if not self._has_halves:
            raise SimulationError("the RK4 integrator of the model has no half steps")
        mujoco.mj_step1(self._model, self._data)
        self._halfway = True

    def second_half(self, count: int = 1) -> None:
        """Take `mj_step2`, then whole steps up to `count` in total.

        Raises:
            SimulationError: The first half is missing, or the simulation has diverged.
        """
        if not self._halfway:
            raise SimulationError("call step1() before step2()")
        self._halfway = False
        if self._actuation.is_servoing:
            self._actuation.advance(self._timestep)
        ramp = self._actuation.ramp(min(count, self._ramp_steps))
        if ramp is not None:
            self._control[:] = ramp[0]
        mujoco.mj_step2(self._model, self._data)
        before, self._time = self._time, self._data.time
        if self._time <= before or before <= self._suspect_until:
            self._check_divergence(before)
        if count > 1:
            self._step(count - 1, None if ramp is None or len(ramp) < 2 else ramp[1:])
        else:
            self._actuation.settle()

    def _check_divergence(self, before: float) -> None:
        numbers = self._data.warning.number
        for name in DIVERGED:
            kind = getattr(mujoco.mjtWarning, f"mjWARN_{name}")
            if numbers[kind]:
                index = int(self._data.warning[kind].lastinfo)
                where = f"{self._describe(name, index)}, after {before:.3f} s"
                self._failure = (
                    f"the simulation diverged ({name} at {where}); call reset(). A smaller "
                    "timestep, integrator='implicitfast' or more joint armature may help"
                )
                raise SimulationError(self._failure)

    def _describe(self, warning: str, index: int) -> str:
        """Return the joint or actuator of a warning."""
        model = self._model
        if warning == "BADCTRL":
            return f"actuator {model.actuator(index).name!r}"
        starts = model.jnt_qposadr if warning == "BADQPOS" else model.jnt_dofadr
        joint = max(number for number in range(model.njnt) if starts[number] <= index)
        return f"joint {model.joint(joint).name!r}"
