# SPDX-License-Identifier: Apache-2.0
"""From the operator's hands and waist to the joints of the robot's arms and torso."""

import math
from collections.abc import Collection, Iterable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from teleop_system.calibration import ArmCalibration
from teleop_system.exceptions import UnknownNameError
from teleop_system.interfaces import IIKSolver, Pose6D, TrackerRole
from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.modules.arm_teleop.arm_output import ArmOutput
from teleop_system.modules.arm_teleop.body import Array, Body
from teleop_system.modules.arm_teleop.config import ArmTeleopConfig
from teleop_system.modules.arm_teleop.limbs.hand_swap import HandSwap
from teleop_system.modules.arm_teleop.limbs.limb import Limb
from teleop_system.modules.arm_teleop.limbs.limb_group import HANDS, LimbGroup, Trackers
from teleop_system.modules.arm_teleop.limbs.limb_mapping import LimbMapping
from teleop_system.modules.arm_teleop.operator_heading import OperatorHeading
from teleop_system.modules.arm_teleop.spatial import Placement, normalized
from teleop_system.modules.arm_teleop.targets import Targets
from teleop_system.modules.pose_gate import Sample
from teleop_system.robots.description import RobotDescription
from teleop_system.safety.cause_log import CauseLog
from teleop_system.utils.transforms import steamvr_to_ros2_position, webxr_to_ros2_quaternion

ROLES = {
    ("arm", "right"): TrackerRole.RIGHT_HAND,
    ("arm", "left"): TrackerRole.LEFT_HAND,
    ("arm", None): TrackerRole.RIGHT_HAND,
    ("torso", None): TrackerRole.WAIST,
}
"""The tracker that a chain follows, by the chain's kind and side."""
FRAMES = ("ros", "steamvr", "webxr")
"""Axes that trackers may be given in; orientations are xyzw in all of them."""
SLOW = 5e-4
"""A robot whose joints move more than this in [rad] or [m] a tick has yet to come to rest."""
FAR = 0.03
"""A hand further than this in [m] from its target cannot get there: limits of joints, the robot's
own body or another hand are in its way."""
USABLE = (Sample.FRESH, Sample.WAITING)


class ArmController:
    """Moves arms and torso as the operator's hands and waist move.

    A limb that is engaged and whose tracker can be believed follows it; any other keeps its end
    effector where it is, while the others go on. Engaging a limb closes its clutch, disengaging
    opens it. Whatever goes wrong with the input is a cause, never an exception, and whenever a
    limb begins to follow, it begins where it is.

    Args:
        config: Parameters.
        description: The robot.
        solver: An initialised solver of its arms and torso, used by nobody else.
        calibration: What absolute mapping goes by; see `calibrate()`.

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
        self._period, self._stall = config.period, config.stall_after
        self._body = Body(
            description, solver, config.posture, resync=config.resync, slack=config.slack
        )
        followed = [c for c in self._body.chains.values() if (c.kind, c.side) in ROLES]
        chains = [(chain, ROLES[chain.kind, chain.side]) for chain in followed]
        self._limbs = LimbGroup(chains, config, self._body)
        self._hands = tuple(limb for limb in self._limbs if limb.role in HANDS)
        self._swap = HandSwap(*self._hands) if len(self._hands) == 2 else None
        self._heading = OperatorHeading(config)
        self._log = CauseLog()
        self.calibrate(calibration)
        self.reset()

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints, in the order of every joint vector."""
        return self._body.names

    @property
    def limbs(self) -> dict[str, TrackerRole]:
        """The chains that can follow, each with its tracker."""
        return {limb.name: limb.role for limb in self._limbs}

    def reset(self) -> None:
        """Forget the past; every limb has to be taken up anew."""
        for limb in self._limbs:
            limb.reset()
        self._limbs.settle()
        if self._swap is not None:
            self._swap.forget()
        self._body.rest(None)
        self._now = -math.inf
        self._heading.reset()
        self._stamps: dict[str, float] = {limb.name: 0.0 for limb in self._limbs}

    def calibrate(self, calibration: ArmCalibration | None) -> None:
        """Use another calibration from when the clutch is closed next; None for none at all."""
        self._calibration = calibration

    def tool_poses(self, joints: ArrayLike, timestamp: float = 0.0) -> dict[str, Pose6D]:
        """Return where the end effectors are in the base frame for joint positions [rad]."""
        values = [float(value) for value in np.asarray(joints, dtype=np.float64)]
        chains = tuple(self._body.chains)
        places = [self._body.kinematics.place(name, values) for name in chains]
        return dict(Targets(chains, np.array([[*p, *q] for p, q in places]), timestamp))

    def tools_at(self, pose: str = "a_pose") -> dict[TrackerRole, Pose6D]:
        """Return the end effectors of a named pose by their trackers, to calibrate against.

        Raises:
            UnknownNameError: The robot has no such pose.
        """
        tools = self.tool_poses(self._body.named(pose))
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
            joints: Positions last commanded to the robot, or measured ones where nothing has
                been commanded, in [rad] or [m], shape (N,), in the order of `joint_names`.
            now: Time in [s] on the clock of the poses' stamps.
            dt: Time since the last call in [s].
            engaged: Chains whose clutch is closed; names of anything else are ignored.
            frame: Axes of the poses, one of FRAMES.

        Raises:
            UnknownNameError: There is no such frame.
        """
        trackers = tracker_poses if frame == "ros" else _in_ros_axes(tracker_poses, frame)
        log, period = self._log, self._period
        log.begin(now if math.isfinite(now) else max(self._now, 0.0))
        is_timely = self._check_time(now, dt)
        # A clock that jitters about the period, or is broken, must not disturb the solver.
        step = dt if 0.0 < dt < 0.5 * period else period
        measured = self._body.check(joints, log)
        wished = engaged if type(engaged) is tuple else _names_of(engaged)
        limbs = self._limbs
        left: Iterable[Limb] = limbs
        if limbs.is_steady and is_timely and measured is not None:
            others = limbs.others
            if others:
                for limb in others:
                    self._look(limb, trackers, wished, now)
                    self._attend(limb, trackers, wished, measured, now, step)
            if limbs.go_on(trackers, wished, now, log):
                if others:
                    limbs.settle_others()
                return self._move(measured, step, engaged=True)
            left = limbs.movers
        self._see(left, trackers if is_timely else None, wished, now)
        for limb in left:
            self._attend(limb, trackers, wished, measured, now, step)
        limbs.settle()
        is_engaged = any(limb.name in wished for limb in limbs)
        return self._move(measured, step, engaged=is_engaged)

    def _attend(
        self,
        limb: Limb,
        trackers: Trackers,
        wished: Collection[str],
        measured: Array | None,
        now: float,
        step: float,
    ) -> None:
        """Let a limb follow, hold or begin to follow, whichever it can."""
        log, is_engaged = self._log, limb.name in wished
        if not is_engaged:
            log.add(Rule.NOT_ENGAGED, limb.name, 0.0, 1.0, Severity.HOLD)
        if not is_engaged or limb.sample not in USABLE or measured is None:
            limb.hold(step, log, engaged=is_engaged)
        elif limb.is_following:
            limb.follow(now, step, log)
        elif self._may_begin(limb):
            self._take_up(limb, trackers, measured, now)
        else:
            limb.hold(step, log, engaged=True)

    def _check_time(self, now: float, dt: float) -> bool:
        """Tell whether time has gone on as it should, and log why not."""
        last, limit = self._now, self._stall
        if 0.0 < now - last <= limit and 0.0 < dt <= limit:
            self._now = now
            return True  # By far most ticks, and no number that is none.
        self._now = now if math.isfinite(now) else last
        if not (math.isfinite(now) and math.isfinite(dt)):
            self._log.add(Rule.NON_FINITE, "clock", 0.0, 0.0, Severity.HOLD)
        elif now <= last or dt <= 0.0:
            self._log.add(Rule.TIME_ORDER, "clock", min(now - last, dt), 0.0, Severity.HOLD)
            if now < last:
                # Stamps so far belong to a time that is yet to come.
                self._stamps = dict.fromkeys(self._stamps, 0.0)
                for limb in self._limbs:
                    limb.forget_samples()
        elif max(dt, now - last if math.isfinite(last) else 0.0) > limit:
            self._log.add(Rule.OVERRUN, "arms", max(dt, now - last), limit, Severity.HOLD)
            # Without commands for so long, the robot has come to rest where it was sent.
            self._body.stop()
        else:
            return True
        return False

    def _see(
        self,
        limbs: Iterable[Limb],
        trackers: Trackers | None,
        wished: Collection[str],
        now: float,
    ) -> None:
        """Let limbs judge their trackers; None where time itself is not to be trusted."""
        log = self._log
        for limb in limbs:
            self._look(limb, trackers, wished, now)
        if self._swap is not None:
            first, second = self._hands
            if first.name not in wished and second.name not in wished:
                self._swap.forget()  # Whoever engages them next wears them as they are.
            if self._swap.check(log):
                first.ignore()
                second.ignore()

    def _look(
        self, limb: Limb, trackers: Trackers | None, wished: Collection[str], now: float
    ) -> None:
        """Let one limb judge its tracker."""
        pose = None if trackers is None else trackers.get(limb.role)
        if trackers is None or (pose is None and limb.name not in wished):
            limb.ignore()
        else:
            limb.see(pose, now, self._log)

    def _may_begin(self, limb: Limb) -> bool:
        """Tell whether a limb can begin to follow, and log why not."""
        if self._config.mapping == "absolute":
            calibration, limit = self._calibration, self._config.max_residual
            residual = calibration.residual if calibration is not None else math.inf
            if calibration is None or limb.role not in calibration.anchors or residual > limit:
                subject = f"{limb.name} calibration"
                self._log.add(Rule.NOT_ENGAGED, subject, residual, limit, Severity.HOLD)
                return False
        body = self._body
        if body.is_running and not limb.is_resting:
            self._log.add(Rule.ENGAGE_JUMP, limb.name, *limb.motion_left, Severity.HOLD)
            return False
        if body.pace > SLOW and not any(each.is_following for each in self._limbs):
            self._log.add(Rule.ENGAGE_JUMP, limb.name, body.pace, SLOW, Severity.HOLD)
            return False
        return True

    def _take_up(self, limb: Limb, trackers: Trackers, measured: Array, now: float) -> None:
        """Let a limb follow from where it is."""
        body = self._body
        if body.is_running:
            body.synchronize(limb.name, measured)
        else:
            body.start(measured)
        heading = self._heading.find(trackers, now, self._log)
        limb.take_up(body.place(limb.name), heading, self._calibrated(limb), self._log)

    def _calibrated(self, limb: Limb) -> LimbMapping | None:
        calibration = self._calibration
        if calibration is None or self._config.mapping != "absolute":
            return None
        tracker, tool = calibration.anchors[limb.role]
        return LimbMapping(
            _as_placement(tracker),
            _as_placement(tool),
            calibration.heading,
            scale=calibration.scale,
            rotation_scale=limb.config.rotation_scale,
        )

    def _move(self, measured: Array | None, step: float, *, engaged: bool) -> ArmOutput:
        """Take the limbs towards their targets, or let them rest."""
        body, limbs, log = self._body, self._limbs, self._log
        if not limbs.following:
            if body.is_running:
                body.brake(step)
                for limb in limbs:
                    limb.stop()
            if not (engaged or body.pace):
                body.rest(measured)
                for limb in limbs:
                    limb.release()  # Nobody knows where the robot will be when it is next needed.
            return self._output({}, (0.0, 0.0), engaged=engaged)
        body.prefer(limbs.following)
        if measured is not None:
            body.give_way()
        targets = limbs.targets(self._now if self._now > 0.0 else 0.0)
        errors = body.move(targets, step, log)
        if errors[0] > FAR:
            for limb in self._hands:
                if limb.is_following and limb.target is not None:
                    away = body.distance(limb.name, limb.target)
                    if away > FAR:
                        log.add(Rule.UNREACHABLE, limb.name, away, FAR)
        return self._output(targets, errors, engaged=engaged)

    def _output(
        self, targets: Mapping[str, Pose6D], errors: tuple[float, float], *, engaged: bool
    ) -> ArmOutput:
        body, limbs = self._body, self._limbs
        if limbs.following:
            stamps = limbs.stamps
            if len(stamps) < len(limbs.states):
                # A limb that keeps its place while others follow still moves for them.
                oldest = min(stamps.values())
                for name in limbs.states.keys() - stamps.keys():
                    stamps[name] = max(self._stamps[name], oldest)
            self._stamps = stamps
        # Told by their places, for by their names takes half as long again.
        return ArmOutput(
            body.names,
            body.positions,
            targets,
            errors[0],
            errors[1],
            self._log.causes,
            limbs.states,
            self._stamps,
            body.columns,
            body.is_running and engaged,
        )


def _as_placement(pose: Pose6D) -> Placement:
    """Return a pose as plain floats, its quaternion of unit length."""
    x, y, z = pose.position.tolist()
    a, b, c, d = pose.orientation.tolist()
    return (x, y, z), normalized((a, b, c, d))


def _names_of(engaged: Collection[str] | Mapping[str, bool]) -> Collection[str]:
    if isinstance(engaged, Mapping):
        return {name for name, is_engaged in engaged.items() if is_engaged}
    return engaged


def _in_ros_axes(poses: Trackers, frame: str) -> Trackers:
    """Return poses in ROS axes that are given in others."""
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
