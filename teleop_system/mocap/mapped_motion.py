# SPDX-License-Identifier: Apache-2.0
"""A motion as trackers and gloves would have measured it, at any time."""

import cmath
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from teleop_system.interfaces import Pose6D, TrackerRole
from teleop_system.mocap.body_path import BodyPath, repeated, smooth
from teleop_system.utils.transforms import quat_slerp

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """Poses of one tracker, frame by frame.

    Attributes:
        positions: In [m], shape (F, 3).
        orientations: Unit quaternions xyzw, shape (F, 4).
    """

    positions: Array
    orientations: Array

    def __getitem__(self, frames: slice) -> "Course":
        return Course(self.positions[frames], self.orientations[frames])

    def smoothed(self, width: float) -> "Course":
        """Return the course without noise, smoothed over a number of frames."""
        turns = self.orientations
        # Neighbours on the same side of the sphere, or they would cancel each other out.
        signs = np.sign(np.einsum("fi,fi->f", turns[1:], turns[:-1]))
        turns = (
            turns
            * np.concatenate([[1.0], np.cumprod(np.where(signs == 0.0, 1.0, signs))])[:, None]
        )
        turns = smooth(turns, width)
        norms = np.linalg.norm(turns, axis=1, keepdims=True)
        return Course(smooth(self.positions, width), turns / norms)

    def repeated(self, count: int) -> "Course":
        """Return the first pose a number of times."""
        return Course(
            np.repeat(self.positions[:1], count, axis=0),
            np.repeat(self.orientations[:1], count, axis=0),
        )

    def followed_by(self, other: "Course") -> "Course":
        """Return this course and another after it."""
        return Course(
            np.concatenate([self.positions, other.positions]),
            np.concatenate([self.orientations, other.orientations]),
        )

    def blended(self, other: "Course", shares: Array) -> "Course":
        """Return the poses between those of two courses, a share of the way to the other one."""
        return Course(
            self.positions + shares[:, None] * (other.positions - self.positions),
            quat_slerp(self.orientations, other.orientations, shares),
        )


@dataclass(frozen=True, slots=True, eq=False)
class MappedMotion:
    """Trackers and fingers of a recorded person, frame by frame.

    Attributes:
        name: What it is called.
        frame_time: Time between two frames in [s].
        courses: Every tracker, as seen by the body that walks along `path`.
        path: The way of the body.
        in_room: Trackers that are told in the room; the others are told as the body sees them.
        fingers: Angles of both hands in [rad], shape (F, 20), by side.
        lead: Frames in front that were not captured: the approach.
        scale: Way of a hand per way of the person's.
        start_heading: Direction in the recording's room that `path` counts from in [rad].
        loop_start: Frame that follows the last one; None where the motion ends.
        wishes: The trackers as they were recorded, where `courses` are made for a robot.
    """

    name: str
    frame_time: float
    courses: Mapping[TrackerRole, Course]
    path: BodyPath
    in_room: frozenset[TrackerRole]
    fingers: Mapping[str, Array] = field(default_factory=dict)
    lead: int = 0
    scale: float = 1.0
    start_heading: float = 0.0
    loop_start: int | None = None
    wishes: Mapping[TrackerRole, Course] | None = None

    @property
    def frame_count(self) -> int:
        """Frames, the approach included."""
        return len(self.path.headings)

    @property
    def duration(self) -> float:
        """Time from the first frame to the last in [s], or until the loop begins again."""
        closing = 0 if self.loop_start is None else 1
        return (self.frame_count - 1 + closing) * self.frame_time

    @property
    def approach(self) -> float:
        """Time before the first captured frame in [s]."""
        return self.lead * self.frame_time

    def pose(self, role: TrackerRole, time: float, timestamp: float | None = None) -> Pose6D:
        """Return a tracker at a time [s] since the first frame; the last pose after the end."""
        first, second, share, cycles = self._frames(time)
        course = self.courses[role]
        x, y, z = course.positions[first].tolist()
        a, b, c, d = course.orientations[first].tolist()
        if share:
            ahead = course.positions[second].tolist()
            x, y, z = (
                x + share * (ahead[0] - x),
                y + share * (ahead[1] - y),
                z + share * (ahead[2] - z),
            )
            a, b, c, d = _slerp((a, b, c, d), course.orientations[second].tolist(), share)
        if role in self.in_room:
            place, heading = self._body(first, second, share, cycles)
            there = place + complex(x, y) * cmath.exp(1j * heading)
            x, y = there.real, there.imag
            s, k = math.sin(0.5 * heading), math.cos(0.5 * heading)
            # A turn about z, times the orientation.
            a, b, c, d = k * a - s * b, k * b + s * a, k * c + s * d, k * d - s * c
        stamp = time if timestamp is None else timestamp
        return Pose6D(np.array([x, y, z]), np.array([a, b, c, d]), stamp)

    def recorded(self) -> "MappedMotion":
        """Return the motion as it was recorded, whatever a robot can follow."""
        return self if self.wishes is None else replace(self, courses=self.wishes, wishes=None)

    def hand(self, side: str, time: float) -> Array:
        """Return the 20 angles of a hand in [rad] at a time [s] since the first frame."""
        first, second, share, _ = self._frames(time)
        angles = self.fingers[side]
        result: Array = angles[first] + share * (angles[second] - angles[first])
        return result

    def body(self, time: float) -> tuple[float, float, float]:
        """Return place [m] and heading [rad] of the body at a time [s] since the first frame."""
        place, heading = self._body(*self._frames(time))
        return place.real, place.imag, heading

    def looped(self, blend: float) -> "MappedMotion":
        """Return the motion without an end: its last `blend` [s] go over into its beginning.

        The first time through it begins as it is. The body does not return: it goes on from
        where it is, in the direction that it has.
        """
        captured = self.frame_count - self.lead
        overlap = max(1, min(round(blend / self.frame_time), captured // 2))
        if captured < 3 or self.loop_start is not None:
            return self
        last, first = slice(-overlap, None), slice(self.lead, self.lead + overlap)
        shares = smooth_step(np.arange(overlap) / overlap)
        kept = slice(None, -overlap)
        courses = {
            role: course[kept].followed_by(course[last].blended(course[first], shares))
            for role, course in self.courses.items()
        }
        fingers = {
            side: np.concatenate(
                [angles[kept], angles[last] + shares[:, None] * (angles[first] - angles[last])]
            )
            for side, angles in self.fingers.items()
        }
        return replace(
            self,
            courses=courses,
            fingers=fingers,
            path=self._continued(overlap, shares),
            loop_start=self.lead + overlap,
        )

    def again(self, time: float, lead: float) -> "MappedMotion":
        """Return the motion from its first captured frame, for a person who stands elsewhere.

        They come to the first pose from where they are at a time [s] of this motion, within
        `lead` [s], and go on along the floor from there: nothing jumps.
        """
        first, second, share, cycles = self._frames(time)
        count = max(1, round(lead / self.frame_time))
        shares = smooth_step(np.arange(count) / count)
        begin = slice(self.lead, None)

        def led(course: Course) -> Course:
            now = course[first : first + 1].blended(course[second : second + 1], np.array([share]))
            start = course[self.lead : self.lead + 1]
            way = now.repeated(count).blended(start.repeated(count), shares)
            return way.followed_by(course[begin])

        wishes = self.wishes
        fingers = {}
        for side, angles in self.fingers.items():
            start_angles = self.hand(side, time)
            way_angles = start_angles + shares[:, None] * (angles[self.lead] - start_angles)
            fingers[side] = np.concatenate([way_angles, angles[begin]])
        place, heading = self._body(first, second, share, cycles)
        return replace(
            self,
            courses={role: led(course) for role, course in self.courses.items()},
            wishes=wishes and {role: led(course) for role, course in wishes.items()},
            fingers=fingers,
            path=self.path[begin].moved_to(place, heading).held(count),
            lead=count,
            loop_start=None if self.loop_start is None else self.loop_start - self.lead + count,
        )

    def _continued(self, overlap: int, shares: Array) -> BodyPath:
        """Return the way with the steps of its end going over into those of its beginning."""
        ways, turns = self.path.steps()
        last = slice(self.frame_count - overlap, None)
        first = slice(self.lead, self.lead + overlap - 1)
        ways[last] += shares[:-1] * (ways[first] - ways[last])
        turns[last] += shares[:-1] * (turns[first] - turns[last])
        return BodyPath.of_steps(ways, turns).moved_to(*self._at(0))

    def _frames(self, time: float) -> tuple[int, int, float, int]:
        """Return the frames around a time, the share of the second, and loops so far."""
        place, cycles, last = max(time / self.frame_time, 0.0), 0, self.frame_count - 1
        if self.loop_start is not None and place >= last + 1:
            around, place = divmod(place - self.loop_start, last + 1 - self.loop_start)
            cycles, place = int(around), place + self.loop_start
        first = min(int(place), last)
        second = first + 1
        if second > last:
            second = last if self.loop_start is None else self.loop_start
        return first, second, place - first if second != first else 0.0, cycles

    def _body(self, first: int, second: int, share: float, cycles: int) -> tuple[complex, float]:
        place, heading = self._at(first)
        if self.loop_start is None:
            ahead, turn = self._at(second)
            return place + share * (ahead - place), heading + share * (turn - heading)
        way, turn = self._step_after(first)
        place += share * way * cmath.exp(1j * heading)
        heading += share * turn
        if not cycles:
            return place, heading
        # Each time round begins where the one before has led, so that the way of one is added.
        start, start_heading = self._at(self.loop_start)
        end, end_heading = self._at(self.frame_count - 1)
        step, step_turn = self._step_after(self.frame_count - 1)
        end += step * cmath.exp(1j * end_heading)
        end_heading += step_turn
        loop = (end - start) * cmath.exp(-1j * start_heading)
        ahead, turned = repeated(loop, end_heading - start_heading, cycles)
        local = (place - start) * cmath.exp(-1j * start_heading)
        origin = start + ahead * cmath.exp(1j * start_heading)
        return origin + local * cmath.exp(1j * (start_heading + turned)), heading + turned

    def _at(self, frame: int) -> tuple[complex, float]:
        x, y = self.path.places[frame].tolist()
        return complex(x, y), float(self.path.headings[frame])

    def _step_after(self, frame: int) -> tuple[complex, float]:
        """Return the step from a frame to the next; the last is followed by the loop's first."""
        if frame == self.frame_count - 1:
            # The step into the frame where the loop begins, which is the same all along.
            assert self.loop_start is not None
            frame = self.loop_start - 1
        (start, heading), (end, turned) = self._at(frame), self._at(frame + 1)
        return (end - start) * cmath.exp(-1j * heading), turned - heading


def smooth_step(shares: Array) -> Array:
    """Return the smoothest way from 0 to 1, at rest at both ends."""
    s = np.clip(shares, 0.0, 1.0)
    result: Array = s * s * s * (10.0 + s * (6.0 * s - 15.0))
    return result


def _slerp(
    start: tuple[float, float, float, float], end: Sequence[float], share: float
) -> tuple[float, float, float, float]:
    """Return the rotation a share of the short way from one to another; both xyzw."""
    a, b, c, d = start
    e, f, g, h = end
    cosine = a * e + b * f + c * g + d * h
    sign = 1.0 if cosine >= 0.0 else -1.0
    angle = math.acos(min(sign * cosine, 1.0))
    if angle < 1e-4:
        # The chord is as good as the arc, and does not divide by nothing.
        first, second = 1.0 - share, sign * share
    else:
        first = math.sin((1.0 - share) * angle) / math.sin(angle)
        second = sign * math.sin(share * angle) / math.sin(angle)
    return (
        first * a + second * e,
        first * b + second * f,
        first * c + second * g,
        first * d + second * h,
    )
