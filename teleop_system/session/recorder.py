# SPDX-License-Identifier: Apache-2.0
"""Keeps what a session was given, what it did and why, without holding it up."""

import logging
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from teleop_system.interfaces import Pose6D
from teleop_system.interfaces.causes import Cause
from teleop_system.robot_side.drive import IRobotSide
from teleop_system.robot_side.engagement import EngagementStatus
from teleop_system.robot_side.engagement_table import EngagementState
from teleop_system.robot_side.requests import Requests
from teleop_system.safety import SafetyOutput
from teleop_system.session.artefacts import EventLog, Table
from teleop_system.session.signals import Samples
from teleop_system.session.signals.recording import InputRecorder

logger = logging.getLogger(__name__)

Array = NDArray[np.float64]

STATES = tuple(EngagementState)
"""The states, by the numbers that a trace has for them."""


class SessionRecorder:
    """Tables and events of one session.

    Args:
        joints: All joints of the robot.
        chains: Chains that have targets.
        signals: Signals of the operator.
        events: File for the events, or None.
        limit: Most ticks to keep.
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

    def record_inputs(self, now: float, requests: Requests, samples: Samples) -> None:
        """Keep what the tick at time `now` [s] was given."""
        self.inputs.record(now, requests.encode(), samples)

    def record_tick(
        self,
        now: float,
        *,
        status: EngagementStatus,
        output: SafetyOutput | None,
        side: IRobotSide,
        base_wish: tuple[float, float, float],
        targets: Mapping[str, Pose6D],
        causes: Iterable[Cause],
    ) -> None:
        """Keep what the tick did."""
        if status.changed:
            self.events.add(now, "state", state=status.state.value, reason=status.reason)
        self.events.add_causes(now, causes)
        row, at = self.trace.new_row(), self.trace.slices
        row[at["time"]] = now
        row[at["state"]] = STATES.index(status.state)
        row[at["following"]] = status.following
        row[at["measured"]] = side.positions
        row[at["odometry"]] = side.odometry()
        if output is None:
            return
        row[at["severity"]] = output.severity
        row[at["requested"]] = output.joints.wishes
        row[at["commands"]] = output.positions
        row[at["base_requested"]] = base_wish
        base = output.base
        row[at["base_command"]] = (base.linear_x, base.linear_y, base.angular_z)
        for chain in self.chains:
            target = targets.get(chain)
            if target is not None:
                place = row[at[f"target_{chain}"]]
                place[:3], place[3:] = target.position, target.orientation

    def close(self) -> None:
        """End the events; safe to call twice."""
        self.events.close()
