# SPDX-License-Identifier: Apache-2.0
"""Score of a replay: tracking errors of the hands, holds, and motion of the base."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from teleop_system.mocap.mapped_motion import MappedMotion
from teleop_system.mocap.metrics import (
    latency,
    orientation_errors,
    position_errors,
    rmse,
    smoothness,
    velocity_saturation,
    workspace_use,
)
from teleop_system.robots import RobotDescription
from teleop_system.session.report.metrics import SETTLING, JointMetrics
from teleop_system.session.robot_proportions import robot_proportions
from teleop_system.settings import TeleopSettings
from teleop_system.tools.replay.base_oracle import WalkScore, judge_walk
from teleop_system.tools.replay.reachability import HandReach, Reachability
from teleop_system.tools.replay.tracker_targets import ChainTracking, chain_tracking

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

ROUNDING = 1e-6
"""Share of a limit by which rounding may exceed it."""
TIPPING = math.radians(10.0)
"""Tilt of the base in [rad] at which the robot counts as tipping."""


@dataclass(slots=True, eq=False)
class HandScore:
    """How well one hand followed.

    Attributes:
        error: RMS distance from the target in [m], where an ideal robot could reach it.
        aligned: The same without the hand's delay, in [m].
        everywhere: RMS distance in all ticks in [m].
        ideal: RMS distance of an ideal robot in all ticks in [m].
        orientation_error: RMS angle from the target in the ticks of `error`, in [rad].
        unreachable: Share of the ticks with a target out of reach.
        too_fast: Share of the ticks with a target within reach, but not in time.
        delay: Delay of the hand in [s].
        workspace: Used share of the arm's reach.
        roughness: Logarithm of the hand's dimensionless jerk.
        target_roughness: The same of the target.
        errors: Distance in every tick in [m].
        counted: The ticks that count for `error`.
    """

    error: float
    aligned: float
    everywhere: float
    ideal: float
    orientation_error: float
    unreachable: float
    too_fast: float
    delay: float
    workspace: float
    roughness: float
    target_roughness: float
    errors: Array = field(repr=False)
    counted: Mask = field(repr=False)


@dataclass(slots=True)
class ReplayScore:
    """Score of one replayed motion.

    Attributes:
        motion: Name of the motion.
        duration: Time that the robot followed in [s].
        scale: Displacement of the robot's hand per displacement of the person's hand.
        hands: By chain.
        walk: How well the base followed; None without a base.
        saturation: Share of the ticks in which a joint of arms or torso was at its top speed.
        limit_violations: Joints with commands beyond a limit of the robot description.
        self_contacts: Pairs of links that touched.
        estops: Number of emergency stops.
        holds: Number of holds of a part or the robot.
        interventions: Number of interventions of each rule.
        tilt: Largest tilt of the base in [rad].
        state: Engagement state at the end.
        tick: Mean time to compute a tick in [s].
    """

    motion: str
    duration: float
    scale: float
    hands: dict[str, HandScore]
    walk: WalkScore | None
    saturation: float
    limit_violations: list[str]
    self_contacts: list[tuple[str, str]]
    estops: int
    holds: int
    interventions: dict[str, int]
    tilt: float
    state: str
    tick: float

    @property
    def is_safe(self) -> bool:
        """Whether there was no limit violation, contact, emergency stop or tipping."""
        broken = self.limit_violations or self.self_contacts or self.estops
        return not broken and self.tilt < TIPPING and self.state == "engaged"

    def document(self) -> dict[str, Any]:
        """Return the score as plain values, for JSON."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        fields["hands"] = {
            chain: {
                name: getattr(hand, name)
                for name in hand.__slots__
                if name not in ("errors", "counted")
            }
            for chain, hand in self.hands.items()
        }
        fields["safe"] = self.is_safe
        fields["base_share"] = self.walk.share if self.walk is not None else None
        return fields


@dataclass(slots=True, eq=False)
class ReplayRun:
    """Data of a finished replay; arrays have one row per tick of following.

    Attributes:
        motion: The replayed motion.
        times: Time in the motion in [s], shape (T,).
        stamps: Time in [s], evenly spaced, shape (T,).
        joints: All joints of the robot.
        commands: Commanded positions in [rad] or [m], shape (T, N).
        measured: Measured positions, shape (T, N).
        odometry: Position [m] and heading [rad] of the base, shape (T, 3).
        limit_violations: Joints that were commanded beyond a limit.
        self_contacts: Pairs of links that touched.
        interventions: Number of interventions of each rule.
        holds: Number of holds of a part or the robot.
        tilt: Largest tilt of the base in [rad].
        state: Engagement state at the end.
        tick: Mean time to compute a tick in [s]; NaN if unknown.
    """

    motion: MappedMotion
    times: Array
    stamps: Array
    joints: tuple[str, ...]
    commands: Array
    measured: Array
    odometry: Array
    limit_violations: list[str]
    self_contacts: list[tuple[str, str]]
    interventions: dict[str, int]
    holds: int
    tilt: float
    state: str
    tick: float = math.nan

    @property
    def body(self) -> Array:
        """Position [m] and heading [rad] of the person, shape (T, 3)."""
        return np.array([self.motion.body(float(time)) for time in self.times])

    @property
    def begin(self) -> dict[str, float]:
        """Joint positions at the start of following."""
        return dict(zip(self.joints, self.commands[0].tolist(), strict=True))


def score_replay(run: ReplayRun, robot: RobotDescription, settings: TeleopSettings) -> ReplayScore:
    """Return the score of a replay.

    Args:
        run: Data of the replay.
        robot: Its robot.
        settings: Its settings.
    """
    step = float(np.median(np.diff(run.stamps)))
    tracking = chain_tracking(
        run.motion,
        run.times,
        run.measured,
        robot=robot,
        joints=run.joints,
        begin=run.begin,
        config=settings.arm,
    )
    hands = _score_hands(tracking, robot, settings, run.begin, step)
    moved = [joint for name in tracking for joint in robot.chains[name].joints]
    columns = [run.joints.index(joint) for joint in moved]
    limits = np.array([robot.limits(joint).velocity for joint in moved])
    walk = None
    if robot.base is not None and robot.base.kind == "differential":
        config = settings.locomotion.within(robot.base)
        walk = judge_walk(run.stamps, run.body, run.odometry, config)
    return ReplayScore(
        motion=run.motion.name,
        duration=float(len(run.stamps) * step),
        scale=run.motion.scale,
        hands=hands,
        walk=walk,
        saturation=velocity_saturation(run.commands[:, columns], limits, step),
        limit_violations=run.limit_violations,
        self_contacts=run.self_contacts,
        estops=run.interventions.get("estop", 0),
        holds=run.holds,
        interventions=dict(run.interventions),
        tilt=run.tilt,
        state=run.state,
        tick=run.tick,
    )


def _score_hands(
    tracking: dict[str, ChainTracking],
    robot: RobotDescription,
    settings: TeleopSettings,
    begin: dict[str, float],
    step: float,
) -> dict[str, HandScore]:
    arms = [name for name in tracking if robot.chains[name].kind == "arm"]
    if not arms:
        return {}
    targets = {name: chain.target for name, chain in tracking.items()}
    reaches = Reachability(robot, settings.solver, begin).judge(targets, arms, step)
    fit = robot_proportions(robot)
    reach = fit.reach if fit is not None else 1.0
    return {arm: _score_hand(tracking[arm], reaches[arm], step, reach) for arm in arms}


def _score_hand(chain: ChainTracking, limits: HandReach, step: float, reach: float) -> HandScore:
    target, measured = chain.target, chain.measured
    settled = np.arange(len(target)) * step >= SETTLING
    errors = position_errors(target.positions, measured.positions)
    angles = orientation_errors(target.orientations, measured.orientations)
    counted = limits.is_reachable & limits.is_in_time & settled
    delay = latency(target.positions[settled], measured.positions[settled], step)
    shift = round(delay / step)
    aligned = np.full_like(errors, math.nan)
    aligned[shift:] = position_errors(
        target.positions[: len(errors) - shift], measured.positions[shift:]
    )
    return HandScore(
        error=rmse(errors, counted),
        aligned=rmse(aligned, counted),
        everywhere=rmse(errors, settled),
        ideal=rmse(limits.ideal, settled),
        orientation_error=rmse(angles, counted),
        unreachable=_share(~limits.is_reachable, settled),
        too_fast=_share(limits.is_reachable & ~limits.is_in_time, settled),
        delay=delay,
        workspace=workspace_use(measured.positions, reach),
        roughness=smoothness(measured.positions, step),
        target_roughness=smoothness(target.positions, step),
        errors=errors,
        counted=counted,
    )


def _share(flags: Mask, among: Mask) -> float:
    return float(flags[among].mean()) if among.any() else math.nan


def broken_limits(joints: Iterable[JointMetrics]) -> list[str]:
    """Return the joints that were commanded beyond a limit of the robot description."""
    return [joint.name for joint in joints if _is_broken(joint)]


def _is_broken(joint: JointMetrics) -> bool:
    above = 1.0 + ROUNDING
    slack = ROUNDING * max(joint.upper - joint.lower, 1e-9) if math.isfinite(joint.upper) else 0.0
    outside = joint.minimum < joint.lower - slack or joint.maximum > joint.upper + slack
    return outside or joint.speed > above or joint.acceleration > above
