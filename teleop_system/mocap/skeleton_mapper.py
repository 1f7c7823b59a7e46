# SPDX-License-Identifier: Apache-2.0
"""Maps the joints of a recording to the trackers of an operator."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import BVHError
from teleop_system.interfaces import TrackerRole
from teleop_system.interfaces.master_device import HAND_SIDES
from teleop_system.mocap.body_path import BodyPath
from teleop_system.mocap.bvh_loader import BVHData
from teleop_system.mocap.config import MocapConfig, RobotProportions, WaistLimits
from teleop_system.mocap.finger_angles import finger_angles
from teleop_system.mocap.joint_mapping import JointMapping, choose_mapping, plain_name
from teleop_system.mocap.mapped_motion import MappedMotion, PoseTrack, smooth_step
from teleop_system.mocap.skeleton_rest import HANDS, RestPose, tracker_orientations
from teleop_system.simulators.simulated_tracker import REFERENCE_POSITIONS
from teleop_system.utils.transforms import quat_exp, quat_log, quat_multiply, quat_rotate

Array = NDArray[np.float64]

FEET = frozenset({TrackerRole.LEFT_FOOT, TrackerRole.RIGHT_FOOT})
EVERYTHING = frozenset(TrackerRole)
REACH_SHARE = 0.85
"""Share of the robot's reach for a person's stretched arm; the rest keeps the elbows bent."""
FLOOR_PERCENTILE = 5.0
"""Percentile of a foot's height that is taken as the floor."""
HANGING = {
    "left": quat_exp(np.array([-0.5 * np.pi, 0.0, 0.0])),
    "right": quat_exp(np.array([0.5 * np.pi, 0.0, 0.0])),
}
"""Rotation of a hand from the T-pose to a hanging arm, by side."""


class SkeletonMapper:
    """Maps recordings to trackers, for all skeleton families.

    Args:
        config: How to play the motion.
        mapping: The family of the skeletons; None detects it for each recording.
    """

    def __init__(
        self, config: MocapConfig | None = None, mapping: JointMapping | None = None
    ) -> None:
        self._config = config or MocapConfig()
        self._mapping = mapping

    def map(self, data: BVHData) -> MappedMotion:
        """Return the motion as samples of trackers.

        Raises:
            BVHError: The skeleton is unknown, or the motion is too short.
        """
        config = self._config
        mapping = self._mapping or choose_mapping(data.names, data.path, name=config.skeleton)
        person = _Person(data, mapping, config.noise)
        if config.normalization == "absolute":
            motion = self._absolute(person)
        else:
            motion = self._relative(person)
        return motion.looped(config.blend) if config.loop else motion

    def _absolute(self, person: "_Person") -> MappedMotion:
        """Return the motion with every tracker in the room, above a floor at height 0."""
        path = person.path(self._config.smoothing)
        lift = np.array([0.0, 0.0, -person.floor])
        return person.motion(
            {role: person.body_track(role, path, lift) for role in TrackerRole}, path, EVERYTHING
        )

    def _relative(self, person: "_Person") -> MappedMotion:
        """Return the motion with feet in the room, starting at its origin, others on the body."""
        config = self._config
        path = person.path(config.smoothing)
        scale = config.scale or self._scale(person)
        tracks = {role: person.body_track(role, path) for role in TrackerRole}
        waist = _limit_waist(
            _start_at_reference(tracks[TrackerRole.WAIST], TrackerRole.WAIST),
            config.waist,
            person.frame_time,
        )
        found = {TrackerRole.WAIST: waist}
        found[TrackerRole.HEAD] = _start_at_reference(tracks[TrackerRole.HEAD], TrackerRole.HEAD)
        for role in FEET:
            found[role] = _without_steps(tracks[role], role)
        starts = {TrackerRole.WAIST: _reference_pose(TrackerRole.WAIST)}
        starts[TrackerRole.HEAD] = _reference_pose(TrackerRole.HEAD)
        for side, role in HANDS.items():
            arm = scale * (tracks[role].positions - person.shoulder(side, path))
            found[role], starts[role] = self._hand(side, role, waist, arm, tracks[role])
        motion = person.motion(found, _start_at_origin(path), FEET, scale=scale)
        motion = replace(motion, start_heading=float(path.headings[0]))
        approach = config.approach if config.anchor == "body" and config.fit is not None else 0.0
        return _with_approach(motion, starts, approach)

    def _scale(self, person: "_Person") -> float:
        fit = self._config.fit
        return REACH_SHARE * fit.reach / person.arm_length if fit is not None else 1.0

    def _hand(
        self, side: str, role: TrackerRole, waist: PoseTrack, arm: Array, hand: PoseTrack
    ) -> tuple[PoseTrack, PoseTrack]:
        """Return a hand's track and its initial pose on the robot.

        The robot's torso follows the waist and carries the shoulders; the hand keeps the person's
        scaled offset from the shoulder.
        """
        reference = np.array(REFERENCE_POSITIONS[role])
        fit = self._config.fit
        initial = arm[0]
        orientation = hand.orientations[0]
        if fit is not None and self._config.anchor == "body":
            initial = np.array(fit.hands[side])
            if side in fit.rotations:
                orientation = quat_multiply(np.array(fit.rotations[side]), HANGING[side])
        shoulder = _shoulder_offset(fit, side)
        carried = quat_rotate(waist.orientations, np.broadcast_to(shoulder, arm.shape)) - shoulder
        carried += waist.positions - REFERENCE_POSITIONS[TrackerRole.WAIST]
        if fit is None or self._config.anchor == "first_frame":
            carried -= carried[0]
        track = PoseTrack(reference + carried + arm - initial, hand.orientations)
        return track, PoseTrack(reference[None], orientation[None])


class _Person:
    """A recording, its joint mapping and its rest pose."""

    def __init__(self, data: BVHData, mapping: JointMapping, noise: float) -> None:
        self._data = data
        self._noise = noise / data.frame_time
        self._mapping = mapping
        self._joints = {plain_name(name): index for index, name in enumerate(data.names)}
        self._first = data.first_frame
        if data.frame_count - self._first < 1:
            raise BVHError("the file has no captured frame", data.path)
        rest = RestPose.of(data, mapping, self._joints)
        readings = rest.readings(mapping, self._joints)
        self._positions = _repair_bones(data, mapping, self._joints)
        self._rotations = {
            role: tracker_orientations(data, rest, self._joints[joint], readings[role])
            for role, joint in mapping.roles.items()
        }

    @property
    def frame_time(self) -> float:
        """Time between two frames in [s]."""
        return self._data.frame_time

    @property
    def floor(self) -> float:
        """Height of the floor in [m]: a low percentile of the lowest joint's height."""
        return float(np.percentile(self._positions[self._first :].min(axis=1)[:, 2], 5.0))

    @property
    def arm_length(self) -> float:
        """Length of a stretched arm in [m]."""
        lengths = []
        for side, role in HANDS.items():
            joints = (self._mapping.shoulder(side), self._mapping.elbow(side))
            shoulder, elbow = (self._positions[self._first, self._joints[name]] for name in joints)
            hand = self._positions[self._first, self._joints[self._mapping.roles[role]]]
            lengths.append(np.linalg.norm(elbow - shoulder) + np.linalg.norm(hand - elbow))
        return float(np.mean(lengths))

    def path(self, smoothing: float) -> BodyPath:
        """Return the path of the body, smoothed over a time [s]."""
        joint = self._joints[self._mapping.roles[TrackerRole.WAIST]]
        return BodyPath.of_waist(
            self._positions[self._first :, joint],
            self._rotations[TrackerRole.WAIST][self._first :],
            smoothing / self._data.frame_time,
        )

    def body_track(
        self, role: TrackerRole, path: BodyPath, lift: Array | None = None
    ) -> PoseTrack:
        """Return a tracker in the frame of the body that walks along a path."""
        joint = self._joints[self._mapping.roles[role]]
        positions = self._positions[self._first :, joint] + (0.0 if lift is None else lift)
        track = PoseTrack(*path.localize(positions, self._rotations[role][self._first :]))
        return track.smoothed(self._noise) if self._noise > 0.0 else track

    def shoulder(self, side: str, path: BodyPath) -> Array:
        """Return a shoulder in the frame of the body in [m], shape (F, 3)."""
        positions = self._positions[self._first :, self._joints[self._mapping.shoulder(side)]]
        level = np.tile([0.0, 0.0, 0.0, 1.0], (len(positions), 1))
        track = PoseTrack(*path.localize(positions, level))
        return (track.smoothed(self._noise) if self._noise > 0.0 else track).positions

    def motion(
        self,
        tracks: dict[TrackerRole, PoseTrack],
        path: BodyPath,
        room_roles: frozenset[TrackerRole],
        scale: float = 1.0,
    ) -> MappedMotion:
        """Return the motion of these trackers, with the fingers."""
        fingers = {
            side: finger_angles(
                self._data, self._mapping, self._joints, side, tracks[HANDS[side]].orientations
            )
            for side in HAND_SIDES
        }
        return MappedMotion(
            name=self._data.path.stem,
            frame_time=self._data.frame_time,
            tracks=tracks,
            path=path,
            room_roles=room_roles,
            fingers=fingers,
            scale=scale,
        )


def _repair_bones(data: BVHData, mapping: JointMapping, joints: dict[str, int]) -> Array:
    """Return the joint positions with lost bones restored."""
    if not mapping.repairs:
        return data.positions
    positions = data.positions.copy()
    for repair in mapping.repairs:
        offset = repair.share * (
            data.positions[:, joints[repair.end]] - data.positions[:, joints[repair.start]]
        )
        moved = {joints[name] for name in repair.joints}
        for joint, parent in enumerate(data.parents):
            if parent in moved:
                moved.add(joint)
        positions[:, sorted(moved)] += offset[:, None]
    return positions


def _shoulder_offset(fit: RobotProportions | None, side: str) -> Array:
    """Return the shoulder relative to the end of the torso in [m]."""
    return np.zeros(3) if fit is None else np.array(fit.shoulders[side])


def _start_at_reference(track: PoseTrack, role: TrackerRole) -> PoseTrack:
    """Return a track moved to begin at the reference position of its tracker."""
    moved = track.positions - track.positions[0] + REFERENCE_POSITIONS[role]
    return PoseTrack(moved, track.orientations)


def _limit_waist(track: PoseTrack, limits: WaistLimits, frame_time: float) -> PoseTrack:
    """Return the part of a waist's motion that the torso follows."""
    if limits.smoothing > 0.0:
        track = track.smoothed(limits.smoothing / frame_time)
    reference = np.array(REFERENCE_POSITIONS[TrackerRole.WAIST])
    offset = track.positions - reference
    moved = np.column_stack(
        [_soft_limit(offset[:, :2], limits.shift), _soft_limit(offset[:, 2:], limits.drop)]
    )
    rotations = quat_log(track.orientations)
    rotated = np.column_stack(
        [_soft_limit(rotations[:, :2], limits.tilt), _soft_limit(rotations[:, 2:], limits.twist)]
    )
    return PoseTrack(reference + moved, quat_exp(rotated))


def _soft_limit(vectors: Array, largest: float) -> Array:
    """Return vectors saturated smoothly at a length; short ones are almost unchanged."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scale: Array = largest * np.tanh(lengths / largest) / np.maximum(lengths, 1e-12)
    return vectors * scale


def _without_steps(track: PoseTrack, role: TrackerRole) -> PoseTrack:
    """Return a foot that moves with the body and keeps its lifting, without steps.

    A real foot stands still for half of every step and swings ahead in the other half; the base
    would have to estimate the body's motion from both feet.
    """
    x, y, _ = np.median(track.positions, axis=0).tolist()
    heights = track.positions[:, 2]
    planted = float(np.percentile(heights, FLOOR_PERCENTILE))
    heights = heights + REFERENCE_POSITIONS[role][2] - planted
    positions = np.column_stack([np.full_like(heights, x), np.full_like(heights, y), heights])
    return PoseTrack(positions, np.tile([0.0, 0.0, 0.0, 1.0], (len(positions), 1)))


def _reference_pose(role: TrackerRole) -> PoseTrack:
    return PoseTrack(np.array([REFERENCE_POSITIONS[role]]), np.array([[0.0, 0.0, 0.0, 1.0]]))


def _start_at_origin(path: BodyPath) -> BodyPath:
    """Return the same path, starting at the origin along x."""
    return BodyPath.of_steps(*path.steps())


def _with_approach(
    motion: MappedMotion, starts: dict[TrackerRole, PoseTrack], time: float
) -> MappedMotion:
    """Return the motion with frames before it that lead from the start poses to its first one."""
    lead = round(time / motion.frame_time)
    if lead < 1:
        return motion
    shares = smooth_step(np.arange(lead) / lead)
    tracks = {}
    for role, track in motion.tracks.items():
        approach = track.repeated(lead)
        if role in starts:
            approach = starts[role].repeated(lead).blended(approach, shares)
        tracks[role] = approach.followed_by(track)
    fingers = {
        side: np.concatenate([np.repeat(angles[:1], lead, axis=0), angles])
        for side, angles in motion.fingers.items()
    }
    path = motion.path.held(lead)
    return replace(motion, tracks=tracks, fingers=fingers, path=path, approach_frames=lead)
