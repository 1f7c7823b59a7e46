# SPDX-License-Identifier: Apache-2.0
"""One arm, or the torso, that follows one tracker.

A limb always begins to follow at the present pose of its end effector, and catches up with the
operator on a ramp that starts and ends at rest. It stops by letting its last motion run out, and
may begin again once it rests.
"""

import enum
from collections.abc import Mapping
from math import inf

from teleop_system.interfaces import TrackerRole
from teleop_system.interfaces.causes import Rule
from teleop_system.modules.arm_teleop.config import ArmTeleopConfig
from teleop_system.modules.arm_teleop.joint_motion import JointMotion
from teleop_system.modules.arm_teleop.limbs.catch_up import CatchUp
from teleop_system.modules.arm_teleop.limbs.limb_mapping import LimbMapping
from teleop_system.modules.arm_teleop.limbs.pose_filter import PoseFilter
from teleop_system.modules.arm_teleop.limbs.reach_limit import ReachLimit
from teleop_system.modules.gate import PoseGate
from teleop_system.modules.gate.sample_gate import NEW
from teleop_system.robots.description import Chain
from teleop_system.safety.cause_log import CauseLog
from teleop_system.utils.poses import ORIGIN, PoseTuple, angle_between, distance

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
        limbs: The limbs before it, by name; one of them may carry it.

    Attributes:
        name: Name of the chain.
        role: The tracker that it follows.
        config: Scales and workspace.
        gate: Checks the tracker's samples.
        state: What it does.
        is_following: Whether the operator moves it.
        target: Target of its end effector in the base frame; None without one.
        stamp: Time of measurement of the sample that it follows in [s].
    """

    def __init__(
        self,
        chain: Chain,
        role: TrackerRole,
        config: ArmTeleopConfig,
        motion: JointMotion,
        limbs: Mapping[str, "Limb"],
    ) -> None:
        self.name = chain.name
        self.role = role
        self.config = config.limb(chain.name, chain.kind)
        self._common = config
        self._motion = motion
        reach, carrier = motion.kinematics.reach(chain.name), None
        if reach is not None and reach.carrier is not None:
            carrier = limbs.get(reach.carrier)
            reach = reach if carrier is not None else None
        self._carrier = carrier
        self._limit = ReachLimit(
            chain.name, self.config, reach, share=config.reach, lean=config.lean
        )
        self.gate = PoseGate(role.value, config.gate)
        self._filter = PoseFilter(config.smoothing)
        self.target: PoseTuple | None = None
        self._kept: PoseTuple | None = None
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.state = LimbState.IDLE
        self.is_following = False
        self._mapping: LimbMapping | None = None
        self._catch_up: CatchUp | None = None
        self._lost_at = ORIGIN
        self._can_resume = False
        self._age, self.stamp = inf, 0.0
        self.stop()
        self.gate.reset()

    @property
    def is_resting(self) -> bool:
        """Whether its last motion has run out."""
        return not (self.is_following or self._is_coasting)

    @property
    def remaining_motion(self) -> tuple[float, float]:
        """The motion that is left, and how much may be left at rest, in [m] or [rad]."""
        moving, turning = self._filter.remaining(self._age)
        return (moving, RESTING[0]) if moving >= RESTING[0] else (turning, RESTING[1])

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
        sample, tracker = self.gate.sample, self.gate.pose
        assert sample is not None and tracker is not None
        self.stamp = sample.timestamp
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
        self._age, self._catch_up = 0.0, None
        self._aim(log)
        assert self.target is not None
        self._catch_up = CatchUp(self._common, tool, self.target)
        self.target = tool
        self._is_coasting = False
        self.state = LimbState.RAMPING
        self.is_following = True

    def follow(self, now: float, step: float, log: CauseLog) -> None:
        """Move the target as the operator moves, for a tick of `step` [s]."""
        gate, catch_up = self.gate, self._catch_up
        if gate.verdict is NEW:
            assert gate.sample is not None and gate.pose is not None
            stamp = gate.sample.timestamp
            self._filter.update(gate.pose, stamp - self.stamp)
            self.stamp = stamp
        self._age = now - self.stamp
        if catch_up is not None:
            catch_up.advance(step)
            if catch_up.is_complete:
                self._catch_up = None
                self.state = LimbState.FOLLOWING
            elif catch_up.distance > RESTING[1]:
                log.add(Rule.ENGAGE_JUMP, self.name, catch_up.distance, RESTING[1])
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
                self.target = self._motion.tool_pose(self.name)
        self._can_resume = self._can_resume and engaged
        self.state = LimbState.HOLDING if engaged else LimbState.IDLE
        if self._is_coasting:
            moving, turning = self._filter.remaining(self._age)
            if moving < RESTING[0] and turning < RESTING[1]:
                self._is_coasting = False
                self.target = self._motion.tool_pose(self.name)
            else:
                self._age += step
                self._aim(log)

    def stop(self) -> None:
        """Forget the target, as the joints stop by themselves; the mapping may be resumed."""
        self.target = self._kept = None
        self._is_coasting = False

    def release(self) -> None:
        """Forget the target and the mapping; the next `engage()` closes the clutch again."""
        self.stop()
        self._mapping = None

    def kept_pose(self) -> PoseTuple:
        """Return the pose of an end effector without a target, as it was at the first call.

        Limbs that it carries may take it along, but it has to come back.
        """
        if self._kept is None:
            self._kept = self._motion.tool_pose(self.name)
        return self._kept

    def _aim(self, log: CauseLog) -> None:
        """Set the target for the predicted pose of the tracker."""
        assert self._mapping is not None
        carrier = self._carrier
        carried_by = ORIGIN if carrier is None else carrier.target or carrier.kept_pose()
        target = self._limit.target_of(self._filter, self._age, self._mapping, carried_by, log)
        self.target = target if self._catch_up is None else self._catch_up.towards(target)

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
