# SPDX-License-Identifier: Apache-2.0
"""Plans a recorded motion so that the joints of a robot can follow it."""

import logging
import time
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import MissingExtraError
from teleop_system.interfaces import TrackerRole
from teleop_system.mocap.body_path import BodyPath
from teleop_system.mocap.config import MocapConfig, PlanningTask
from teleop_system.mocap.mapped_motion import MappedMotion, PoseTrack
from teleop_system.mocap.playback import Playback
from teleop_system.robots import RobotDescription, load_robot
from teleop_system.solvers.factory import make_solver
from teleop_system.solvers.options import ChainWeights
from teleop_system.solvers.planning.postures import PoseSequence as EndEffector
from teleop_system.solvers.planning.postures import reachable_postures
from teleop_system.utils.transforms import quat_inverse, quat_multiply

logger = logging.getLogger(__name__)

Array = NDArray[np.float64]

STEP = 0.04
"""Time step of a plan in [s]."""
FINE_STEP = 0.004
"""Time step of the table from playback clock to recording time in [s]."""
AFTERWARDS = 1.0
"""Time after the end in [s] that is planned too, so that the robot comes to rest."""
ROLES = {
    ("arm", "right"): TrackerRole.RIGHT_HAND,
    ("arm", "left"): TrackerRole.LEFT_HAND,
    ("torso", None): TrackerRole.WAIST,
}
"""Tracker that a chain follows, by kind and side of the chain."""


def plan_motion(motion: MappedMotion, config: MocapConfig) -> MappedMotion:
    """Return the motion closest to a recorded one that the robot can follow.

    The original tracks are kept in `recorded_tracks`. The motion is returned unchanged without a
    robot to plan for, or if it is too long.
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
        found = _MotionPlan(motion, config, fit.planning).motion()
    except MissingExtraError as error:
        logger.warning("%s is played without a plan: %s", motion.name, error)
        return motion
    logger.info("planned %s in %.1f s", motion.name, time.perf_counter() - began)
    return found


class _MotionPlan:
    """Plan of one motion for one robot."""

    def __init__(self, motion: MappedMotion, config: MocapConfig, task: PlanningTask) -> None:
        self._unrolled = motion if motion.loop_start is None else _twice(motion)
        self._motion = motion
        self._config = config
        self._task = task
        self._robot = load_robot(task.robot)
        self._roles = _roles(self._robot)

    def motion(self) -> MappedMotion:
        """Return the planned motion."""
        # Imported here: these libraries load slowly and only planning needs them.
        from scipy.interpolate import CubicSpline

        from teleop_system.solvers.planning.motion_planner import MotionPlanner

        task, shares = self._task, self._config.plan
        weights = {name: ChainWeights(*pair) for name, pair in task.weights.items()}
        planner = MotionPlanner(self._robot, weights)
        solver = make_solver(self._robot, task.solver, weights=weights, **task.options)
        initial = _vector(task.initial, solver.get_joint_names())
        solver.set_posture_target(_vector(task.posture or task.initial, solver.get_joint_names()))
        clock, moments = self._times(STEP)
        tools = planner.end_effectors(_vector(task.initial, planner.joints)[None])
        targets = {
            chain: _tool_targets(self._samples(role, moments), tools[chain])
            for chain, role in self._roles.items()
        }
        postures = reachable_postures(solver, targets, initial)
        order = [solver.get_joint_names().index(joint) for joint in planner.joints]
        limits = planner.limits.scaled(shares.velocity, shares.acceleration, shares.jerk)
        joints = planner.plan(postures[:, order], STEP, limits)
        frames = self._frame_clock() + shares.ahead
        played = CubicSpline(clock, joints)(np.minimum(frames, clock[-1]))
        poses = planner.end_effectors(played)
        unrolled = self._unrolled
        tracks = dict(unrolled.tracks)
        for chain, role in self._roles.items():
            start = unrolled.tracks[role][0:1]
            tracks[role] = _tracker_poses(poses[chain], tools[chain], start)
        return replace(unrolled, tracks=tracks, recorded_tracks=dict(unrolled.tracks))

    def _times(self, step: float) -> tuple[Array, Array]:
        """Return equally spaced clock times and the recording time at each, in [s].

        They end `AFTERWARDS` after the motion; for a loop, after its second cycle.
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
        """Return the clock time at which each frame is played in [s]."""
        clock, times = self._times(FINE_STEP)
        frames = np.arange(self._unrolled.frame_count) * self._motion.frame_time
        rising = np.concatenate([[True], np.diff(times) > 1e-9])
        found: Array = np.interp(frames, times[rising], clock[rising])
        return found

    def _samples(self, role: TrackerRole, times: Array) -> PoseTrack:
        poses = [self._motion.pose(role, float(moment)) for moment in times]
        return PoseTrack(
            np.array([pose.position for pose in poses]),
            np.array([pose.orientation for pose in poses]),
        )


def _twice(motion: MappedMotion) -> MappedMotion:
    """Return a loop with its first cycle doubled.

    The plan of the first cycle starts from the initial pose, so only the second can be repeated.
    """
    assert motion.loop_start is not None
    frames = np.concatenate(
        [np.arange(motion.frame_count), np.arange(motion.loop_start, motion.frame_count)]
    )
    body = np.array([motion.body(frame * motion.frame_time) for frame in range(len(frames))])
    return replace(
        motion,
        tracks={
            role: PoseTrack(track.positions[frames], track.orientations[frames])
            for role, track in motion.tracks.items()
        },
        fingers={side: angles[frames] for side, angles in motion.fingers.items()},
        path=BodyPath(body[:, :2], np.unwrap(body[:, 2])),
        loop_start=motion.frame_count,
    )


def _tool_targets(track: PoseTrack, tool: EndEffector) -> EndEffector:
    """Return the target of an end effector for every pose of its tracker."""
    moved = track.positions - track.positions[0]
    rotated = quat_multiply(track.orientations, quat_inverse(track.orientations[0]))
    return EndEffector(tool.positions + moved, quat_multiply(rotated, tool.orientations))


def _tracker_poses(poses: EndEffector, tool: EndEffector, start: PoseTrack) -> PoseTrack:
    """Return the tracker pose that leads to each pose of an end effector."""
    moved = poses.positions - tool.positions
    rotated = quat_multiply(poses.orientations, quat_inverse(tool.orientations))
    return PoseTrack(start.positions + moved, quat_multiply(rotated, start.orientations))


def _roles(robot: RobotDescription) -> dict[str, TrackerRole]:
    return {
        name: ROLES[chain.kind, chain.side]
        for name, chain in robot.chains.items()
        if (chain.kind, chain.side) in ROLES
    }


def _vector(positions: Mapping[str, float], joints: "list[str] | tuple[str, ...]") -> Array:
    return np.array([positions.get(joint, 0.0) for joint in joints])
