# SPDX-License-Identifier: Apache-2.0
"""A recorded motion as one that the joints of a robot can follow."""

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import MissingExtraError
from teleop_system.interfaces import TrackerRole
from teleop_system.mocap.body_path import BodyPath
from teleop_system.mocap.config import MocapConfig, PlanningTask
from teleop_system.mocap.mapped_motion import Course, MappedMotion
from teleop_system.mocap.playback import Playback
from teleop_system.robots import RobotDescription, load_robot
from teleop_system.solvers.factory import make_solver
from teleop_system.solvers.planning.slow_motion import Course as EndEffector
from teleop_system.solvers.planning.slow_motion import slow_motion
from teleop_system.utils.transforms import quat_inverse, quat_multiply

logger = logging.getLogger(__name__)

Array = NDArray[np.float64]

STEP = 0.04
"""Time between two moments of a plan in [s]."""
FINE_STEP = 0.004
"""Time between two moments of which it is known what is played then in [s]."""
AFTERWARDS = 1.0
"""Time after the end in [s] that is planned as well, so that the robot comes to rest."""
ROLES = {
    ("arm", "right"): TrackerRole.RIGHT_HAND,
    ("arm", "left"): TrackerRole.LEFT_HAND,
    ("torso", None): TrackerRole.WAIST,
}
"""The tracker that a chain follows, by the chain's kind and side."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What a chain's position [1/m] and orientation [1/rad] count."""

    position_weight: float
    orientation_weight: float


def planned(motion: MappedMotion, config: MocapConfig) -> MappedMotion:
    """Return the motion nearest to a recorded one that the robot can follow.

    What was recorded stays in `wishes`. Without a robot to plan for, or where the motion is too
    long, it is returned as it is.
    """
    fit, plan = config.fit, config.plan
    if not plan.enabled or fit is None or fit.planning is None:
        return motion
    if motion.duration > plan.longest:
        logger.warning(
            "%s is longer than mocap.plan.longest = %g s; it is played without a plan",
            motion.name,
            plan.longest,
        )
        return motion
    began = time.perf_counter()
    try:
        found = _Plan(motion, config, fit.planning).motion()
    except MissingExtraError as error:
        logger.warning("%s is played without a plan: %s", motion.name, error)
        return motion
    logger.info("planned %s in %.1f s", motion.name, time.perf_counter() - began)
    return found


class _Plan:
    """One motion for one robot."""

    def __init__(self, motion: MappedMotion, config: MocapConfig, body: PlanningTask) -> None:
        self._unrolled = motion if motion.loop_start is None else _twice(motion)
        self._motion = motion
        self._config = config
        self._body = body
        self._robot = load_robot(body.robot)
        self._roles = _roles(self._robot)

    def motion(self) -> MappedMotion:
        """Return the planned motion."""
        # The libraries of the kinematics take a while to load, and not everyone plans.
        from scipy.interpolate import CubicSpline

        from teleop_system.solvers.planning.motion_planner import MotionPlanner

        body, shares = self._body, self._config.plan
        weights = {name: Weights(*pair) for name, pair in body.weights.items()}
        planner = MotionPlanner(self._robot, weights)
        solver = make_solver(self._robot, body.solver, weights=weights, **body.options)
        begin = _vector(body.initial, solver.get_joint_names())
        solver.set_posture_target(_vector(body.posture or body.initial, solver.get_joint_names()))
        clock, moments = self._times(STEP)
        tools = planner.places(_vector(body.initial, planner.joints)[None])
        targets = {
            chain: _seen(self._samples(role, moments), tools[chain])
            for chain, role in self._roles.items()
        }
        postures = slow_motion(solver, targets, begin)
        order = [solver.get_joint_names().index(joint) for joint in planner.joints]
        limits = planner.limits.scaled(shares.velocity, shares.acceleration, shares.jerk)
        joints = planner.plan(postures[:, order], STEP, limits)
        frames = self._frame_clock() + shares.ahead
        every = CubicSpline(clock, joints)(np.minimum(frames, clock[-1]))
        places = planner.places(every)
        unrolled = self._unrolled
        courses = dict(unrolled.courses)
        for chain, role in self._roles.items():
            courses[role] = _told(places[chain], tools[chain], unrolled.courses[role][0:1])
        return replace(unrolled, courses=courses, wishes=dict(unrolled.courses))

    def _times(self, step: float) -> tuple[Array, Array]:
        """Return moments on the clock and the times of the recording then, in [s].

        Of a loop, the time after the second time round belongs to it too, for that is where its
        end goes over into its beginning.
        """
        motion, config, now = self._motion, self._config, 0.0
        playback = Playback(
            motion.duration,
            approach=motion.approach,
            loop=motion.loop_start is not None,
            speed=config.speed,
            run_up=config.run_up,
            clock=lambda: now,
        )
        playback.play()
        end = self._unrolled.duration
        clock: list[float] = []
        times: list[float] = []
        left = AFTERWARDS
        while left > 0.0:
            now = len(clock) * step
            clock.append(now)
            times.append(playback.time())
            if times[-1] >= end - 1e-9:
                left -= step
        return np.array(clock), np.array(times)

    def _frame_clock(self) -> Array:
        """Return when each frame is played on the clock in [s]."""
        clock, times = self._times(FINE_STEP)
        frames = np.arange(self._unrolled.frame_count) * self._motion.frame_time
        rising = np.concatenate([[True], np.diff(times) > 1e-9])
        found: Array = np.interp(frames, times[rising], clock[rising])
        return found

    def _samples(self, role: TrackerRole, times: Array) -> Course:
        poses = [self._motion.pose(role, float(moment)) for moment in times]
        return Course(
            np.array([pose.position for pose in poses]),
            np.array([pose.orientation for pose in poses]),
        )


def _twice(motion: MappedMotion) -> MappedMotion:
    """Return a loop that goes round once more before it begins to repeat itself.

    A robot comes from somewhere else the first time, and so not all that is planned for that
    time can be repeated.
    """
    assert motion.loop_start is not None
    frames = np.concatenate(
        [np.arange(motion.frame_count), np.arange(motion.loop_start, motion.frame_count)]
    )
    ways = np.array([motion.body(frame * motion.frame_time) for frame in range(len(frames))])
    return replace(
        motion,
        courses={
            role: Course(course.positions[frames], course.orientations[frames])
            for role, course in motion.courses.items()
        },
        fingers={side: angles[frames] for side, angles in motion.fingers.items()},
        path=BodyPath(ways[:, :2], np.unwrap(ways[:, 2])),
        loop_start=motion.frame_count,
    )


def _seen(course: Course, tool: EndEffector) -> EndEffector:
    """Return where an end effector should be for every pose of its tracker."""
    moved = course.positions - course.positions[0]
    turned = quat_multiply(course.orientations, quat_inverse(course.orientations[0]))
    return EndEffector(tool.positions + moved, quat_multiply(turned, tool.orientations))


def _told(places: EndEffector, tool: EndEffector, start: Course) -> Course:
    """Return where the tracker has to be for every pose of an end effector."""
    moved = places.positions - tool.positions
    turned = quat_multiply(places.orientations, quat_inverse(tool.orientations))
    return Course(start.positions + moved, quat_multiply(turned, start.orientations))


def _roles(robot: RobotDescription) -> dict[str, TrackerRole]:
    return {
        name: ROLES[chain.kind, chain.side]
        for name, chain in robot.chains.items()
        if (chain.kind, chain.side) in ROLES
    }


def _vector(positions: Mapping[str, float], joints: "list[str] | tuple[str, ...]") -> Array:
    return np.array([positions.get(joint, 0.0) for joint in joints])
