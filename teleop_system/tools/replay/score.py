# SPDX-License-Identifier: Apache-2.0
"""What a replay was worth: how near the hands were, what held the robot, where the base went."""

import math
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
from teleop_system.runtime.report.metrics import SETTLING, JointMetrics
from teleop_system.runtime.robot_fit import robot_fit
from teleop_system.runtime.session.session import TeleopSession
from teleop_system.runtime.session.wrap_up import RunOutcome
from teleop_system.settings import TeleopSettings
from teleop_system.tools.replay.base_oracle import WalkScore, judge_walk
from teleop_system.tools.replay.reachability import Reachability
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
        error: RMS distance from the wish where it could be reached in time, in [m].
        aligned: The same with the hand's own delay taken out, in [m].
        everywhere: RMS distance in all ticks in [m].
        turn: RMS angle from the wish where it could be reached in time, in [rad].
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


def score_replay(
    session: TeleopSession,
    robot: RobotDescription,
    settings: TeleopSettings,
    outcome: RunOutcome,
    motion: MappedMotion,
    body: Array,
    *,
    tilt: float,
    state: str,
) -> ReplayScore:
    """Return the score of a recorded session.

    Args:
        session: The session that is over.
        robot: Its robot.
        settings: What it was run with.
        outcome: What the run itself is judged by.
        motion: What was played.
        body: Place [m] and heading [rad] of the person while the robot followed, shape (T, 3).
        tilt: Largest tilt of the base in [rad].
        state: State of the engagement before the end.
    """
    recorder = session.recorder
    assert recorder is not None, "only a recorded session can be scored"
    trace = recorder.trace.columns()
    ticks = np.flatnonzero(trace["following"] > 0.5)
    step = 1.0 / session.rate
    found = followings(recorder, robot, settings.arm)
    begin = dict(zip(recorder.joints, trace["commands"][ticks[0]].tolist(), strict=True))
    hands = _score_hands(found, robot, settings, begin, step)
    moved = [joint for name in found for joint in robot.chains[name].joints]
    columns = [recorder.joints.index(joint) for joint in moved]
    limits = np.array([robot.limits(joint).velocity for joint in moved])
    walk = None
    if robot.base is not None and robot.base.kind == "differential":
        config = settings.locomotion.within(robot.base)
        size = min(len(ticks), len(body))
        odometry = trace["odometry"][ticks[:size]]
        walk = judge_walk(trace["time"][ticks[:size]], body[:size], odometry, config)
    return ReplayScore(
        motion=motion.name,
        duration=float(len(ticks) * step),
        scale=motion.scale,
        hands=hands,
        walk=walk,
        saturation=velocity_saturation(trace["commands"][ticks][:, columns], limits, step),
        limit_violations=[joint.name for joint in outcome.joints if _is_broken(joint)],
        self_contacts=list(outcome.self_contacts or ()),
        estops=outcome.interventions.get("estop", 0),
        holds=outcome.holds,
        interventions=dict(outcome.interventions),
        tilt=tilt,
        state=state,
        tick=float(np.mean(session.timer.history.column(session.timer.TOTAL))),
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
    there, in_time = Reachability(robot, settings.solver, begin).judge(wishes, arms, step)
    settled = np.arange(len(in_time)) * step >= SETTLING
    fit = robot_fit(robot)
    reach = fit.reach if fit is not None else 1.0
    return {
        arm: _score_hand(found[arm], there[arm], in_time, settled, step, reach) for arm in arms
    }


def _score_hand(
    following: Following, there: Mask, in_time: Mask, settled: Mask, step: float, reach: float
) -> HandScore:
    wished, reached = following.wished, following.reached
    errors = position_errors(wished.positions, reached.positions)
    turns = orientation_errors(wished.orientations, reached.orientations)
    counted = there & in_time & settled
    delay = latency(wished.positions[settled], reached.positions[settled], step)
    shift = round(delay / step)
    aligned = np.full_like(errors, math.nan)
    if shift:
        aligned[shift:] = position_errors(wished.positions[:-shift], reached.positions[shift:])
    else:
        aligned = errors
    return HandScore(
        error=rmse(errors, counted),
        aligned=rmse(aligned, counted),
        everywhere=rmse(errors, settled),
        turn=rmse(turns, counted),
        unreachable=float((~there[settled]).mean()) if settled.any() else math.nan,
        too_fast=float((there & ~in_time)[settled].mean()) if settled.any() else math.nan,
        delay=delay,
        workspace=workspace_use(reached.positions, reach),
        roughness=smoothness(reached.positions, step),
        wished_roughness=smoothness(wished.positions, step),
        errors=errors,
        counted=counted,
    )


def _is_broken(joint: JointMetrics) -> bool:
    above = 1.0 + ROUNDING
    slack = ROUNDING * max(joint.upper - joint.lower, 1e-9) if math.isfinite(joint.upper) else 0.0
    outside = joint.least < joint.lower - slack or joint.most > joint.upper + slack
    return outside or joint.speed > above or joint.acceleration > above
