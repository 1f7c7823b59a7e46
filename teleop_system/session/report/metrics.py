# SPDX-License-Identifier: Apache-2.0
"""What the numbers of a run say: how well it followed, how it moved, how it kept time."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from teleop_system.modules.arm_teleop.chain_kinematics import ChainKinematics
from teleop_system.robots import RobotDescription
from teleop_system.utils.transforms import quat_distance

Array = NDArray[np.float64]
Columns = Mapping[str, Array]

SETTLING = 1.5
"""Time after taking control in [s] that does not count, for the robot still catches up."""


@dataclass(frozen=True, slots=True, eq=False)
class TrackingMetrics:
    """How far an end effector of the robot was from where the operator wanted it.

    Attributes:
        chain: Name of the chain.
        position: Distance in every tick in [m], shape (T,); NaN without a target.
        orientation: Angle in every tick in [rad], shape (T,); NaN without a target.
        counted: Whether a tick counts for the figures below, shape (T,).
    """

    chain: str
    position: Array
    orientation: Array
    counted: NDArray[np.bool_]

    @property
    def figures(self) -> dict[str, float]:
        """RMS, 95th percentile and largest of both errors in [m] and [rad]."""
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
    """How one joint moved.

    Attributes:
        name: Its name.
        lower: Smallest allowed position in [rad] or [m].
        upper: Largest allowed position.
        least: Smallest commanded position.
        most: Largest commanded position.
        speed: Largest commanded speed as a share of the limit.
        acceleration: Largest commanded acceleration as a share of the limit.
        error: RMS difference between command and robot in [rad] or [m].
    """

    name: str
    lower: float
    upper: float
    least: float
    most: float
    speed: float
    acceleration: float
    error: float


@dataclass(frozen=True, slots=True)
class BaseMetrics:
    """How the base moved.

    Attributes:
        wished: Way that the operator walked in [m].
        driven: Way that the base went in [m].
        turned: Angle that the base turned, all turns added up, in [rad].
        lag: Time by which the base followed the wish in [s].
    """

    wished: float
    driven: float
    turned: float
    lag: float


def track(
    columns: Columns, chains: Sequence[str], robot: RobotDescription, joints: Sequence[str]
) -> list[TrackingMetrics]:
    """Return how well each chain followed, from a trace.

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
    measured = columns["measured"]
    found = []
    for chain in chains:
        targets = columns[f"target_{chain}"]
        distances = np.full(len(targets), math.nan)
        angles = distances.copy()
        for tick in np.flatnonzero(np.isfinite(targets[:, 0])).tolist():
            place, turn = kinematics.place(chain, measured[tick].tolist())
            distances[tick] = math.dist(place, targets[tick, :3].tolist())
            angles[tick] = float(quat_distance(np.array(turn), targets[tick, 3:]))
        found.append(TrackingMetrics(chain, distances, angles, counted))
    return found


def following_ticks(columns: Columns) -> NDArray[np.bool_]:
    """Return in which ticks the robot followed, and had done so long enough to count."""
    time, following = columns["time"], columns["following"] > 0.5
    counted = np.zeros(time.size, dtype=bool)
    since = math.inf
    for tick, follows in enumerate(following.tolist()):
        since = min(since, time[tick]) if follows else math.inf
        counted[tick] = time[tick] - since >= SETTLING
    return counted


def judge_joints(
    columns: Columns, robot: RobotDescription, joints: Sequence[str]
) -> list[JointMetrics]:
    """Return how each joint moved."""
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
    for place, name in enumerate(joints):
        limits = robot.limits(name)
        found.append(
            JointMetrics(
                name,
                limits.lower,
                limits.upper,
                float(commands[:, place].min()),
                float(commands[:, place].max()),
                float(np.abs(speeds[:, place]).max() / limits.velocity),
                float(np.abs(changes[:, place]).max() / limits.acceleration),
                float(errors[place]),
            )
        )
    return found


def judge_base(columns: Columns) -> BaseMetrics | None:
    """Return how the base moved; None where it never did and nobody wanted it to."""
    time, odometry = columns["time"], columns["odometry"]
    wish = np.nan_to_num(columns["base_wish"])
    if len(time) < 3 or not (wish.any() or np.ptp(odometry[:, :2], axis=0).any()):
        return None
    steps = np.diff(time)
    wished = float(np.sum(wish[1:, 0] * steps))
    moved = np.diff(odometry[:, :2], axis=0)
    heading = np.unwrap(odometry[:, 2])
    ahead = moved[:, 0] * np.cos(heading[1:]) + moved[:, 1] * np.sin(heading[1:])
    speed = ahead / steps
    return BaseMetrics(
        wished,
        float(ahead.sum()),
        float(np.abs(np.diff(heading)).sum()),
        _lag(wish[1:, 0], speed, float(np.median(steps))),
    )


def _lag(wish: Array, actual: Array, step: float) -> float:
    """Return the delay in [s] at which two courses resemble each other most."""
    if not wish.any() or not actual.any():
        return math.nan
    longest = min(len(wish) - 1, int(1.0 / step))
    scores = [float(np.dot(wish[: len(wish) - d], actual[d:])) for d in range(longest)]
    return int(np.argmax(scores)) * step if scores else math.nan
