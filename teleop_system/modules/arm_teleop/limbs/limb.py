# SPDX-License-Identifier: Apache-2.0
"""One arm, or the torso, that follows one tracker: takes it up, follows, holds, takes it up again.

Whatever the reason, a limb begins to follow where its end effector is, and closes the distance to
where the operator wants it along a ramp that starts and ends at rest. It stops by letting the last
motion run out, and is not taken up again before it rests.
"""

import enum
from math import inf

import numpy as np
from numpy.typing import NDArray

from teleop_system.interfaces import Pose6D, TrackerRole
from teleop_system.interfaces.causes import Rule
from teleop_system.modules.arm_teleop.body import Body
from teleop_system.modules.arm_teleop.config import ArmTeleopConfig, LimbConfig
from teleop_system.modules.arm_teleop.limbs import limb_kernels as kernels
from teleop_system.modules.arm_teleop.limbs.limb_mapping import LimbMapping
from teleop_system.modules.arm_teleop.limbs.pose_filter import PoseFilter
from teleop_system.modules.arm_teleop.limbs.reach_limit import ReachLimit
from teleop_system.modules.arm_teleop.limbs.tracker_gate import Samples, TrackerGate
from teleop_system.modules.arm_teleop.spatial import (
    ORIGIN,
    Placement,
    angle_between,
    as_placement,
    blend,
    distance,
)
from teleop_system.modules.pose_gate import FRESH, Sample
from teleop_system.robots.description import Chain
from teleop_system.safety.cause_log import CauseLog

Array = NDArray[np.float64]

PEAK_SPEED = 1.875
"""Largest speed along the ramp, over its mean speed."""
RESTING = (5e-4, 1e-3)
"""A limb with less than this to go in [m] and [rad] rests."""
CLOSE = (0.03, 0.15)
"""An end effector within this distance in [m] and [rad] of its target keeps up with it."""


class LimbState(enum.Enum):
    """What a limb does."""

    IDLE = "idle"
    """It is not engaged, and keeps its place."""
    HOLDING = "holding"
    """It is engaged, but something keeps it from following; it keeps its place."""
    RAMPING = "ramping"
    """It follows, and is still catching up."""
    FOLLOWING = "following"
    """It follows the operator."""


class Limb:
    """The way of one tracker's samples to the target of one end effector.

    Args:
        chain: What follows.
        role: The tracker that it follows.
        config: Parameters of all limbs.
        body: What it belongs to.
        row: Its numbers, a row of the table that `limb_kernels` works on for all limbs at once.
        slot: Where its newest sample is kept; see `TrackerGate`.

    Attributes:
        name: Name of the chain.
        role: The tracker it follows.
        config: Scales and workspace.
        state: What it does.
        is_following: Whether the operator moves it.
        is_aimed: Whether it has a target.
        sample: What to make of its tracker since it was last looked at closely; None for nothing.
        before: The sample that had passed before that.
        gate: What judges its tracker's samples.
    """

    def __init__(
        self,
        chain: Chain,
        role: TrackerRole,
        config: ArmTeleopConfig,
        body: Body,
        row: Array,
        slot: tuple[Samples, int],
    ) -> None:
        self.name = chain.name
        self.role = role
        self.config: LimbConfig = config.limb(chain.name, chain.kind)
        self._common = config
        reach = body.kinematics.reach(chain.name)
        self._place = body.place
        self._limit = ReachLimit(
            chain.name, self.config, reach, share=config.reach, lean=config.lean, aim=body.aim
        )
        self._aims = body.aims
        self._row = row
        self._target = row[kernels.TARGET : kernels.FILTER]
        row[kernels.REACH : kernels.CARRIER] = self._limit.terms
        self.gate = TrackerGate(role.value, config.gate, row, slot)
        self._filter = PoseFilter(config.smoothing, row[kernels.FILTER : kernels.MAPPING])
        self.sample: Sample | None = None
        self.before: Pose6D | None = None
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.state = LimbState.IDLE
        self.is_following = False
        self.is_aimed = False
        self._aims.pop(self.name, None)
        self._mapping: LimbMapping | None = None
        self._start = self._lost_at = ORIGIN
        self._ramp, self._ramp_rate = 0.0, 0.0
        self._catches_up = 0.0
        self._can_resume = self._is_coasting = False
        self._age = inf
        self._row[kernels.FOLLOWED] = 0.0
        self.forget_samples()

    def forget_samples(self) -> None:
        """Forget every sample, for their stamps mean nothing any more."""
        self.gate.reset()
        self.before, self.sample = None, None

    @property
    def carrier(self) -> str | None:
        """The chain that carries it."""
        return self._limit.carrier

    @property
    def stamp(self) -> float:
        """Time in [s] at which the sample that it follows was measured."""
        return float(self._row[kernels.FOLLOWED])

    @property
    def target(self) -> Placement | None:
        """Pose of the end effector to aim for in the base frame; None before it is taken up."""
        return as_placement(self._target) if self.is_aimed else None

    @property
    def _age(self) -> float:
        """How long ago in [s] the sample that it follows was measured."""
        return float(self._row[kernels.AGE])

    @_age.setter
    def _age(self, age: float) -> None:
        self._row[kernels.AGE] = age

    @property
    def is_resting(self) -> bool:
        """Whether its last motion has run out."""
        return not (self.is_following or self._is_coasting)

    @property
    def motion_left(self) -> tuple[float, float]:
        """How far its last motion has still to run, and how far it may to be resting, in [m]."""
        way, turn = self._filter.left(self._age)
        return (way, RESTING[0]) if way >= RESTING[0] else (turn, RESTING[1])

    def see(self, pose: Pose6D | None, now: float, log: CauseLog) -> None:
        """Judge the tracker's newest sample, for `follow()` or `take_up()` to use."""
        self.before = self.gate.pose
        self.sample = self.gate.check(pose, now, log)

    def ignore(self) -> None:
        """Make nothing of the tracker in this tick."""
        self.before, self.sample = self.gate.pose, None
        self.gate.leaps = False

    def take_up(
        self, tool: Placement, heading: float, calibrated: LimbMapping | None, log: CauseLog
    ) -> None:
        """Begin to follow the newest sample from where the end effector is.

        Args:
            tool: Pose of the end effector in the base frame.
            heading: Direction in [rad] that is ahead for the operator.
            calibrated: The mapping to use, where there is a calibration.
            log: Takes what limits the target.
        """
        common, gate = self._common, self.gate
        self._filter.reset()
        tracker = self._filter.follow(gate.position, gate.orientation, 0.0, 0.0)
        self._row[kernels.FOLLOWED] = gate.stamp
        if calibrated is not None:
            self._mapping = calibrated
        elif self._mapping is None or not (self._can_resume and self._is_near(tracker)):
            self._mapping = LimbMapping(
                tracker,
                tool,
                heading,
                scale=self.config.scale,
                rotation_scale=self.config.rotation_scale,
            )
        self._row[kernels.MAPPING : kernels.REACH] = self._mapping.terms
        wished = self._limit.apply(self._mapping.apply(tracker), log)
        way, turn = distance(tool[0], wished[0]), angle_between(tool[1], wished[1])
        slowest = max(way / common.catch_up_speed, turn / common.catch_up_turn)
        self._ramp_rate = 1.0 / max(common.ramp_time, PEAK_SPEED * slowest)
        self._ramp = 0.0
        self._catches_up = max(way, turn)
        self._start = tool
        self._head_for(tool)
        self._age = 0.0
        self._is_coasting = False
        self.state = LimbState.RAMPING
        self.is_following = True

    def follow(self, now: float, step: float, log: CauseLog) -> None:
        """Move the target as the operator moves, for a tick of `step` [s]."""
        if self.sample is FRESH:
            gate = self.gate
            last, stamp = self.stamp, gate.stamp
            self._row[kernels.FOLLOWED] = stamp
            self._age = age = now - stamp
            tracker = self._filter.follow(gate.position, gate.orientation, stamp - last, age)
        else:
            self._age = now - self.stamp
            tracker = self._filter.predict(self._age)
        if self._ramp < 1.0:
            self._ramp += step * self._ramp_rate
            if self._ramp >= 1.0:
                self.state = LimbState.FOLLOWING
            elif self._catches_up > RESTING[1]:
                log.add(Rule.ENGAGE_JUMP, self.name, self._catches_up, RESTING[1])
        self._aim(tracker, log)

    def report_limits(self, log: CauseLog) -> None:
        """Log what limits the target that `limb_kernels.follow_all` has moved."""
        outside, away = self._row[kernels.EXCESS : kernels.FOLLOWS].tolist()
        self._limit.report(outside, away, log)

    def hold(self, step: float, log: CauseLog, *, engaged: bool) -> None:
        """Let the last motion run out, and keep the end effector where it ends."""
        if self.is_following:
            self.is_following = False
            self._can_resume = True
            self._lost_at = self._filter.predict(self._age)
            # One that was far behind its target must not go on to catch up with it.
            self._is_coasting = self._is_close()
            if not self._is_coasting:
                self._head_for(self._place(self.name))
        self._can_resume = self._can_resume and engaged
        self.state = LimbState.HOLDING if engaged else LimbState.IDLE
        if self._is_coasting:
            way, turn = self._filter.left(self._age)
            if way < RESTING[0] and turn < RESTING[1]:
                self._is_coasting = False
                self._head_for(self._place(self.name))
            else:
                self._age += step
                self._aim(self._filter.predict(self._age), log)

    def stop(self) -> None:
        """Forget the target, for the joints stop by themselves; the mapping may be resumed."""
        self.is_aimed = False
        self._aims.pop(self.name, None)
        self._is_coasting = False

    def release(self) -> None:
        """Forget the target and what led to it; the next `take_up()` begins anew."""
        self.stop()
        self._mapping = None

    def _aim(self, tracker: Placement, log: CauseLog) -> None:
        """Aim for where a pose of the tracker leads."""
        assert self._mapping is not None
        wished = self._limit.apply(self._mapping.apply(tracker), log)
        if self._ramp < 1.0:
            wished = blend(self._start, wished, _minimum_jerk(self._ramp))
        self._head_for(wished)

    def _head_for(self, target: Placement) -> None:
        self._target[:] = (*target[0], *target[1])
        self.is_aimed = True
        self._aims[self.name] = self._target

    def _is_close(self) -> bool:
        """Tell whether the end effector is about where it should be."""
        tool, target = self._place(self.name), self.target
        return (
            target is not None
            and distance(tool[0], target[0]) <= CLOSE[0]
            and angle_between(tool[1], target[1]) <= CLOSE[1]
        )

    def _is_near(self, tracker: Placement) -> bool:
        """Tell whether the tracker is about where it was lost."""
        common, lost = self._common, self._lost_at
        return (
            distance(tracker[0], lost[0]) <= common.resume_distance
            and angle_between(tracker[1], lost[1]) <= common.resume_angle
        )


def _minimum_jerk(share: float) -> float:
    """Return the smoothest way from 0 to 1, at rest at both ends."""
    return share * share * share * (10.0 - share * (15.0 - 6.0 * share))
