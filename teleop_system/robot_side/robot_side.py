# SPDX-License-Identifier: Apache-2.0
"""The robot's half of every wiring: who may move it, where it is, and what it is told.

    commands -> engagement -> SafetyManager -> robot

It reads no clock and knows no messages, so a ROS node, a session and a test can drive it alike.
"""

import logging
import math
from collections.abc import Collection, Mapping

import numpy as np

from teleop_system.exceptions import DeviceNotConnectedError, InvalidJointStateError
from teleop_system.interfaces import VelocityCommand
from teleop_system.interfaces.causes import Cause, Rule
from teleop_system.robot_side.config import RobotSideConfig
from teleop_system.robot_side.drive import IRobotSide
from teleop_system.robot_side.engagement import Engagement, EngagementStatus, MotionSource
from teleop_system.robot_side.engagement_table import EngagementInputs, EngagementState
from teleop_system.robot_side.follow_monitor import FollowMonitor
from teleop_system.robot_side.preparation import Preparation
from teleop_system.robot_side.requests import Requests
from teleop_system.robots import RobotDescription
from teleop_system.safety import PartCommand, SafetyConfig, SafetyManager, SafetyOutput
from teleop_system.safety.parts import BASE

logger = logging.getLogger(__name__)

RECONNECT_AFTER = 1.0
"""Time between two attempts to connect to the robot in [s]."""

_S = EngagementState
_NOTHING: frozenset[str] = frozenset()


class RobotSide:
    """Engagement, preparation and safety of one robot.

    A cycle is `begin`, which decides who moves the robot, and `finish`, which moves it; `step`
    does both. Whoever computes commands from `status.following` does so in between.

    Args:
        config: When something counts as wrong.
        side: The robot.
        safety: The one writer.
        preparation: What the robot does by itself before.
        operated: Parts that an operator may move, "base" among them; None for all there are.

    Attributes:
        status: Who moves the robot, and why nobody does.
        output: The commands last sent; None before the robot's state was known.
        causes: Everything that holds or limits the robot now.
    """

    def __init__(
        self,
        config: RobotSideConfig,
        side: IRobotSide,
        safety: SafetyManager,
        preparation: Preparation,
        *,
        operated: Collection[str] | None = None,
    ) -> None:
        self.config = config
        self.side = side
        self.safety = safety
        self.status: EngagementStatus
        self.output: SafetyOutput | None = None
        self.causes: tuple[Cause, ...] = ()
        self._preparation = preparation
        self._everything = frozenset(safety.parts)
        self._operated = self._everything | {BASE} if operated is None else frozenset(operated)
        self._monitor = FollowMonitor(safety.parts, config)
        self._tried_at = -math.inf
        self._begin_anew()

    @classmethod
    def build(
        cls,
        robot: RobotDescription,
        side: IRobotSide,
        config: RobotSideConfig,
        safety_config: SafetyConfig,
        *,
        initial_pose: str | None = None,
    ) -> "RobotSide":
        """Return the robot side of a robot.

        Args:
            robot: The robot.
            side: Its actuators and sensors.
            config: Parameters of the robot side.
            safety_config: Parameters of the safety manager.
            initial_pose: Named pose the robot starts in; None for the robot's own.

        Raises:
            TeleopError: The configuration names something that the robot does not have.
        """
        safety = SafetyManager(robot, safety_config)
        preparation = Preparation(
            robot,
            safety.parts,
            config.home_pose or initial_pose or robot.initial_pose,
            tolerance=config.home_tolerance,
            with_motion=config.self_test,
        )
        return cls(config, side, safety, preparation)

    @property
    def is_following(self) -> bool:
        """Whether the operator's motion counts."""
        return self.status.following

    @property
    def is_estopped(self) -> bool:
        """Whether an emergency stop is latched, also one that no cycle has met yet."""
        latched = self._was_estopped or self.safety.estopped
        return latched or self.status.state is _S.ESTOPPED

    @property
    def is_resting(self) -> bool:
        """Whether nobody moves the robot, and all that was sent last has come to rest."""
        output = self.output
        if self.status.motion is not MotionSource.NOBODY or output is None:
            return output is None
        base = output.base
        rolls = base.linear_x or base.linear_y or base.angular_z
        return not (rolls or output.joints.velocities.any())

    def restart(self) -> None:
        """Begin anew from wherever the robot is; a latched emergency stop stays latched.

        For a robot that was put somewhere else, as when a simulation starts over.
        """
        latched = self.is_estopped
        self.output = None
        self.causes = ()
        self._begin_anew()
        self._was_estopped = latched
        self.side.measured_at = -math.inf
        self._must_reset = True

    def come_to_rest(self) -> None:
        """Take the robot to stand still, as one does whose commands have been taken away."""
        self.safety.come_to_rest()

    def latch_estop(self) -> None:
        """Begin stopped, as after a restart of a robot whose emergency stop was latched."""
        self._was_estopped = True

    def step(
        self,
        now: float,
        commands: Mapping[str, PartCommand],
        base: VelocityCommand | None,
        requests: Requests,
        *,
        inputs_fresh: bool,
        late: Cause | None = None,
    ) -> SafetyOutput | None:
        """Do everything that is due at time `now` [s] and return what was sent.

        Args:
            now: Time on the clock of the commands' stamps.
            commands: The newest command of each part that has one.
            base: The newest velocity wish for the base, or None.
            requests: What the operator asks for.
            inputs_fresh: Whether the operator's inputs are recent and valid.
            late: The cause that the loop has to report for coming late, if any.
        """
        self.begin(now, requests, inputs_fresh=inputs_fresh)
        return self.finish(now, commands, base, requests, late=late)

    def begin(self, now: float, requests: Requests, *, inputs_fresh: bool) -> EngagementStatus:
        """Read the robot's state and decide who moves it; see `step`."""
        self._meet_robot(now)
        if self.status.state is _S.SYNCING:
            self._synchronise()
        fault = self._monitor.update(now, self.side.positions, self.output)
        self.status = self.engagement.update(now, self._inputs(now, requests, inputs_fresh, fault))
        self._was_estopped = False
        if self.safety.estopped and self.status.state is not _S.ESTOPPED:
            # The engagement alone judges resets, lest one of the two stay latched for itself.
            self.safety.reset_estop()
        if self.status.changed:
            logger.debug("%s: %s", self.status.state.value, self.status.reason)
            self._monitor.reset()
            if self.status.state is _S.SELF_TEST:
                self._preparation.restart()
        return self.status

    def finish(
        self,
        now: float,
        commands: Mapping[str, PartCommand],
        base: VelocityCommand | None,
        requests: Requests,
        *,
        late: Cause | None = None,
    ) -> SafetyOutput | None:
        """Send what the robot may do, and return it; None while nobody knows where it is."""
        self.output = self._secure(now, commands, base, requests)
        self._send()
        self.causes = self._all_causes(late)
        return self.output

    def refusal(self, *, inputs_fresh: bool) -> str:
        """Return why nobody could take control now; empty where somebody could."""
        state = self.status.state
        if state is _S.ENGAGED or (state is _S.READY and inputs_fresh):
            return ""
        if state is _S.READY:
            return "no fresh inputs"
        return f"{state.value}: {self.status.note or self.status.reason}"

    def _begin_anew(self) -> None:
        self._was_estopped = self.safety.estopped
        self._must_reset = False
        self.engagement = Engagement(self.config.engagement)
        self.status = EngagementStatus(_S.STARTING, "power-up", 0.0)
        self._monitor.reset()
        self._preparation.restart()

    def _meet_robot(self, now: float) -> None:
        """Connect to the robot where need be, and read its state."""
        if self.side.is_connected():
            self.side.measure()
        elif now - self._tried_at >= RECONNECT_AFTER:
            self._tried_at = now
            self.side.connect()

    def _inputs(
        self, now: float, asked: Requests, inputs_fresh: bool, fault: str
    ) -> EngagementInputs:
        state, positions = self.status.state, self.side.positions
        return EngagementInputs(
            robot_connected=self.side.is_connected(),
            state_fresh=now - self.side.measured_at <= self.config.state_age,
            # Each is looked at in one state only, and would cost its time in all of them.
            synced=state is _S.SYNCING and self._is_synced(),
            at_home=state is _S.HOMING and self._preparation.is_home(positions),
            self_test_passed=self._preparation.passed,
            inputs_fresh=inputs_fresh,
            clutch_closed=asked.clutch,
            engage_requested=asked.engage,
            disengage_requested=asked.disengage,
            fault=bool(fault),
            detail=fault,
            restart_requested=asked.restart,
            estop_pressed=asked.estop or self._was_estopped,
            estop_reset_requested=asked.reset_estop,
        )

    def _is_synced(self) -> bool:
        if self._must_reset:
            return False
        try:
            commanded = self.safety.positions
        except InvalidJointStateError:
            return False
        return self._monitor.agrees(commanded, self.side.positions)

    def _synchronise(self) -> None:
        """Start from where the robot is, unless it is where it was last told to be."""
        if not self._is_synced() and np.isfinite(self.side.positions).all():
            self.safety.reset(self.side.measured())
            self._must_reset = False

    def _secure(
        self,
        now: float,
        commands: Mapping[str, PartCommand],
        base: VelocityCommand | None,
        asked: Requests,
    ) -> SafetyOutput | None:
        """Return what the robot may do; None while nobody knows where it is."""
        status, engaged = self.status, _NOTHING
        if self._must_reset:
            return None  # What was commanded before has nothing to do with where it is now.
        if status.motion is MotionSource.OPERATOR:
            engaged = self._operated if status.following else engaged
        elif status.motion is MotionSource.SYSTEM:
            commands = self._preparation.wishes(status.state, self.side.positions, now)
            engaged = self._everything
        # Either of the two may have been told alone: before the robot's state was known, or by
        # whoever latches a stop that was there before a restart.
        stopped = asked.estop or status.state is _S.ESTOPPED
        try:
            return self.safety.update(commands, base, now=now, engaged=engaged, estop=stopped)
        except InvalidJointStateError:
            return None  # Nobody has told it yet where the robot is.

    def _send(self) -> None:
        if self.output is None or not self.side.is_connected():
            return
        try:
            self.side.send(self.output)
        except DeviceNotConnectedError as error:
            logger.warning("%s", error)  # The engagement meets it with the next cycle.

    def _all_causes(self, late: Cause | None) -> tuple[Cause, ...]:
        found: list[Cause] = []
        if self.status.cause is not None:
            found.append(self.status.cause)
        if self.output is not None:
            # That nobody has engaged is said once, by the engagement.
            found += [c for c in self.output.causes if c.rule is not Rule.NOT_ENGAGED]
        if late is not None:
            found.append(late)
        return tuple(found)
