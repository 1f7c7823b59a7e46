# SPDX-License-Identifier: Apache-2.0
"""What a replay was worth: how near the hands were, what held the robot, where the base went."""

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
from teleop_system.tools.replay.wishes import Following, followings

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

ROUNDING = 1e-6
"""Share of a limit by which rounding may exceed it."""
TIPPING = math.radians(10.0)
"""Tilt of the base in [rad] from which the robot counts as tipping."""


@dataclass(slots=True, eq=False)
class HandScore:
    """How one hand followed.

    Attributes:
        error: RMS distance from the wish where an ideal robot could have been there, in [m].
        aligned: The same with the hand's own delay taken out, in [m].
        everywhere: RMS distance in all ticks in [m].
        ideal: RMS distance of an ideal robot in all ticks in [m].
        turn: RMS angle from the wish in the ticks of `error`, in [rad].
        unreachable: Share of the ticks whose wish the robot cannot reach.
        too_fast: Share of the ticks whose wish it could reach, but not in time.
        delay: Time by which the hand follows in [s].
        workspace: Share of the arm's reach that was used.
        roughness: Dimensionless jerk of the hand, as a logarithm.
        wished_roughness: The same of the person's hand.
        errors: Distance in every tick in [m].
        counted: The ticks that count for `error`.
    """

    error: float
    aligned: float
    everywhere: float
    ideal: float
    turn: float
    unreachable: float
    too_fast: float
    delay: float
    workspace: float
    roughness: float
    wished_roughness: float
    errors: Array = field(repr=False)
    counted: Mask = field(repr=False)


@dataclass(slots=True)
class ReplayScore:
    """How one motion went.

    Attributes:
        motion: Its name.
        duration: Time that the robot followed in [s].
        scale: Way of a hand per way of the person's.
        hands: By chain.
        walk: How the base followed; None where there is none.
        saturation: Share of the ticks in which a joint of arms or torso was at its top speed.
        limit_violations: Commands beyond a limit of the robot's description, by joint.
        self_contacts: Links that touched.
        estops: How often the emergency stop was latched.
        holds: How often a part was held or the robot stopped.
        interventions: How often each rule acted.
        tilt: Largest tilt of the base in [rad].
        state: Where the engagement stood at the end.
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
        """Whether no limit was broken, nothing touched, nothing stopped and nothing tipped."""
        broken = self.limit_violations or self.self_contacts or self.estops
        return not broken and self.tilt < TIPPING and self.state == "engaged"

    def document(self) -> dict[str, Any]:
        """Return the figures as plain values, for JSON."""
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
    """What is known of a replay once it is over; arrays have a row per tick of following.

    Attributes:
        motion: What was played.
        times: Of the motion in [s], shape (T,).
        stamps: Time in [s], evenly spaced, shape (T,).
        joints: All joints of the robot.
        commands: Where they were sent in [rad] or [m], shape (T, N).
        measured: Where they were, shape (T, N).
        odometry: Place [m] and heading [rad] of the base, shape (T, 3).
        limit_violations: Joints that were sent beyond a limit.
        self_contacts: Links that touched.
        interventions: How often each rule acted.
        holds: How often a part was held or the robot stopped.
        tilt: Largest tilt of the base in [rad].
        state: Where the engagement stood at the end.
        tick: Mean time to compute a tick in [s]; NaN where nobody knows.
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
        """Place [m] and heading [rad] of the person, shape (T, 3)."""
        return np.array([self.motion.body(float(time)) for time in self.times])

    @property
    def begin(self) -> dict[str, float]:
        """Where the joints were as the robot began to follow."""
        return dict(zip(self.joints, self.commands[0].tolist(), strict=True))


def score_replay(run: ReplayRun, robot: RobotDescription, settings: TeleopSettings) -> ReplayScore:
    """Return what a replay was worth.

    Args:
        run: What is known of it.
        robot: Its robot.
        settings: What it was run with.
    """
    step = float(np.median(np.diff(run.stamps)))
    found = followings(
        run.motion,
        run.times,
        run.measured,
        robot=robot,
        joints=run.joints,
        begin=run.begin,
        config=settings.arm,
    )
    hands = _score_hands(found, robot, settings, run.begin, step)
    moved = [joint for name in found for joint in robot.chains[name].joints]
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
    found: dict[str, Following],
    robot: RobotDescription,
    settings: TeleopSettings,
    begin: dict[str, float],
    step: float,
) -> dict[str, HandScore]:
    arms = [name for name in found if robot.chains[name].kind == "arm"]
    if not arms:
        return {}
    wishes = {name: following.wished for name, following in found.items()}
    reaches = Reachability(robot, settings.solver, begin).judge(wishes, arms, step)
    fit = robot_proportions(robot)
    reach = fit.reach if fit is not None else 1.0
    return {arm: _score_hand(found[arm], reaches[arm], step, reach) for arm in arms}


def _score_hand(following: Following, limits: HandReach, step: float, reach: float) -> HandScore:
    wished, reached = following.wished, following.reached
    settled = np.arange(len(wished)) * step >= SETTLING
    errors = position_errors(wished.positions, reached.positions)
    turns = orientation_errors(wished.orientations, reached.orientations)
    counted = limits.there & limits.in_time & settled
    delay = latency(wished.positions[settled], reached.positions[settled], step)
    shift = round(delay / step)
    aligned = np.full_like(errors, math.nan)
    aligned[shift:] = position_errors(
        wished.positions[: len(errors) - shift], reached.positions[shift:]
    )
    return HandScore(
        error=rmse(errors, counted),
        aligned=rmse(aligned, counted),
        everywhere=rmse(errors, settled),
        ideal=rmse(limits.ideal, settled),
        turn=rmse(turns, counted),
        unreachable=_share(~limits.there, settled),
        too_fast=_share(limits.there & ~limits.in_time, settled),
        delay=delay,
        workspace=workspace_use(reached.positions, reach),
        roughness=smoothness(reached.positions, step),
        wished_roughness=smoothness(wished.positions, step),
        errors=errors,
        counted=counted,
    )


def _share(flags: Mask, among: Mask) -> float:
    return float(flags[among].mean()) if among.any() else math.nan


def broken_limits(joints: Iterable[JointMetrics]) -> list[str]:
    """Return the joints that were sent beyond a limit of their description."""
    return [joint.name for joint in joints if _is_broken(joint)]


def _is_broken(joint: JointMetrics) -> bool:
    above = 1.0 + ROUNDING
    slack = ROUNDING * max(joint.upper - joint.lower, 1e-9) if math.isfinite(joint.upper) else 0.0
    outside = joint.minimum < joint.lower - slack or joint.maximum > joint.upper + slack
    return outside or joint.speed > above or joint.acceleration > above
