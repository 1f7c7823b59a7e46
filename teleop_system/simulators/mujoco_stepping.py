# SPDX-License-Identifier: Apache-2.0
"""Advances a world in time and notices when its physics has failed."""

import math

from teleop_system.exceptions import InvalidValueError, SimulationError
from teleop_system.robots.mujoco_library import mujoco
from teleop_system.simulators.mujoco_servos import Array
from teleop_system.simulators.mujoco_world import World

LONGEST_RAMP = 0.02
"""Time over which new position commands are approached at the most in [s]."""

DIVERGED = ("BADQPOS", "BADQVEL", "BADQACC", "BADCTRL")
"""MuJoCo's warnings after which the state is no longer the one that was simulated."""


class Stepper:
    """Steps of one world, whole or in halves.

    MuJoCo meets a bad state by starting over from its default pose, which would be a jump nobody
    asked for. It shows in the time, which is cheap to look at after every step.

    Where several steps are taken at once, new position commands are approached in a straight
    line over the first of them, as real drives do; in one jump they would saturate stiff drives.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._model, self._data = world.model, world.data
        self._actuation = world.actuation
        self._timestep = float(world.model.opt.timestep)
        starts_over = not world.model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_AUTORESET
        # A very first step that starts over ends at the same time as one that does not.
        self._suspect_until = 0.0 if starts_over else math.inf
        self._has_halves = world.model.opt.integrator != mujoco.mjtIntegrator.mjINT_RK4
        self._mj_step = mujoco.mj_step
        self._control: Array = world.data.ctrl
        self._ramp_steps = max(1, int(LONGEST_RAMP / self._timestep))
        self._owed = 0.0
        self._time = 0.0
        self._halfway = False
        self._failure: str | None = None

    def restart(self) -> None:
        """Forget failures and what was owed."""
        self._owed = self._time = 0.0
        self._halfway = False
        self._failure = None

    def whole_steps(self, dt: float) -> int:
        """Return how many steps fill `dt` [s] and what earlier calls left over.

        Raises:
            InvalidValueError: `dt` is negative or not finite.
        """
        if not (math.isfinite(dt) and dt >= 0.0):
            raise InvalidValueError(f"dt must be a time not below 0, got {dt}")
        self._owed += dt
        # Half a millionth of a step, so that sums of rounded times do not lose one.
        count = int(self._owed / self._timestep + 5e-7)
        self._owed -= count * self._timestep
        return count

    def advance(self, count: int) -> None:
        """Take whole steps.

        Raises:
            SimulationError: The simulation has diverged, now or before.
        """
        if self._failure is not None:
            raise SimulationError(self._failure)
        self._halfway = False
        self._go_on(count, self._way(count))

    def _way(self, count: int) -> Array | None:
        """Return the controls of the first of `count` steps; None where they have not moved."""
        if count < 2 or self._actuation.is_servoing:
            return None
        return self._actuation.ramp(min(count, self._ramp_steps))

    def _go_on(self, count: int, ramp: Array | None) -> None:
        """Take whole steps, the first of them with the controls of `ramp`."""
        data = self._data
        if self._actuation.is_servoing:
            for _ in range(count):
                self._actuation.advance(self._timestep)
                self._mj_step(self._model, data)
        elif ramp is not None:
            self._follow(ramp, count)
        elif count:
            self._mj_step(self._model, data, count)
        self._actuation.settle()
        # Every access to MuJoCo's state costs about a percent of a step, so there is but one.
        before, self._time = self._time, data.time
        expected = before + (count - 0.5) * self._timestep
        if self._time < expected or before <= self._suspect_until:
            self._look_for_failure(before)

    def _follow(self, ramp: Array, count: int) -> None:
        """Take whole steps while the controls go the way of `ramp`, shape (steps, nu)."""
        model, data, control, step = self._model, self._data, self._control, self._mj_step
        last = len(ramp) - 1
        for controls in ramp[:last]:
            control[:] = controls
            step(model, data)
        control[:] = ramp[last]
        step(model, data, count - last)

    def first_half(self) -> None:
        """Take `mj_step1`.

        Raises:
            SimulationError: The simulation has diverged, or its integrator has no halves.
        """
        if self._failure is not None:
            raise SimulationError(self._failure)
        if not self._has_halves:
            raise SimulationError("the RK4 integrator of the model cannot be stepped in halves")
        mujoco.mj_step1(self._model, self._data)
        self._halfway = True

    def second_half(self, count: int = 1) -> None:
        """Take `mj_step2`, and whole steps after it until there are `count`.

        Raises:
            SimulationError: No first half came before, or the simulation has diverged.
        """
        if not self._halfway:
            raise SimulationError("step2() was called without step1()")
        self._halfway = False
        if self._actuation.is_servoing:
            self._actuation.advance(self._timestep)
        ramp = self._way(count)
        if ramp is not None:
            self._control[:] = ramp[0]
        mujoco.mj_step2(self._model, self._data)
        before, self._time = self._time, self._data.time
        if self._time <= before or before <= self._suspect_until:
            self._look_for_failure(before)
        if count > 1:
            self._go_on(count - 1, None if ramp is None or len(ramp) < 2 else ramp[1:])
        else:
            self._actuation.settle()

    def _look_for_failure(self, before: float) -> None:
        numbers = self._data.warning.number
        for name in DIVERGED:
            kind = getattr(mujoco.mjtWarning, f"mjWARN_{name}")
            if numbers[kind]:
                place = int(self._data.warning[kind].lastinfo)
                where = f"{self._owner(name, place)}, after {before:.3f} s"
                self._failure = (
                    f"the simulation diverged ({name} at {where}); reset() starts over, and a "
                    "smaller timestep, integrator='implicitfast' or more joint armature helps"
                )
                raise SimulationError(self._failure)

    def _owner(self, warning: str, place: int) -> str:
        """Return the name of what a warning's number stands for."""
        model = self._model
        if warning == "BADCTRL":
            return f"actuator {model.actuator(place).name!r}"
        starts = model.jnt_qposadr if warning == "BADQPOS" else model.jnt_dofadr
        joint = max(number for number in range(model.njnt) if starts[number] <= place)
        return f"joint {model.joint(joint).name!r}"
