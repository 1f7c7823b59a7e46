# SPDX-License-Identifier: Apache-2.0
"""From the joints of a recording to the trackers that the person would have worn."""

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
from teleop_system.mocap.mapped_motion import Course, MappedMotion, smooth_step
from teleop_system.mocap.skeleton_rest import HANDS, RestPose, tracker_orientations
from teleop_system.simulators.simulated_tracker import REFERENCE_POSITIONS
from teleop_system.utils.transforms import quat_exp, quat_log, quat_multiply, quat_rotate

Array = NDArray[np.float64]

FEET = frozenset({TrackerRole.LEFT_FOOT, TrackerRole.RIGHT_FOOT})
EVERYTHING = frozenset(TrackerRole)
REACH_SHARE = 0.85
"""Part of the robot's reach that a person's stretched arm becomes; the rest keeps elbows bent."""
FLOOR_PERCENTILE = 5.0
"""Share of the frames in percent in which a foot is on the floor at the least."""
HANGING = {
    "left": quat_exp(np.array([-0.5 * np.pi, 0.0, 0.0])),
    "right": quat_exp(np.array([0.5 * np.pi, 0.0, 0.0])),
}
"""How a hand is turned against a T-pose where its arm hangs down."""


class SkeletonMapper:
    """Maps recordings of any known skeleton to trackers.

    Args:
        config: How the motion is to be played.
        mapping: The family of the skeletons; None tells it from each recording.
    """

    def __init__(
        self, config: MocapConfig | None = None, mapping: JointMapping | None = None
    ) -> None:
        self._config = config or MocapConfig()
        self._mapping = mapping

    def map(self, data: BVHData) -> MappedMotion:
        """Return the motion as trackers would have measured it.

        Raises:
            BVHError: The skeleton belongs to no known family, or the motion is too short.
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
        """Every tracker where it was in the room, above a floor at zero."""
        path = person.path(self._config.smoothing)
        lift = np.array([0.0, 0.0, -person.floor])
        return person.motion(
            {role: person.seen(role, path, lift) for role in TrackerRole}, path, EVERYTHING
        )

    def _relative(self, person: "_Person") -> MappedMotion:
        """Feet in a room that the person begins in the middle of, the rest as the body sees it."""
        config = self._config
        path = person.path(config.smoothing)
        scale = config.scale or self._scale(person)
        courses = {role: person.seen(role, path) for role in TrackerRole}
        waist = _calmed(
            _begun(courses[TrackerRole.WAIST], TrackerRole.WAIST),
            config.waist,
            person.frame_time,
        )
        found = {TrackerRole.WAIST: waist}
        found[TrackerRole.HEAD] = _begun(courses[TrackerRole.HEAD], TrackerRole.HEAD)
        for role in FEET:
            found[role] = _gliding(courses[role], role)
        starts = {TrackerRole.WAIST: _upright(TrackerRole.WAIST)}
        starts[TrackerRole.HEAD] = _upright(TrackerRole.HEAD)
        for side, role in HANDS.items():
            arm = scale * (courses[role].positions - person.shoulder(side, path))
            found[role], starts[role] = self._hand(side, role, waist, arm, courses[role])
        motion = person.motion(found, _from_origin(path), FEET, scale=scale)
        motion = replace(motion, start_heading=float(path.headings[0]))
        wanted = config.approach if config.anchor == "body" and config.fit is not None else 0.0
        return _approached(motion, starts, wanted)

    def _scale(self, person: "_Person") -> float:
        fit = self._config.fit
        return REACH_SHARE * fit.reach / person.arm_length if fit is not None else 1.0

    def _hand(
        self, side: str, role: TrackerRole, waist: Course, arm: Array, seen: Course
    ) -> tuple[Course, Course]:
        """Return a hand's course and the pose in which the robot has it at first.

        The robot carries its shoulders with its torso, which follows the waist; a hand is where
        its shoulder is, and from there as far as the person's is.
        """
        reference = np.array(REFERENCE_POSITIONS[role])
        fit = self._config.fit
        begins = arm[0]
        start_turn = seen.orientations[0]
        if fit is not None and self._config.anchor == "body":
            begins = np.array(fit.hands[side])
            if side in fit.rotations:
                start_turn = quat_multiply(np.array(fit.rotations[side]), HANGING[side])
        shoulder = _shoulder_offset(fit, side)
        carried = quat_rotate(waist.orientations, np.broadcast_to(shoulder, arm.shape)) - shoulder
        carried += waist.positions - REFERENCE_POSITIONS[TrackerRole.WAIST]
        if fit is None or self._config.anchor == "first_frame":
            carried -= carried[0]
        course = Course(reference + carried + arm - begins, seen.orientations)
        return course, Course(reference[None], start_turn[None])


class _Person:
    """A recording together with what is what in it."""

    def __init__(self, data: BVHData, mapping: JointMapping, noise: float) -> None:
        self._data = data
        self._noise = noise / data.frame_time
        self._mapping = mapping
        self._joints = {plain_name(name): place for place, name in enumerate(data.names)}
        self._first = data.first_frame
        if data.frame_count - self._first < 1:
            raise BVHError("no frame was captured", data.path)
        rest = RestPose.of(data, mapping, self._joints)
        readings = rest.readings(mapping, self._joints)
        self._positions = _repaired(data, mapping, self._joints)
        self._turns = {
            role: tracker_orientations(data, rest, self._joints[joint], readings[role])
            for role, joint in mapping.roles.items()
        }

    @property
    def frame_time(self) -> float:
        """Time between two frames in [s]."""
        return self._data.frame_time

    @property
    def floor(self) -> float:
        """Height of the floor in [m]: where the lowest joint is as a rule."""
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
        """Return the way of the body, smoothed over a time [s]."""
        place = self._joints[self._mapping.roles[TrackerRole.WAIST]]
        return BodyPath.of_waist(
            self._positions[self._first :, place],
            self._turns[TrackerRole.WAIST][self._first :],
            smoothing / self._data.frame_time,
        )

    def seen(self, role: TrackerRole, path: BodyPath, lift: Array | None = None) -> Course:
        """Return a tracker as the body sees it that goes along a path."""
        place = self._joints[self._mapping.roles[role]]
        positions = self._positions[self._first :, place] + (0.0 if lift is None else lift)
        course = Course(*path.localize(positions, self._turns[role][self._first :]))
        return course.smoothed(self._noise) if self._noise > 0.0 else course

    def shoulder(self, side: str, path: BodyPath) -> Array:
        """Return a shoulder as the body sees it, shape (F, 3)."""
        positions = self._positions[self._first :, self._joints[self._mapping.shoulder(side)]]
        level = np.tile([0.0, 0.0, 0.0, 1.0], (len(positions), 1))
        course = Course(*path.localize(positions, level))
        return (course.smoothed(self._noise) if self._noise > 0.0 else course).positions

    def motion(
        self,
        courses: dict[TrackerRole, Course],
        path: BodyPath,
        in_room: frozenset[TrackerRole],
        scale: float = 1.0,
    ) -> MappedMotion:
        """Return the motion of these trackers, with the fingers."""
        fingers = {
            side: finger_angles(
                self._data, self._mapping, self._joints, side, courses[HANDS[side]].orientations
            )
            for side in HAND_SIDES
        }
        return MappedMotion(
            name=self._data.path.stem,
            frame_time=self._data.frame_time,
            courses=courses,
            path=path,
            in_room=in_room,
            fingers=fingers,
            scale=scale,
        )


def _repaired(data: BVHData, mapping: JointMapping, joints: dict[str, int]) -> Array:
    """Return the joints' positions with the bones that the conversion has lost."""
    if not mapping.repairs:
        return data.positions
    positions = data.positions.copy()
    for repair in mapping.repairs:
        way = repair.share * (
            data.positions[:, joints[repair.end]] - data.positions[:, joints[repair.start]]
        )
        moved = {joints[name] for name in repair.joints}
        for joint, parent in enumerate(data.parents):
            if parent in moved:
                moved.add(joint)
        positions[:, sorted(moved)] += way[:, None]
    return positions


def _shoulder_offset(fit: RobotProportions | None, side: str) -> Array:
    """Return where an arm begins, from where the torso ends."""
    return np.zeros(3) if fit is None else np.array(fit.shoulders[side])


def _begun(course: Course, role: TrackerRole) -> Course:
    """Return a course that begins at the reference of its tracker."""
    moved = course.positions - course.positions[0] + REFERENCE_POSITIONS[role]
    return Course(moved, course.orientations)


def _calmed(course: Course, limits: WaistLimits, frame_time: float) -> Course:
    """Return what a torso takes over of a waist."""
    if limits.smoothing > 0.0:
        course = course.smoothed(limits.smoothing / frame_time)
    reference = np.array(REFERENCE_POSITIONS[TrackerRole.WAIST])
    away = course.positions - reference
    moved = np.column_stack(
        [_softened(away[:, :2], limits.shift), _softened(away[:, 2:], limits.drop)]
    )
    turns = quat_log(course.orientations)
    turned = np.column_stack(
        [_softened(turns[:, :2], limits.tilt), _softened(turns[:, 2:], limits.twist)]
    )
    return Course(reference + moved, quat_exp(turned))


def _softened(vectors: Array, largest: float) -> Array:
    """Return vectors that are shorter than a limit, which only the long ones feel."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scale: Array = largest * np.tanh(lengths / largest) / np.maximum(lengths, 1e-12)
    return vectors * scale


def _gliding(course: Course, role: TrackerRole) -> Course:
    """Return a foot that goes where the body goes, and is lifted as it was.

    A foot stands still for half of every step, and swings ahead of the body in the other half;
    a base that has no feet would have to guess from both what the body does.
    """
    x, y, _ = np.median(course.positions, axis=0).tolist()
    heights = course.positions[:, 2]
    planted = float(np.percentile(heights, FLOOR_PERCENTILE))
    heights = heights + REFERENCE_POSITIONS[role][2] - planted
    places = np.column_stack([np.full_like(heights, x), np.full_like(heights, y), heights])
    return Course(places, np.tile([0.0, 0.0, 0.0, 1.0], (len(places), 1)))


def _upright(role: TrackerRole) -> Course:
    return Course(np.array([REFERENCE_POSITIONS[role]]), np.array([[0.0, 0.0, 0.0, 1.0]]))


def _from_origin(path: BodyPath) -> BodyPath:
    """Return the same way, beginning at the origin and along x."""
    return BodyPath.of_steps(*path.steps())


def _approached(
    motion: MappedMotion, starts: dict[TrackerRole, Course], time: float
) -> MappedMotion:
    """Return the motion with a way in front that leads to its first pose."""
    lead = round(time / motion.frame_time)
    if lead < 1:
        return motion
    shares = smooth_step(np.arange(lead) / lead)
    courses = {}
    for role, course in motion.courses.items():
        way = course.repeated(lead)
        if role in starts:
            way = starts[role].repeated(lead).blended(way, shares)
        courses[role] = way.followed_by(course)
    fingers = {
        side: np.concatenate([np.repeat(angles[:1], lead, axis=0), angles])
        for side, angles in motion.fingers.items()
    }
    path = motion.path.held(lead)
    return replace(motion, courses=courses, fingers=fingers, path=path, lead=lead)
