# SPDX-License-Identifier: Apache-2.0
"""The robot side of every wiring: engagement, preparation, safety and drive of one robot.

    commands -> engagement -> SafetyManager -> RobotDrive -> slaves

It reads no clock and knows no messages, so a ROS node, a session and a test use it alike.
"""

import logging
import math
from collections.abc import Collection, Mapping

import numpy as np

from teleop_system.exceptions import DeviceNotConnectedError, InvalidJointStateError
from teleop_system.interfaces import VelocityCommand
from teleop_system.interfaces.causes import Cause, Rule
from teleop_system.robot_side.config import RobotSideConfig
from teleop_system.robot_side.drive import RobotDrive
from teleop_system.robot_side.engagement import Engagement, EngagementStatus, MotionSource
from teleop_system.robot_side.engagement_table import EngagementInputs, EngagementState
from teleop_system.robot_side.following_error import FollowingErrorMonitor
from teleop_system.robot_side.preparation import Preparation
from teleop_system.robot_side.requests import Requests
from teleop_system.robots import RobotDescription
from teleop_system.safety import PartCommand, SafetyConfig, SafetyManager, SafetyOutput
from teleop_system.safety.parts import BASE
from teleop_system.safety.staleness import is_stale

logger = logging.getLogger(__name__)

RECONNECT_AFTER = 1.0
"""Time between two attempts to connect to the robot in [s]."""

_S = EngagementState
_NO_PARTS: frozenset[str] = frozenset()


class RobotSide:
    """Engagement, preparation, safety and drive of one robot.

    A cycle is `begin`, which decides who moves the robot, and `finish`, which moves it; `step`
    does both. A session computes its commands in between, from `status.following`.

    Args:
        robot: The robot.
        drive: Its slaves.
        config: Parameters of the robot side.
        safety_config: Parameters of the safety manager.
        initial_pose: Named pose the robot starts in; None for the robot's own.
        operated: Parts that an operator may move, "base" among them; None for all.

    Attributes:
        status: Who moves the robot, or why it holds.
        output: The commands last sent; None before the robot's state was known.
        causes: Everything that holds or limits the robot now.

    Raises:
        TeleopError: The configuration names something that the robot does not have.
    """

    def __init__(
        self,
        robot: RobotDescription,
        drive: RobotDrive,
        config: RobotSideConfig,
        safety_config: SafetyConfig,
        *,
        initial_pose: str | None = None,
        operated: Collection[str] | None = None,
    ) -> None:
        self.config = config
        self.drive = drive
        self.safety = SafetyManager(robot, safety_config)
        self.status: EngagementStatus
        self.output: SafetyOutput | None = None
        self.causes: tuple[Cause, ...] = ()
        self._preparation = Preparation(
            robot,
            self.safety.parts,
            config.home_pose or initial_pose or robot.initial_pose,
            tolerance=config.home_tolerance,
            with_motion=config.self_test,
        )
        self._all_parts = frozenset(self.safety.parts)
        self._operated = self._all_parts | {BASE} if operated is None else frozenset(operated)
        self._following_error = FollowingErrorMonitor(self.safety.parts, config)
        self._is_connected = False
        self._last_attempt = -math.inf
        self._start()

    @property
    def is_following(self) -> bool:
        """Whether the operator's motion counts."""
        return self.status.following

    @property
    def is_estopped(self) -> bool:
        """Whether an emergency stop is latched, also one that no cycle has processed yet."""
        latched = self._was_estopped or self.safety.estopped
        return latched or self.status.state is _S.ESTOPPED

    @property
    def is_resting(self) -> bool:
        """Whether nothing moves the robot, and its last commands have come to rest."""
        output = self.output
        if self.status.motion is not MotionSource.NONE or output is None:
            return output is None
        base = output.base
        rolls = base.linear_x or base.linear_y or base.angular_z
        return not (rolls or output.velocities.any())

    def restart(self) -> None:
        """Start again from the robot's present pose; a latched emergency stop stays latched.

        For a robot that was moved by others, as when a simulation is reset.
        """
        latched = self.is_estopped
        self.output = None
        self.causes = ()
        self._start()
        self._was_estopped = latched
        self.drive.measured_at = -math.inf
        self._must_reset = True

    def come_to_rest(self) -> None:
        """Take the robot to stand still, as after its cycles have ceased."""
        self.safety.come_to_rest()

    def latch_estop(self) -> None:
        """Start with the emergency stop latched, as after a restart while it was latched."""
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
        """Run the cycle at time `now` [s] and return what was sent.

        Args:
            now: Time on the clock of the commands' stamps.
            commands: The newest command of each part that has one.
            base: The newest velocity command of the base, or None.
            requests: The operator's requests.
            inputs_fresh: Whether the operator's inputs are recent and valid.
            late: The cause of a cycle that started late, if any.
        """
        self.begin(now, requests, inputs_fresh=inputs_fresh)
        return self.finish(now, commands, base, requests, late=late)

    def begin(self, now: float, requests: Requests, *, inputs_fresh: bool) -> EngagementStatus:
        """Read the robot's state and decide who moves it; see `step`."""
        self._read_robot(now)
        if self.status.state is _S.SYNCING:
            self._synchronise()
        fault = self._following_error.update(now, self.drive.positions, self.output)
        inputs = self._engagement_inputs(now, requests, inputs_fresh, fault)
        self.status = self.engagement.update(now, inputs)
        self._was_estopped = False
        if self.safety.estopped and self.status.state is not _S.ESTOPPED:
            # The engagement alone decides about resets, so that both latches open together.
            self.safety.reset_estop()
        if self.status.changed:
            logger.debug("%s: %s", self.status.state.value, self.status.reason)
            self._following_error.reset()
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
        """Limit and send the commands; return what was sent, None while the state is unknown."""
        output = self.output = self._limit(now, commands, base, requests)
        cause = self.status.cause
        causes = [] if cause is None else [cause]
        if output is not None:
            self._send(output)
            # The engagement already reports that the robot is not engaged.
            causes.extend(c for c in output.causes if c.rule is not Rule.NOT_ENGAGED)
        if late is not None:
            causes.append(late)
        self.causes = tuple(causes)
        return output

    def refusal(self, *, inputs_fresh: bool) -> str:
        """Return why a request to engage would be refused now; empty where it would not."""
        state = self.status.state
        if state is _S.ENGAGED or (state is _S.READY and inputs_fresh):
            return ""
        if state is _S.READY:
            return "no fresh inputs"
        return f"{state.value}: {self.status.note or self.status.reason}"

    def _start(self) -> None:
        self._was_estopped = self.safety.estopped
        self._must_reset = False
        self.engagement = Engagement(self.config.engagement)
        self.status = EngagementStatus(_S.STARTING, "power-up", 0.0)
        self._following_error.reset()
        self._preparation.restart()

    def _read_robot(self, now: float) -> None:
        """Connect to the robot if necessary, and read its state."""
        self._is_connected = self.drive.measure()
        if not self._is_connected and now - self._last_attempt >= RECONNECT_AFTER:
            self._last_attempt = now
            self._is_connected = self.drive.connect()

    def _engagement_inputs(
        self, now: float, requests: Requests, inputs_fresh: bool, fault: str
    ) -> EngagementInputs:
        state, positions = self.status.state, self.drive.positions
        return EngagementInputs(
            robot_connected=self._is_connected,
            state_fresh=not is_stale(now - self.drive.measured_at, self.config.state_age),
            # Each of these two counts in one state only.
            synced=state is _S.SYNCING and self._is_synced(),
            at_home=state is _S.HOMING and self._preparation.is_home(positions),
            self_test_passed=self._preparation.passed,
            inputs_fresh=inputs_fresh,
            clutch_closed=requests.clutch,
            engage_requested=requests.engage,
            disengage_requested=requests.disengage,
            fault=bool(fault),
            detail=fault,
            restart_requested=requests.restart,
            estop_pressed=requests.estop or self._was_estopped,
            estop_reset_requested=requests.reset_estop,
        )

    def _is_synced(self) -> bool:
        if self._must_reset:
            return False
        try:
            commanded = self.safety.positions
        except InvalidJointStateError:
            return False
        return self._following_error.agrees(commanded, self.drive.positions)

    def _synchronise(self) -> None:
        """Start from the measured positions, unless the robot is where it was commanded to be."""
        if not self._is_synced() and np.isfinite(self.drive.positions).all():
            self.safety.reset(self.drive.measured())
            self._must_reset = False

    def _limit(
        self,
        now: float,
        commands: Mapping[str, PartCommand],
        base: VelocityCommand | None,
        requests: Requests,
    ) -> SafetyOutput | None:
        """Return what the robot may do; None while its state is unknown."""
        status, engaged = self.status, _NO_PARTS
        if self._must_reset:
            return None  # The last commands are unrelated to the robot's present pose.
        if status.motion is MotionSource.OPERATOR:
            engaged = self._operated if status.following else engaged
        elif status.motion is MotionSource.SYSTEM:
            commands = self._preparation.commands(status.state, self.drive.positions, now)
            engaged = self._all_parts
        # Both count: a press while the state was unknown, and a stop latched before a restart.
        stopped = requests.estop or status.state is _S.ESTOPPED
        try:
            return self.safety.update(commands, base, now=now, engaged=engaged, estop=stopped)
        except InvalidJointStateError:
            return None  # The safety manager has no measured positions yet.

    def _send(self, output: SafetyOutput) -> None:
        try:
            self.drive.send(output)
        except DeviceNotConnectedError as error:
            logger.warning("%s", error)  # The engagement reacts in the next cycle.
