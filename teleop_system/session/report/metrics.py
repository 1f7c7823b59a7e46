# SPDX-License-Identifier: Apache-2.0
"""Metrics of a recorded run: tracking errors, motion of the joints, motion of the base."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from teleop_system.robots import RobotDescription
from teleop_system.solvers.chain_kinematics import ChainKinematics
from teleop_system.utils.transforms import quat_distance

Array = NDArray[np.float64]
Columns = Mapping[str, Array]

SETTLING = 1.5
"""Time after engaging in [s] that is not evaluated, because the robot is still catching up."""


@dataclass(frozen=True, slots=True, eq=False)
class TrackingMetrics:
    """Distance of an end effector, as measured, from its target.

    Attributes:
        chain: Name of the chain.
        position: Distance in every tick in [m], shape (T,); NaN without a target.
        orientation: Angle in every tick in [rad], shape (T,); NaN without a target.
        counted: Whether a tick is evaluated in `figures`, shape (T,).
    """

    chain: str
    position: Array
    orientation: Array
    counted: NDArray[np.bool_]

    @property
    def figures(self) -> dict[str, float]:
        """RMS, 95th percentile and maximum of both errors in [m] and [rad]."""
        found = {}
        for name, values in (("position", self.position), ("orientation", self.orientation)):
            kept = values[self.counted]
            kept = kept[np.isfinite(kept)]
            found[f"{name}_rms"] = float(np.sqrt(np.mean(kept**2))) if kept.size else math.nan
            found[f"{name}_p95"] = float(np.percentile(kept, 95.0)) if kept.size else math.nan
            found[f"{name}_max"] = float(kept.max()) if kept.size else math.nan
        return found


@dataclass(frozen=True, slots=True)
class JointMetrics:
    """Motion of one joint.

    Attributes:
        name: Name of the joint.
        lower: Smallest allowed position in [rad] or [m].
        upper: Largest allowed position.
        minimum: Smallest commanded position.
        maximum: Largest commanded position.
        speed: Largest commanded speed as a share of the limit.
        acceleration: Largest commanded acceleration as a share of the limit.
        error: RMS difference between command and measurement in [rad] or [m].
    """

    name: str
    lower: float
    upper: float
    minimum: float
    maximum: float
    speed: float
    acceleration: float
    error: float


@dataclass(frozen=True, slots=True)
class BaseMetrics:
    """Motion of the base.

    Attributes:
        commanded: Distance that the operator commanded, forward minus backward, in [m].
        driven: Distance that the base drove, forward minus backward, in [m].
        rotated: Sum of all rotations, left or right, in [rad].
        lag: Delay of the base behind the command in [s].
    """

    commanded: float
    driven: float
    rotated: float
    lag: float


def tracking_metrics(
    columns: Columns, chains: Sequence[str], robot: RobotDescription, joints: Sequence[str]
) -> list[TrackingMetrics]:
    """Return the tracking errors of each chain.

    Args:
        columns: The trace.
        chains: Chains that had targets.
        robot: The robot.
        joints: Joints of the trace, in its order.
    """
    if not chains:
        return []
    kinematics = ChainKinematics(robot, {name: robot.chains[name] for name in chains}, joints)
    counted = following_ticks(columns)
    poses = kinematics.along(columns["measured"])
    found = []
    for chain in chains:
        targets = columns[f"target_{chain}"]
        measured = poses[chain]
        distances = np.linalg.norm(measured["position"] - targets[:, :3], axis=1)
        angles = np.full(len(targets), math.nan)
        known = np.isfinite(targets[:, 0])
        angles[known] = quat_distance(measured["orientation"][known], targets[known, 3:])
        found.append(TrackingMetrics(chain, distances, angles, counted))
    return found


def following_ticks(columns: Columns) -> NDArray[np.bool_]:
    """Return the ticks in which the robot has followed for at least `SETTLING`, shape (T,)."""
    time, following = columns["time"], columns["following"] > 0.5
    counted = np.zeros(time.size, dtype=bool)
    since = math.inf
    for tick, follows in enumerate(following.tolist()):
        since = min(since, time[tick]) if follows else math.inf
        counted[tick] = time[tick] - since >= SETTLING
    return counted


def joint_metrics(
    columns: Columns, robot: RobotDescription, joints: Sequence[str]
) -> list[JointMetrics]:
    """Return the motion of each joint."""
    commands, measured, time = columns["commands"], columns["measured"], columns["time"]
    known = np.isfinite(commands).all(axis=1)
    commands, measured, time = commands[known], measured[known], time[known]
    if len(commands) < 3:
        return []
    steps = np.diff(time)[:, None]
    speeds = np.diff(commands, axis=0) / steps
    changes = np.diff(speeds, axis=0) / steps[1:]
    errors = np.sqrt(np.mean((commands - measured) ** 2, axis=0))
    found = []
    for index, name in enumerate(joints):
        limits = robot.limits(name)
        found.append(
            JointMetrics(
                name,
                limits.lower,
                limits.upper,
                float(commands[:, index].min()),
                float(commands[:, index].max()),
                float(np.abs(speeds[:, index]).max() / limits.velocity),
                float(np.abs(changes[:, index]).max() / limits.acceleration),
                float(errors[index]),
            )
        )
    return found


def base_metrics(columns: Columns) -> BaseMetrics | None:
    """Return the motion of the base; None if it was neither commanded nor moved."""
    time, odometry = columns["time"], columns["odometry"]
    requested = np.nan_to_num(columns["base_requested"])
    if len(time) < 3 or not (requested.any() or np.ptp(odometry[:, :2], axis=0).any()):
        return None
    steps = np.diff(time)
    moved = np.diff(odometry[:, :2], axis=0)
    heading = np.unwrap(odometry[:, 2])
    ahead = moved[:, 0] * np.cos(heading[1:]) + moved[:, 1] * np.sin(heading[1:])
    speed = ahead / steps
    return BaseMetrics(
        float(np.sum(requested[1:, 0] * steps)),
        float(ahead.sum()),
        float(np.abs(np.diff(heading)).sum()),
        _lag(requested[1:, 0], speed, float(np.median(steps))),
    )


def _lag(requested: Array, actual: Array, step: float) -> float:
    """Return the delay in [s] at which two signals correlate best, at most 1 s."""
    if not requested.any() or not actual.any():
        return math.nan
    size = len(requested)
    longest = min(size - 1, int(1.0 / step))
    scores = [float(np.dot(requested[: size - d], actual[d:])) for d in range(longest)]
    return int(np.argmax(scores)) * step if scores else math.nan
