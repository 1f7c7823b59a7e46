# SPDX-License-Identifier: Apache-2.0
"""From the operator's hands and waist to the joints of the robot's arms and torso."""

import math
from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from teleop_system.calibration import ArmCalibration
from teleop_system.exceptions import UnknownNameError
from teleop_system.interfaces import IIKSolver, Pose6D, TrackerRole
from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.modules.arm_teleop.arm_output import ArmOutput
from teleop_system.modules.arm_teleop.config import ArmTeleopConfig
from teleop_system.modules.arm_teleop.joint_motion import Array, JointMotion
from teleop_system.modules.arm_teleop.limbs.limb import Limb
from teleop_system.modules.arm_teleop.limbs.limb_mapping import LimbMapping, unit_pose
from teleop_system.modules.arm_teleop.operator_heading import OperatorHeading
from teleop_system.modules.gate import USABLE, SwapDetector, TickClock, TickTime
from teleop_system.robots.description import RobotDescription
from teleop_system.safety.cause_log import CauseLog
from teleop_system.utils.poses import PoseTuple
from teleop_system.utils.transforms import steamvr_to_ros2_position, webxr_to_ros2_quaternion

Trackers = Mapping[TrackerRole, Pose6D | None]

ROLES = {
    ("arm", "right"): TrackerRole.RIGHT_HAND,
    ("arm", "left"): TrackerRole.LEFT_HAND,
    ("arm", None): TrackerRole.RIGHT_HAND,
    ("torso", None): TrackerRole.WAIST,
}
"""The tracker that a chain follows, by the chain's kind and side."""
HANDS = (TrackerRole.RIGHT_HAND, TrackerRole.LEFT_HAND)
"""Trackers that may be exchanged for each other."""
FRAMES = ("ros", "steamvr", "webxr")
"""Axes that trackers may be given in; orientations are xyzw in all of them."""
MOVING_STEP = 5e-4
"""A robot is in motion if a joint moves more than this in [rad] or [m] per tick."""
UNREACHED = 0.03
"""A hand further than this in [m] from its target cannot reach it: joint limits, the robot's own
body or the other hand are in its way."""


class Tick(NamedTuple):
    """What all limbs are given in one tick.

    Attributes:
        trackers: Newest pose of each tracker; None if the time of the tick is irregular.
        joints: Plausible positions of the robot's joints; None if there are none.
        engaged: Chains whose clutch is closed.
        now: Time in [s].
        step: Time since the last tick in [s].
    """

    trackers: Trackers | None
    joints: Array | None
    engaged: frozenset[str]
    now: float
    step: float


class ArmController:
    """Moves arms and torso as the operator's hands and waist move.

    A limb follows if it is engaged and its tracker has a usable sample. Otherwise its end effector
    keeps its pose while the other limbs follow. Engaging a limb closes its clutch, disengaging
    opens it. Bad input becomes a cause, never an exception, and a limb always begins to follow at
    its present pose.

    Args:
        config: Parameters.
        description: The robot.
        solver: An initialised solver of its arms and torso, used by nothing else.
        calibration: Basis of absolute mapping; see `calibrate()`.

    Raises:
        UnknownNameError: The solver moves neither arm nor torso of the robot, or there is no
            such posture.
    """

    def __init__(
        self,
        config: ArmTeleopConfig,
        description: RobotDescription,
        solver: IIKSolver,
        calibration: ArmCalibration | None = None,
    ) -> None:
        self._config = config
        self._clock = TickClock("arms", config.stall_after)
        self._motion = JointMotion(
            description, solver, config.posture, resync=config.resync, slack=config.slack
        )
        self._period = config.period
        limbs: dict[str, Limb] = {}
        for name, chain in self._motion.chains.items():  # The torso first: it carries the arms.
            role = ROLES.get((chain.kind, chain.side))
            if role is not None:
                limbs[name] = Limb(chain, role, config, self._motion, limbs)
        self._limbs = tuple(limbs.values())
        self._names = frozenset(limbs)
        self._hands = {limb.name: limb for limb in self._limbs if limb.role in HANDS}
        gates = [hand.gate for hand in self._hands.values()]
        self._swap = SwapDetector(*gates) if len(gates) == 2 else None
        self._heading = OperatorHeading(config)
        self._log = CauseLog()
        self.calibrate(calibration)
        self.reset()

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints, in the order of every joint vector."""
        return self._motion.names

    @property
    def limbs(self) -> dict[str, TrackerRole]:
        """The chains that can follow, each with its tracker."""
        return {limb.name: limb.role for limb in self._limbs}

    def reset(self) -> None:
        """Forget the past; every limb has to be engaged again."""
        for limb in self._limbs:
            limb.reset()
        if self._swap is not None:
            self._swap.reset()
        self._motion.rest(None)
        self._clock.reset()
        self._heading.reset()
        self._stamps: dict[str, float] = {limb.name: 0.0 for limb in self._limbs}

    def calibrate(self, calibration: ArmCalibration | None) -> None:
        """Use another calibration, or none, from the next time the clutch closes."""
        self._calibration = calibration

    def tool_poses(self, joints: ArrayLike, timestamp: float = 0.0) -> dict[str, Pose6D]:
        """Return the poses of the end effectors in the base frame for joint positions [rad]."""
        values = [float(value) for value in np.asarray(joints, dtype=np.float64)]
        return _as_poses(self._motion.kinematics.poses(values), timestamp)

    def tools_at(self, pose: str = "a_pose") -> dict[TrackerRole, Pose6D]:
        """Return the end effectors of a named pose by their trackers, to calibrate against.

        Raises:
            UnknownNameError: The robot has no such pose.
        """
        tools = self.tool_poses(self._motion.named_pose(pose))
        return {limb.role: tools[limb.name] for limb in self._limbs}

    def update(
        self,
        tracker_poses: Trackers,
        joints: ArrayLike,
        *,
        now: float,
        dt: float,
        engaged: Collection[str] | Mapping[str, bool],
        frame: str = "ros",
    ) -> ArmOutput:
        """Return the command for this tick.

        Args:
            tracker_poses: Newest pose of each tracker; a missing one counts as lost.
            joints: Positions last commanded to the robot, or measured ones before the first
                command, in [rad] or [m], shape (N,), in the order of `joint_names`.
            now: Time in [s] on the clock of the poses' stamps.
            dt: Time since the last call in [s].
            engaged: Chains whose clutch is closed; other names are ignored.
            frame: Axes of the poses, one of FRAMES.

        Raises:
            UnknownNameError: There is no such frame.
        """
        trackers = tracker_poses if frame == "ros" else _in_ros_axes(tracker_poses, frame)
        time = self._clock.begin(now, dt, self._log)
        if time is TickTime.BACKWARDS:
            self._forget_samples()
        elif time is TickTime.STALLED:
            # Without commands for so long, the robot has come to rest where it was sent.
            self._motion.stop()
        tick = Tick(
            trackers if time is TickTime.REGULAR else None,
            self._motion.checked(joints, self._log),
            _names_of(engaged),
            now,
            # The solver's step does not follow the jitter of the clock.
            dt if 0.0 < dt < 0.5 * self._period else self._period,
        )
        self._check_samples(tick)
        for limb in self._limbs:
            self._update_limb(limb, tick)
        return self._move(tick)

    def _forget_samples(self) -> None:
        self._stamps = dict.fromkeys(self._stamps, 0.0)
        for limb in self._limbs:
            limb.gate.reset()

    def _check_samples(self, tick: Tick) -> None:
        """Let every limb check its tracker, and both hands whether they are exchanged."""
        for limb in self._limbs:
            pose = None if tick.trackers is None else tick.trackers.get(limb.role)
            if tick.trackers is None or (pose is None and limb.name not in tick.engaged):
                limb.gate.skip()
            else:
                limb.gate.check(pose, tick.now, self._log)
        if self._swap is not None:
            if tick.engaged.isdisjoint(self._hands):
                self._swap.reset()  # The next operator wears the trackers correctly.
            if self._swap.check(self._log):
                for hand in self._hands.values():
                    hand.gate.skip()

    def _update_limb(self, limb: Limb, tick: Tick) -> None:
        """Let a limb follow, hold, or begin to follow."""
        log, is_engaged = self._log, limb.name in tick.engaged
        if not is_engaged:
            log.add(Rule.NOT_ENGAGED, limb.name, 0.0, 1.0, Severity.HOLD)
        if not is_engaged or limb.gate.verdict not in USABLE or tick.joints is None:
            limb.hold(tick.step, log, engaged=is_engaged)
        elif limb.is_following:
            limb.follow(tick.now, tick.step, log)
        elif self._may_engage(limb):
            self._engage(limb, tick.trackers or {}, tick.joints, tick.now)
        else:
            limb.hold(tick.step, log, engaged=True)

    def _may_engage(self, limb: Limb) -> bool:
        """Return whether a limb may begin to follow; log why not."""
        if self._config.mapping == "absolute":
            calibration, limit = self._calibration, self._config.max_residual
            residual = calibration.residual if calibration is not None else math.inf
            if calibration is None or limb.role not in calibration.anchors or residual > limit:
                subject = f"{limb.name} calibration"
                self._log.add(Rule.NOT_ENGAGED, subject, residual, limit, Severity.HOLD)
                return False
        motion = self._motion
        if motion.is_running and not limb.is_resting:
            self._log.add(Rule.ENGAGE_JUMP, limb.name, *limb.remaining_motion, Severity.HOLD)
            return False
        if motion.largest_step > MOVING_STEP and not any(
            each.is_following for each in self._limbs
        ):
            self._log.add(
                Rule.ENGAGE_JUMP, limb.name, motion.largest_step, MOVING_STEP, Severity.HOLD
            )
            return False
        return True

    def _engage(self, limb: Limb, trackers: Trackers, joints: Array, now: float) -> None:
        """Let a limb follow from its present pose."""
        motion = self._motion
        if motion.is_running:
            motion.synchronize(limb.name, joints)
        else:
            motion.start(joints)
        heading = self._heading.find(trackers, now, self._log)
        limb.engage(motion.tool_pose(limb.name), heading, self._calibrated(limb), self._log)

    def _calibrated(self, limb: Limb) -> LimbMapping | None:
        calibration = self._calibration
        if calibration is None or self._config.mapping != "absolute":
            return None
        tracker, tool = calibration.anchors[limb.role]
        return LimbMapping(
            unit_pose(tracker),
            unit_pose(tool),
            calibration.heading,
            scale=calibration.scale,
            rotation_scale=limb.config.rotation_scale,
        )

    def _move(self, tick: Tick) -> ArmOutput:
        """Move the joints towards the targets, or let them rest."""
        motion, limbs = self._motion, self._limbs
        is_engaged = not tick.engaged.isdisjoint(self._names)
        moved = [limb for limb in limbs if limb.is_following]
        following = tuple([limb.name for limb in moved])
        if following:
            motion.prefer_posture(following)
            if tick.joints is not None:
                motion.reduce_lag(tick.joints)
            poses = {limb.name: limb.target for limb in limbs if limb.target is not None}
            targets = _as_poses(poses, max(self._clock.now, 0.0))
            errors = motion.move(targets, tick.step, self._log)
            if errors[0] > UNREACHED:
                self._report_unreached()
            self._note_stamps(moved)
        else:
            targets, errors = {}, (0.0, 0.0)
            self._come_to_rest(tick, engaged=is_engaged)
        return ArmOutput(
            names=motion.names,
            positions=motion.positions,
            targets=targets,
            error_position=errors[0],
            error_orientation=errors[1],
            causes=self._log.causes,
            states={limb.name: limb.state for limb in limbs},
            following=following,
            stamps=self._stamps,
            columns=motion.columns,
            active=is_engaged and motion.is_running,
        )

    def _come_to_rest(self, tick: Tick, *, engaged: bool) -> None:
        motion = self._motion
        if motion.is_running:
            motion.brake(tick.step)
            for limb in self._limbs:
                limb.stop()
        if not (engaged or motion.largest_step):
            motion.rest(tick.joints)
            for limb in self._limbs:
                limb.release()  # The robot may be anywhere when it is engaged again.

    def _report_unreached(self) -> None:
        """Log every hand that is far from its target."""
        positions = self._motion.kinematics.positions(self._motion.positions)
        for name, limb in self._hands.items():
            if limb.is_following and limb.target is not None:
                away = math.dist(positions[name], limb.target[0])
                if away > UNREACHED:
                    self._log.add(Rule.UNREACHABLE, name, away, UNREACHED)

    def _note_stamps(self, moved: list[Limb]) -> None:
        """Note the time of the samples that the joints of every limb act upon."""
        stamps = {limb.name: limb.stamp for limb in moved}
        if len(moved) < len(self._limbs):
            # A limb that keeps its pose while others follow still moves for them.
            oldest = min(stamps.values())
            stamps = {
                name: stamps.get(name, max(before, oldest))
                for name, before in self._stamps.items()
            }
        self._stamps = stamps


def _as_poses(poses: Mapping[str, PoseTuple], timestamp: float) -> dict[str, Pose6D]:
    """Return poses as values."""
    flat: list[float] = []
    for position, orientation in poses.values():
        flat += position
        flat += orientation
    numbers = np.array(flat)
    numbers.setflags(write=False)
    return {
        name: Pose6D.unchecked(numbers[n : n + 3], numbers[n + 3 : n + 7], timestamp)
        for n, name in zip(range(0, len(flat), 7), poses, strict=True)
    }


def _names_of(engaged: Collection[str] | Mapping[str, bool]) -> frozenset[str]:
    # A tuple is no mapping: the general check costs more than the rest.
    if not isinstance(engaged, tuple | frozenset) and isinstance(engaged, Mapping):
        return frozenset(name for name, is_engaged in engaged.items() if is_engaged)
    return frozenset(engaged)


def _in_ros_axes(poses: Trackers, frame: str) -> Trackers:
    """Return poses of other axes in ROS axes."""
    if frame not in FRAMES:
        raise UnknownNameError("frame", frame, FRAMES)
    return {
        role: Pose6D(
            steamvr_to_ros2_position(pose.position),
            webxr_to_ros2_quaternion(pose.orientation),
            pose.timestamp,
            pose.valid,
        )
        for role, pose in poses.items()
        if pose is not None
    }
