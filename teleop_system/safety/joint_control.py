# SPDX-License-Identifier: Apache-2.0
"""One part of joints: its commands, whether it follows them, and how fast it may move."""

import numpy as np
from numpy.typing import NDArray

from teleop_system.interfaces.causes import Rule
from teleop_system.safety.cause_log import CauseLog
from teleop_system.safety.config import SafetyConfig
from teleop_system.safety.motion.commands import CommandBuffer
from teleop_system.safety.motion.limits import MotionLimits
from teleop_system.safety.motion.state import MotionState
from teleop_system.safety.motion.step import Step
from teleop_system.safety.part_control import HoldReason, PartControl
from teleop_system.safety.parts import Part
from teleop_system.safety.values import PartCommand


class JointControl:
    """Takes the commands of one part to the buffers of all joints.

    Args:
        part: The part.
        commands: The commanded motion of all joints; this part's is kept up to date.
        limits: The limits of all joints; the ramp scales the speeds of this part's.
        holding: Whether each joint holds, shape (N,); this part's are kept up to date.
        config: Ages and times.

    Attributes:
        control: Whether the part follows.
    """

    def __init__(
        self,
        part: Part,
        commands: CommandBuffer,
        limits: MotionLimits,
        holding: NDArray[np.bool_],
        config: SafetyConfig,
    ) -> None:
        self.control = PartControl(part, config)
        self._jump = config.jump
        self._columns = part.columns
        self._commands = commands.parts[part.name]
        self._speed = limits.speed[part.columns]
        self._max_speed = self._speed.copy()
        self._holding = holding[part.columns]

    def reset(self, state: MotionState) -> None:
        """Start anew from rest."""
        self.control.reset()
        self._commands.start(state.position[self._columns])
        self._holding[:] = True

    def update(
        self,
        command: PartCommand | None,
        *,
        engaged: bool,
        hold: HoldReason | None,
        now: float,
        step: Step,
        log: CauseLog,
    ) -> None:
        """Take the command of a cycle; see `PartControl.update`."""
        control, stream = self.control, self.control.stream
        positions = stream.accept(command, now, log)
        begins = control.update(
            engaged=engaged,
            hold=hold,
            now=now,
            step=step.duration,
            is_resting=lambda: step.state.is_resting(self._columns),
            log=log,
        )
        if positions is None:
            if stream.accepted_at is not None:
                self._commands.extrapolate(now - stream.accepted_at, stream.interval)
        elif begins or stream.interval == 0.0:
            self._commands.start(positions)
        else:
            self._commands.accept(positions, stream.interval)
        if begins:
            self._report_jump(step.state, log)
        self._holding[:] = not control.following
        if control.following:
            np.multiply(self._max_speed, control.ramp.speed_scale, out=self._speed)

    def _report_jump(self, state: MotionState, log: CauseLog) -> None:
        jump = float(np.abs(self._commands.position - state.position[self._columns]).max())
        if jump > self._jump:
            log.add(Rule.ENGAGE_JUMP, self.control.part.name, jump, self._jump)
