# SPDX-License-Identifier: Apache-2.0
"""A recorded motion as samples of trackers and gloves, at any time."""

import cmath
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from teleop_system.interfaces import Pose6D, TrackerRole
from teleop_system.mocap.body_path import BodyPath, gaussian_smooth, repeat_step
from teleop_system.utils.minimum_jerk import minimum_jerk
from teleop_system.utils.poses import slerp
from teleop_system.utils.transforms import quat_slerp

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class PoseTrack:
    """Poses of one tracker, frame by frame.

    Attributes:
        positions: In [m], shape (F, 3).
        orientations: Unit quaternions xyzw, shape (F, 4).
    """

    positions: Array
    orientations: Array

    def __getitem__(self, frames: slice) -> "PoseTrack":
        return PoseTrack(self.positions[frames], self.orientations[frames])

    def smoothed(self, width: float) -> "PoseTrack":
        """Return the track smoothed over a number of frames."""
        quaternions = self.orientations
        # Consecutive quaternions need equal signs: q and -q would cancel in the average.
        signs = np.sign(np.einsum("fi,fi->f", quaternions[1:], quaternions[:-1]))
        signs = np.cumprod(np.where(signs == 0.0, 1.0, signs))
        quaternions = quaternions * np.concatenate([[1.0], signs])[:, None]
        quaternions = gaussian_smooth(quaternions, width)
        norms = np.linalg.norm(quaternions, axis=1, keepdims=True)
        return PoseTrack(gaussian_smooth(self.positions, width), quaternions / norms)

    def repeated(self, count: int) -> "PoseTrack":
        """Return a track that repeats the first pose."""
        return PoseTrack(
            np.repeat(self.positions[:1], count, axis=0),
            np.repeat(self.orientations[:1], count, axis=0),
        )

    def followed_by(self, other: "PoseTrack") -> "PoseTrack":
        """Return this track followed by another."""
        return PoseTrack(
            np.concatenate([self.positions, other.positions]),
            np.concatenate([self.orientations, other.orientations]),
        )

    def blended(self, other: "PoseTrack", shares: Array) -> "PoseTrack":
        """Return the interpolation from this track (share 0) to another (share 1)."""
        return PoseTrack(
            self.positions + shares[:, None] * (other.positions - self.positions),
            quat_slerp(self.orientations, other.orientations, shares),
        )


@dataclass(frozen=True, slots=True, eq=False)
class MappedMotion:
    """Trackers and fingers of a recorded person, frame by frame.

    Attributes:
        name: Name of the motion.
        frame_time: Time between two frames in [s].
        tracks: Poses of every tracker in the frame of the body that walks along `path`.
        path: Path of the body.
        room_roles: Trackers whose samples are in the room; the others stay in the body's frame.
        fingers: Angles of both hands in [rad], shape (F, 20), by side.
        approach_frames: Number of frames that were added before the captured ones.
        scale: Distance of the robot's hand per distance of the person's.
        start_heading: Heading in the recording's room at which `path` begins in [rad].
        loop_start: Frame that follows the last one; None if the motion ends.
        recorded_tracks: The tracks before planning; None if the motion was not planned.
    """

    name: str
    frame_time: float
    tracks: Mapping[TrackerRole, PoseTrack]
    path: BodyPath
    room_roles: frozenset[TrackerRole]
    fingers: Mapping[str, Array] = field(default_factory=dict)
    approach_frames: int = 0
    scale: float = 1.0
    start_heading: float = 0.0
    loop_start: int | None = None
    recorded_tracks: Mapping[TrackerRole, PoseTrack] | None = None

    @property
    def frame_count(self) -> int:
        """Number of frames, including the approach."""
        return len(self.path.headings)

    @property
    def duration(self) -> float:
        """Time from the first frame to the last, or to the restart of the loop, in [s]."""
        closing = 0 if self.loop_start is None else 1
        return (self.frame_count - 1 + closing) * self.frame_time

    @property
    def approach(self) -> float:
        """Time before the first captured frame in [s]."""
        return self.approach_frames * self.frame_time

    def pose(self, role: TrackerRole, time: float, timestamp: float | None = None) -> Pose6D:
        """Return a tracker at a time [s] since the first frame; the last pose after the end."""
        first, second, share, cycles = self._frames(time)
        track = self.tracks[role]
        x, y, z = track.positions[first].tolist()
        a, b, c, d = track.orientations[first].tolist()
        if share:
            ahead = track.positions[second].tolist()
            x, y, z = (
                x + share * (ahead[0] - x),
                y + share * (ahead[1] - y),
                z + share * (ahead[2] - z),
            )
            a, b, c, d = slerp((a, b, c, d), tuple(track.orientations[second].tolist()), share)
        if role in self.room_roles:
            origin, heading = self._body(first, second, share, cycles)
            point = origin + complex(x, y) * cmath.exp(1j * heading)
            x, y = point.real, point.imag
            s, k = math.sin(0.5 * heading), math.cos(0.5 * heading)
            # Product of a rotation about z and the orientation.
            a, b, c, d = k * a - s * b, k * b + s * a, k * c + s * d, k * d - s * c
        stamp = time if timestamp is None else timestamp
        return Pose6D(np.array([x, y, z]), np.array([a, b, c, d]), stamp)

    def recorded(self) -> "MappedMotion":
        """Return the motion as it was recorded, without planning."""
        recorded = self.recorded_tracks
        return self if recorded is None else replace(self, tracks=recorded, recorded_tracks=None)

    def hand(self, side: str, time: float) -> Array:
        """Return the 20 angles of a hand in [rad] at a time [s] since the first frame."""
        first, second, share, _ = self._frames(time)
        angles = self.fingers[side]
        result: Array = angles[first] + share * (angles[second] - angles[first])
        return result

    def body(self, time: float) -> tuple[float, float, float]:
        """Return x [m], y [m] and heading [rad] of the body at a time [s]."""
        position, heading = self._body(*self._frames(time))
        return position.real, position.imag, heading

    def looped(self, blend: float) -> "MappedMotion":
        """Return the motion as a loop: its last `blend` [s] blend into its beginning.

        The first cycle begins without a blend. The body does not jump back: each cycle continues
        from the position and heading where the last one ended.
        """
        captured = self.frame_count - self.approach_frames
        overlap = max(1, min(round(blend / self.frame_time), captured // 2))
        if captured < 3 or self.loop_start is not None:
            return self
        start = self.approach_frames
        last, first = slice(-overlap, None), slice(start, start + overlap)
        shares = smooth_step(np.arange(overlap) / overlap)
        kept = slice(None, -overlap)
        tracks = {
            role: track[kept].followed_by(track[last].blended(track[first], shares))
            for role, track in self.tracks.items()
        }
        fingers = {
            side: np.concatenate(
                [angles[kept], angles[last] + shares[:, None] * (angles[first] - angles[last])]
            )
            for side, angles in self.fingers.items()
        }
        return replace(
            self,
            tracks=tracks,
            fingers=fingers,
            path=self._continued(overlap, shares),
            loop_start=start + overlap,
        )

    def restarted(self, time: float, lead: float) -> "MappedMotion":
        """Return the motion from its first captured frame, for a person at another position.

        The person moves from the pose at `time` [s] of this motion to the first captured pose
        within `lead` [s], without a jump, and the walk continues from there.
        """
        first, second, share, cycles = self._frames(time)
        count = max(1, round(lead / self.frame_time))
        shares = smooth_step(np.arange(count) / count)
        start = self.approach_frames

        def restart(track: PoseTrack) -> PoseTrack:
            now = track[first : first + 1].blended(track[second : second + 1], np.array([share]))
            goal = track[start : start + 1]
            approach = now.repeated(count).blended(goal.repeated(count), shares)
            return approach.followed_by(track[start:])

        recorded = self.recorded_tracks
        fingers = {}
        for side, angles in self.fingers.items():
            now_angles = self.hand(side, time)
            approach = now_angles + shares[:, None] * (angles[start] - now_angles)
            fingers[side] = np.concatenate([approach, angles[start:]])
        position, heading = self._body(first, second, share, cycles)
        return replace(
            self,
            tracks={role: restart(track) for role, track in self.tracks.items()},
            recorded_tracks=recorded
            and {role: restart(track) for role, track in recorded.items()},
            fingers=fingers,
            path=self.path[start:].moved_to(position, heading).held(count),
            approach_frames=count,
            loop_start=None if self.loop_start is None else self.loop_start - start + count,
        )

    def _continued(self, overlap: int, shares: Array) -> BodyPath:
        """Return the path with its last steps blended into its first ones."""
        displacements, rotations = self.path.steps()
        last = slice(self.frame_count - overlap, None)
        first = slice(self.approach_frames, self.approach_frames + overlap - 1)
        displacements[last] += shares[:-1] * (displacements[first] - displacements[last])
        rotations[last] += shares[:-1] * (rotations[first] - rotations[last])
        return BodyPath.of_steps(displacements, rotations).moved_to(*self._at(0))

    def _frames(self, time: float) -> tuple[int, int, float, int]:
        """Return the two frames around a time, the share of the second, and completed loops."""
        frame, cycles, last = max(time / self.frame_time, 0.0), 0, self.frame_count - 1
        if self.loop_start is not None and frame >= last + 1:
            completed, frame = divmod(frame - self.loop_start, last + 1 - self.loop_start)
            cycles, frame = int(completed), frame + self.loop_start
        first = min(int(frame), last)
        second = first + 1
        if second > last:
            second = last if self.loop_start is None else self.loop_start
        return first, second, frame - first if second != first else 0.0, cycles

    def _body(self, first: int, second: int, share: float, cycles: int) -> tuple[complex, float]:
        """Return position and heading of the body between two frames."""
        position, heading = self._at(first)
        if self.loop_start is None:
            ahead, heading_ahead = self._at(second)
            return (
                position + share * (ahead - position),
                heading + share * (heading_ahead - heading),
            )
        displacement, rotation = self._step_after(first)
        position += share * displacement * cmath.exp(1j * heading)
        heading += share * rotation
        if not cycles:
            return position, heading
        # Each cycle begins where the last one ended: add the displacement of one per cycle.
        start, start_heading = self._at(self.loop_start)
        end, end_heading = self._at(self.frame_count - 1)
        step, step_rotation = self._step_after(self.frame_count - 1)
        end += step * cmath.exp(1j * end_heading)
        end_heading += step_rotation
        loop = (end - start) * cmath.exp(-1j * start_heading)
        ahead, rotated = repeat_step(loop, end_heading - start_heading, cycles)
        local = (position - start) * cmath.exp(-1j * start_heading)
        origin = start + ahead * cmath.exp(1j * start_heading)
        return origin + local * cmath.exp(1j * (start_heading + rotated)), heading + rotated

    def _at(self, frame: int) -> tuple[complex, float]:
        x, y = self.path.positions[frame].tolist()
        return complex(x, y), float(self.path.headings[frame])

    def _step_after(self, frame: int) -> tuple[complex, float]:
        """Return displacement and rotation to the next frame; the last one precedes the loop."""
        if frame == self.frame_count - 1:
            # The step into `loop_start` is the same from both frames before it.
            assert self.loop_start is not None
            frame = self.loop_start - 1
        (start, heading), (end, next_heading) = self._at(frame), self._at(frame + 1)
        return (end - start) * cmath.exp(-1j * heading), next_heading - heading


def smooth_step(shares: Array) -> Array:
    """Return the minimum-jerk transition from 0 to 1, at rest at both ends."""
    return np.array([minimum_jerk(share) for share in shares.tolist()])
