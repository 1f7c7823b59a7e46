# SPDX-License-Identifier: Apache-2.0
"""Records the inputs, outputs and causes of a session in memory."""

import logging
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from teleop_system.interfaces import Pose6D, VelocityCommand
from teleop_system.interfaces.causes import Cause
from teleop_system.robot_side.engagement_table import EngagementState
from teleop_system.robot_side.requests import Requests
from teleop_system.robot_side.robot_side import RobotSide
from teleop_system.session.artefacts import EventLog
from teleop_system.session.signals import Samples
from teleop_system.session.signals.recording import InputRecorder
from teleop_system.utils.table import Table

logger = logging.getLogger(__name__)

Array = NDArray[np.float64]

STATES = tuple(EngagementState)
"""The states in the order of their numbers in a trace."""


class SessionRecorder:
    """Tables and events of one session.

    Args:
        joints: All joints of the robot.
        chains: Chains that have targets.
        signals: Signals of the operator.
        events: File for the events, or None.
        limit: Largest number of ticks to keep.
    """

    def __init__(
        self,
        joints: tuple[str, ...],
        chains: Iterable[str],
        signals: Iterable[str],
        *,
        events: Path | None = None,
        limit: int | None = None,
    ) -> None:
        size = len(joints)
        self.joints = joints
        self.chains = tuple(chains)
        self.inputs = InputRecorder(signals, limit)
        self.trace = Table(
            {
                "time": 1,
                "state": 1,
                "following": 1,
                "severity": 1,
                "requested": size,
                "commands": size,
                "measured": size,
                "base_requested": 3,
                "base_command": 3,
                "odometry": 3,
                **{f"target_{chain}": 7 for chain in self.chains},
            },
            limit,
        )
        self.events = EventLog(events)

    def record(
        self,
        now: float,
        requests: Requests,
        samples: Samples,
        robot_side: RobotSide,
        base_request: VelocityCommand,
        targets: Mapping[str, Pose6D],
        causes: Iterable[Cause],
    ) -> None:
        """Record the inputs and outputs of the tick at time `now` [s]."""
        self.inputs.record(now, requests.encode(), samples)
        status, output, drive = robot_side.status, robot_side.output, robot_side.drive
        if status.changed:
            self.events.add(now, "state", state=status.state.value, reason=status.reason)
        self.events.add_causes(now, causes)
        row, at = self.trace.new_row(), self.trace.slices
        row[at["time"]] = now
        row[at["state"]] = STATES.index(status.state)
        row[at["following"]] = status.following
        row[at["measured"]] = drive.positions
        row[at["odometry"]] = drive.odometry()
        if output is None:
            return
        row[at["severity"]] = output.severity
        row[at["requested"]] = output.commanded
        row[at["commands"]] = output.positions
        for name, base in (("base_requested", base_request), ("base_command", output.base)):
            row[at[name]] = (base.linear_x, base.linear_y, base.angular_z)
        for chain in self.chains:
            target = targets.get(chain)
            if target is not None:
                pose = row[at[f"target_{chain}"]]
                pose[:3], pose[3:] = target.position, target.orientation

    def close(self) -> None:
        """Close the event log; safe to call twice."""
        self.events.close()
