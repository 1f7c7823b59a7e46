# SPDX-License-Identifier: Apache-2.0
"""The controllers of a session behind one interface, each at its own rate."""

import abc
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from teleop_system.interfaces import HandJointState, Pose6D, VelocityCommand
from teleop_system.interfaces.causes import Cause
from teleop_system.modules.camera import CameraConfig, CameraController
from teleop_system.modules.hand_teleop import HandPairController, HandTeleopConfig
from teleop_system.modules.locomotion import LocomotionConfig, LocomotionController
from teleop_system.robots import RobotDescription
from teleop_system.safety import PartCommand
from teleop_system.safety.parts import BASE, HEAD
from teleop_system.session.signals import OperatorSample, Samples
from teleop_system.timing.scheduler import RateDivider

Array = NDArray[np.float64]


@dataclass(slots=True)
class ModuleOutput:
    """The commands of a module in one tick.

    Attributes:
        commands: Commands by part.
        base: Velocity command for the base, or None from a module that does not move it.
        causes: Everything that held or changed the motion.
        targets: Targets of end effectors, by chain, in the robot's base frame.
    """

    commands: dict[str, PartCommand] = field(default_factory=dict)
    base: VelocityCommand | None = None
    causes: tuple[Cause, ...] = ()
    targets: Mapping[str, Pose6D] = field(default_factory=dict)


class TeleopModule(abc.ABC):
    """A controller, the parts it moves, and its rate.

    Attributes:
        name: "arm", "hand", "locomotion" or "camera".
        parts: Parts of the robot that it commands, as the safety manager calls them.
        rate: Updates per second in [Hz].
        chains: Chains it has targets for.
    """

    name: str
    parts: tuple[str, ...]
    rate: float
    chains: tuple[str, ...] = ()

    @abc.abstractmethod
    def reset(self, positions: Mapping[str, float]) -> None:
        """Start from the positions last commanded in [rad] or [m], by joint."""

    @abc.abstractmethod
    def update(
        self, samples: Samples, *, now: float, dt: float, engaged: bool, commanded: Array
    ) -> ModuleOutput:
        """Return the commands of this tick.

        Args:
            samples: The newest sample of every signal.
            now: Time in [s] on the clock of the samples' stamps.
            dt: Time since the last update in [s].
            engaged: Whether the operator's motion counts.
            commanded: Positions last commanded to all joints in [rad] or [m], shape (N,).
        """

    def recenter(self) -> None:  # noqa: B027 - Most modules have no centre.
        """Make the present posture of the operator the centre."""


class ModuleSchedule:
    """One controller, when it is due, and its last causes.

    Args:
        module: The controller.
        loop_rate: Ticks of the loop per second in [Hz]; a faster controller runs in every tick.

    Attributes:
        module: The controller.
        causes: The causes of its last update.
        updates: Number of updates so far.
    """

    def __init__(self, module: TeleopModule, loop_rate: float) -> None:
        self.module = module
        self.causes: tuple[Cause, ...] = ()
        self.updates = 0
        rate = min(module.rate, loop_rate)
        share = (Fraction(rate) / Fraction(loop_rate)).limit_denominator(1_000_000)
        self._divider = RateDivider(share, loop_rate)
        self._period = 1.0 / rate
        self._last = -math.inf
        self._runs_next_tick = False

    def run_next_tick(self) -> None:
        """Make the controller due in the next tick."""
        self._runs_next_tick = True

    def update(
        self, tick: int, samples: Samples, *, now: float, engaged: bool, commanded: Array
    ) -> ModuleOutput | None:
        """Run the controller at time `now` [s] if it is due in the tick of this number.

        Call it once per tick.
        """
        if not self._divider.is_due_at(tick) and not self._runs_next_tick:
            return None
        self._runs_next_tick = False
        dt = now - self._last if self.updates else self._period
        self._last = now
        self.updates += 1
        output = self.module.update(samples, now=now, dt=dt, engaged=engaged, commanded=commanded)
        self.causes = output.causes
        return output


class HandModule(TeleopModule):
    """Both hands, or the one that the robot has."""

    name = "hand"

    def __init__(self, robot: RobotDescription, config: HandTeleopConfig) -> None:
        sided = {hand.side: hand for hand in robot.hands.values() if hand.side is not None}
        self._controller = HandPairController(config, sided)
        self._parts = {side: f"{hand.name}_hand" for side, hand in sided.items()}
        self._joints = {side: hand.joints for side, hand in sided.items()}
        self.parts = tuple(self._parts.values())
        self.rate = config.rate
        what = "tips" if config.retargeter == "fingertips" else "fingers"
        self._signals = {side: f"{side}_{what}" for side in sided}
        self._engaged, self._disengaged = dict.fromkeys(sided, True), dict.fromkeys(sided, False)

    @override
    def reset(self, positions: Mapping[str, float]) -> None:
        self._controller.reset(
            {
                side: np.array([positions[joint] for joint in joints])
                for side, joints in self._joints.items()
            }
        )

    @override
    def update(
        self, samples: Samples, *, now: float, dt: float, engaged: bool, commanded: Array
    ) -> ModuleOutput:
        states = {side: hand_of(samples.get(name)) for side, name in self._signals.items()}
        flags = self._engaged if engaged else self._disengaged
        outputs = self._controller.update(states, now=now, dt=dt, engaged=flags)
        result = ModuleOutput()
        for side, part in self._parts.items():
            output = outputs[side]
            result.causes += output.causes
            if output.following:
                result.commands[part] = PartCommand(output.positions, output.timestamp)
        return result


class LocomotionModule(TeleopModule):
    """The mobile base."""

    name = "locomotion"
    parts = (BASE,)

    def __init__(self, config: LocomotionConfig) -> None:
        self._controller = LocomotionController(config)
        self.rate = config.rate

    @override
    def reset(self, positions: Mapping[str, float]) -> None:
        self._controller.reset()

    @override
    def update(
        self, samples: Samples, *, now: float, dt: float, engaged: bool, commanded: Array
    ) -> ModuleOutput:
        output = self._controller.update(
            pose_of(samples.get("left_foot")),
            pose_of(samples.get("right_foot")),
            pose_of(samples.get("waist")),
            now=now,
            dt=dt,
            engaged=engaged,
        )
        return ModuleOutput(base=output.command, causes=output.causes)


class CameraModule(TeleopModule):
    """The head."""

    name = "camera"
    parts = (HEAD,)

    def __init__(self, robot: RobotDescription, config: CameraConfig) -> None:
        assert robot.head is not None
        self._controller = CameraController(config)
        self._pan, self._tilt = robot.head.pan, robot.head.tilt
        self.rate = config.rate

    @override
    def reset(self, positions: Mapping[str, float]) -> None:
        pan = positions[self._pan] if self._pan else 0.0
        tilt = positions[self._tilt] if self._tilt else 0.0
        self._controller.reset(pan, tilt)

    @override
    def update(
        self, samples: Samples, *, now: float, dt: float, engaged: bool, commanded: Array
    ) -> ModuleOutput:
        head = pose_of(samples.get("head"))
        output = self._controller.update(head, now=now, dt=dt, engaged=engaged)
        angles = ((self._pan, output.pan), (self._tilt, output.tilt))
        positions = [angle for joint, angle in angles if joint is not None]
        command = PartCommand(np.array(positions), output.timestamp)
        return ModuleOutput({HEAD: command}, causes=output.causes)

    @override
    def recenter(self) -> None:
        self._controller.recenter()


def pose_of(sample: OperatorSample | None) -> Pose6D | None:
    """Return the sample of a tracker, or None."""
    return sample if isinstance(sample, Pose6D) else None


def hand_of(sample: OperatorSample | None) -> HandJointState | None:
    """Return the sample of a hand, or None."""
    return sample if isinstance(sample, HandJointState) else None
