# SPDX-License-Identifier: Apache-2.0
"""One arm, or the torso, that follows one tracker.

A limb always begins to follow at the present pose of its end effector, and catches up with the
operator on a ramp that starts and ends at rest. It stops by letting its last motion run out, and
may begin again once it rests.
"""

import enum
from math import inf

from teleop_system.interfaces import Pose6D, TrackerRole
from teleop_system.interfaces.causes import Rule
from teleop_system.modules.arm_teleop.config import ArmTeleopConfig
from teleop_system.modules.arm_teleop.joint_motion import JointMotion
from teleop_system.modules.arm_teleop.limbs.catch_up import CatchUp
from teleop_system.modules.arm_teleop.limbs.limb_mapping import LimbMapping
from teleop_system.modules.arm_teleop.limbs.pose_filter import PoseFilter
from teleop_system.modules.arm_teleop.limbs.reach_limit import ReachLimit
from teleop_system.modules.arm_teleop.limbs.tool_targets import ToolTargets
from teleop_system.modules.gate import USABLE, PoseGate, Verdict
from teleop_system.modules.gate.sample_gate import NEW
from teleop_system.robots.description import Chain
from teleop_system.safety.cause_log import CauseLog
from teleop_system.utils.poses import ORIGIN, PoseTuple, angle_between, distance, normalized

RESTING = (5e-4, 1e-3)
"""A limb rests if its remaining motion is smaller than this in [m] and [rad]."""
CLOSE = (0.03, 0.15)
"""An end effector keeps up with its target within this distance in [m] and [rad]."""


class LimbState(enum.Enum):
    """What a limb does."""

    IDLE = "idle"
    """It is not engaged, and keeps its pose."""
    HOLDING = "holding"
    """It is engaged, but something keeps it from following; it keeps its pose."""
    RAMPING = "ramping"
    """It follows, and is still catching up."""
    FOLLOWING = "following"
    """It follows the operator."""


class Limb:
    """Turns the samples of one tracker into the target of one end effector.

    Args:
        chain: The chain that follows.
        role: The tracker that it follows.
        config: Parameters of all limbs.
        motion: The arms and the torso it belongs to.
        targets: Targets of all chains.

    Attributes:
        name: Name of the chain.
        role: The tracker that it follows.
        config: Scales and workspace.
        gate: Checks the tracker's samples.
        verdict: Result of that check in this tick; None if there was none.
        state: What it does.
        is_following: Whether the operator moves it.
        has_target: Whether its end effector has a target.
        stamp: Time of measurement of the sample that it follows in [s].
    """

    def __init__(
        self,
        chain: Chain,
        role: TrackerRole,
        config: ArmTeleopConfig,
        motion: JointMotion,
        targets: ToolTargets,
    ) -> None:
        self.name = chain.name
        self.role = role
        self.config = config.limb(chain.name, chain.kind)
        self._common = config
        self._motion = motion
        self._targets = targets
        reach = motion.kinematics.reach(chain.name)
        self._limit = ReachLimit(
            chain.name, self.config, reach, share=config.reach, lean=config.lean
        )
        self.gate = PoseGate(role.value, config.gate)
        self._filter = PoseFilter(config.smoothing)
        self._catch_up = CatchUp(config)
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.state = LimbState.IDLE
        self.is_following = False
        self._mapping: LimbMapping | None = None
        self._lost_at = ORIGIN
        self._can_resume = False
        self._age, self.stamp = inf, 0.0
        self.stop()
        self.forget_samples()

    def forget_samples(self) -> None:
        """Forget every sample: after the clock was set back, stamps mean nothing."""
        self.gate.reset()
        self.verdict: Verdict | None = None

    @property
    def target(self) -> PoseTuple | None:
        """Target of the end effector in the base frame; None if it has none."""
        return self._targets[self.name] if self.has_target else None

    @property
    def is_usable(self) -> bool:
        """Whether the tracker has a usable sample in this tick."""
        return self.verdict in USABLE

    @property
    def is_resting(self) -> bool:
        """Whether its last motion has run out."""
        return not (self.is_following or self._is_coasting)

    @property
    def remaining_motion(self) -> tuple[float, float]:
        """The motion that is left, and how much may be left at rest, in [m] or [rad]."""
        moving, turning = self._filter.remaining(self._age)
        return (moving, RESTING[0]) if moving >= RESTING[0] else (turning, RESTING[1])

    def check(self, pose: Pose6D | None, now: float, log: CauseLog) -> None:
        """Check the tracker's newest sample, for `engage()` or `follow()` to use."""
        self.verdict = self.gate.check(pose, now, log)

    def skip(self) -> None:
        """Use no sample in this tick."""
        self.verdict = None

    def engage(
        self, tool: PoseTuple, heading: float, calibrated: LimbMapping | None, log: CauseLog
    ) -> None:
        """Begin to follow the newest sample from the present pose of the end effector.

        Args:
            tool: That pose in the base frame.
            heading: Direction in [rad] that the operator faces.
            calibrated: The mapping of a calibration, if there is one.
            log: Takes what limits the target.
        """
        sample = self.gate.sample
        assert sample is not None
        self.stamp, tracker = sample.timestamp, unit_pose(sample)
        self._filter.reset()
        self._filter.update(tracker, 0.0)
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
        self._catch_up.begin(tool, self._mapped(tracker, log))
        self._aim_at(tool)
        self._age = 0.0
        self._is_coasting = False
        self.state = LimbState.RAMPING
        self.is_following = True

    def follow(self, now: float, step: float, log: CauseLog) -> None:
        """Move the target as the operator moves, for a tick of `step` [s]."""
        sample = self.gate.sample
        if self.verdict is NEW and sample is not None:
            self._filter.update(unit_pose(sample), sample.timestamp - self.stamp)
            self.stamp = sample.timestamp
        self._age = now - self.stamp
        self._catch_up.advance(step)
        if self._catch_up.is_over:
            self.state = LimbState.FOLLOWING
        elif self._catch_up.distance > RESTING[1]:
            log.add(Rule.ENGAGE_JUMP, self.name, self._catch_up.distance, RESTING[1])
        self._aim(log)

    def hold(self, step: float, log: CauseLog, *, engaged: bool) -> None:
        """Let the last motion run out, and keep the end effector at the pose where it ends."""
        if self.is_following:
            self.is_following = False
            self._can_resume = True
            self._lost_at = self._filter.predict(self._age)
            # A limb that was far behind its target must not continue towards it.
            self._is_coasting = self._is_close()
            if not self._is_coasting:
                self._aim_at(self._motion.tool_pose(self.name))
        self._can_resume = self._can_resume and engaged
        self.state = LimbState.HOLDING if engaged else LimbState.IDLE
        if self._is_coasting:
            moving, turning = self._filter.remaining(self._age)
            if moving < RESTING[0] and turning < RESTING[1]:
                self._is_coasting = False
                self._aim_at(self._motion.tool_pose(self.name))
            else:
                self._age += step
                self._aim(log)

    def stop(self) -> None:
        """Forget the target, as the joints stop by themselves; the mapping may be resumed."""
        self.has_target = False
        self._targets.discard(self.name)
        self._is_coasting = False

    def release(self) -> None:
        """Forget the target and the mapping; the next `engage()` closes the clutch anew."""
        self.stop()
        self._mapping = None

    def _aim(self, log: CauseLog) -> None:
        """Set the target for the predicted pose of the tracker."""
        target = self._mapped(self._filter.predict(self._age), log)
        self._aim_at(self._catch_up.blend(target))

    def _mapped(self, tracker: PoseTuple, log: CauseLog) -> PoseTuple:
        """Return the target within reach for a pose of the tracker."""
        assert self._mapping is not None
        carrier = self._limit.carrier
        carried_by = self._targets[carrier] if carrier is not None else ORIGIN
        return self._limit.apply(self._mapping.apply(tracker), carried_by, log)

    def _aim_at(self, target: PoseTuple) -> None:
        self._targets[self.name] = target
        self.has_target = True

    def _is_close(self) -> bool:
        """Return whether the end effector keeps up with its target."""
        tool, target = self._motion.tool_pose(self.name), self.target
        return (
            target is not None
            and distance(tool[0], target[0]) <= CLOSE[0]
            and angle_between(tool[1], target[1]) <= CLOSE[1]
        )

    def _is_near(self, tracker: PoseTuple) -> bool:
        """Return whether the tracker is near the pose where it was lost."""
        common, lost = self._common, self._lost_at
        return (
            distance(tracker[0], lost[0]) <= common.resume_distance
            and angle_between(tracker[1], lost[1]) <= common.resume_angle
        )


def unit_pose(pose: Pose6D) -> PoseTuple:
    """Return a pose as plain floats, its quaternion of unit length."""
    x, y, z = pose.position.tolist()
    a, b, c, d = pose.orientation.tolist()
    return (x, y, z), normalized((a, b, c, d))
