# SPDX-License-Identifier: Apache-2.0
"""The status of a running session, as shown to the operator."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from teleop_system.interfaces import Pose6D, VelocityCommand
from teleop_system.interfaces.causes import Cause, Severity
from teleop_system.robot_side.engagement import EngagementStatus
from teleop_system.robots import RobotDescription
from teleop_system.solvers.chain_kinematics import ChainKinematics
from teleop_system.utils.poses import angle_between

if TYPE_CHECKING:
    from teleop_system.session.session import TeleopSession

SHORTEST_SPAN = 0.5
"""Shortest time over which a rate is measured in [s]."""


@dataclass(frozen=True, slots=True)
class TrackingError:
    """Distance of an end effector from its target.

    Attributes:
        position: Distance in [m].
        orientation: Angle in [rad].
    """

    position: float
    orientation: float


@dataclass(frozen=True, slots=True)
class SessionStatus:
    """State of a session at one moment.

    Attributes:
        time: Session time in [s].
        ticks: Ticks so far.
        engagement: Engagement state and the reason for it.
        causes: What holds or limits the robot now.
        errors: Tracking error by chain, for chains that have a target.
        rates: Measured rate of every controller in [Hz].
        speed: Session time divided by wall time.
        overruns: Ticks that started more than one period late.
        base: Commanded velocity of the base: forward [m/s], to the left [m/s], yaw [rad/s].
    """

    time: float
    ticks: int
    engagement: EngagementStatus
    causes: tuple[Cause, ...] = ()
    errors: Mapping[str, TrackingError] = field(default_factory=dict)
    rates: Mapping[str, float] = field(default_factory=dict)
    speed: float = 0.0
    overruns: int = 0
    base: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @property
    def severity(self) -> Severity:
        """The highest severity of all causes."""
        return max((cause.severity for cause in self.causes), default=Severity.INFO)


class StatusReporter:
    """Creates the status of a session.

    Args:
        session: The session.
        robot: Its robot.
    """

    def __init__(self, session: "TeleopSession", robot: RobotDescription) -> None:
        self._session = session
        names = [name for schedule in session.schedules for name in schedule.module.chains]
        chains = {name: robot.chains[name] for name in names}
        self._kinematics = ChainKinematics(robot, chains, session.robot_side.safety.parts.joints)
        self._counted_at = 0.0
        self._counts = {schedule.module.name: 0 for schedule in session.schedules}
        self._rates: dict[str, float] = {}

    def status(self, elapsed: float, speed: float, overruns: int) -> SessionStatus:
        """Return the status after `elapsed` [s] of wall time."""
        session = self._session
        self._count(elapsed)
        base = session.output.base if session.output is not None else VelocityCommand()
        return SessionStatus(
            time=session.clock.time,
            ticks=session.ticks,
            engagement=session.status,
            causes=session.causes,
            errors={chain: self.error(chain, pose) for chain, pose in session.targets.items()},
            rates=self._rates,
            speed=speed,
            overruns=overruns,
            base=(base.linear_x, base.linear_y, base.angular_z),
        )

    def error(self, chain: str, target: Pose6D) -> TrackingError:
        """Return how far an end effector, as last measured, is from a target."""
        positions = self._session.robot_side.drive.positions.tolist()
        position, orientation = self._kinematics.pose(chain, positions)
        x, y, z, w = target.orientation.tolist()
        return TrackingError(
            math.dist(position, target.position.tolist()),
            angle_between(orientation, (x, y, z, w)),
        )

    def _count(self, elapsed: float) -> None:
        """Update the rates once enough time has passed."""
        span = elapsed - self._counted_at
        if span < SHORTEST_SPAN:
            return
        counts = {schedule.module.name: schedule.updates for schedule in self._session.schedules}
        self._rates = {name: (n - self._counts[name]) / span for name, n in counts.items()}
        self._counted_at, self._counts = elapsed, counts
