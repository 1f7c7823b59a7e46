# SPDX-License-Identifier: Apache-2.0
"""Measures walking and turning: displacement and rotation of the operator's body in the room.

A foot that kicks, hips that sway and a tracker that slips move alone. The body's motion is the
median over both feet and the waist, per axis. Without a waist tracker a third value of zero takes
its part, so both feet must agree and the smaller motion counts. The rate of a body that is known
to move is taken from the mean instead, which does not drop between steps.
"""

import math
from collections import deque

from teleop_system.modules.locomotion.yaw_kernels import yaw_between
from teleop_system.utils.poses import PoseTuple

Motion = tuple[float, float, float]
"""Displacement along x and y of the room in [m], and rotation about its z axis in [rad]."""

STILL: Motion = (0.0, 0.0, 0.0)


class BodyMotion:
    """Displacement of a body from an anchor, and its rate over a time window.

    Args:
        window: Time in [s] over which the rate is measured.
        uses_mean: Whether two trackers need not agree and the body is half-way between them.
    """

    def __init__(self, window: float, *, uses_mean: bool = False) -> None:
        self._window = window
        self._uses_mean = uses_mean
        self._trackers: dict[str, _TrackerMotion] = {}
        # Trackers are created from the anchor at the first motion, since a body at rest sets a
        # new anchor with every sample.
        self._new_anchor: dict[str, PoseTuple] = {}
        self._history: deque[tuple[float, Motion]] = deque()
        self.displacement = STILL
        """Median displacement since the anchor was set."""

    def anchor(self, poses: dict[str, PoseTuple]) -> None:
        """Count displacement from these poses on."""
        self._new_anchor = poses
        self._history.clear()
        self.displacement = STILL

    def update(self, poses: dict[str, PoseTuple], now: float) -> None:
        """Add new poses of trackers by name, measured by time `now` [s]."""
        if self._new_anchor:
            self._trackers = {
                name: _TrackerMotion(pose) for name, pose in self._new_anchor.items()
            }
            self._new_anchor = {}
        if poses.keys() != self._trackers.keys():
            self._change_trackers(poses)
        motions = [self._trackers[name].update(pose) for name, pose in poses.items()]
        count = len(motions)
        xs, ys, yaws = zip(*motions, strict=True)
        mean = sum(xs) / count, sum(ys) / count, sum(yaws) / count
        self._history.append((now, mean))
        if count < 3:
            x, y, yaw = mean if self._uses_mean else STILL
            xs, ys, yaws = (*xs, x), (*ys, y), (*yaws, yaw)
        self.displacement = sorted(xs)[1], sorted(ys)[1], sorted(yaws)[1]
        while self._history[0][0] < now - self._window:
            self._history.popleft()

    @property
    def rate(self) -> Motion:
        """Rate of the mean in [m/s, m/s, rad/s]; zero before the first motion."""
        if not self._history:
            return STILL
        (x0, y0, yaw0), (x, y, yaw) = self._history[0][1], self._history[-1][1]
        return (x - x0) / self._window, (y - y0) / self._window, (yaw - yaw0) / self._window

    def drift(self, fraction: float) -> None:
        """Move the anchor towards the body by a fraction of the displacement, 0 to 1."""
        for tracker in self._trackers.values():
            tracker.drift(fraction)

    def _change_trackers(self, poses: dict[str, PoseTuple]) -> None:
        """Add and remove trackers without a jump of the measured displacement."""
        for name in [name for name in self._trackers if name not in poses]:
            del self._trackers[name]
            # The other trackers may differ from it, which would look like a motion.
            self._history.clear()
        for name, pose in poses.items():
            if name not in self._trackers:
                self._trackers[name] = _TrackerMotion(pose, self.displacement)


class _TrackerMotion:
    """Displacement and unwrapped yaw of one tracker from its anchor."""

    def __init__(self, pose: PoseTuple, start: Motion = STILL) -> None:
        self._origin, self._anchor = pose
        self._start = start
        self._yaw = 0.0
        self._motion = start

    def update(self, pose: PoseTuple) -> Motion:
        x, y, _ = pose[0]
        yaw = yaw_between(self._anchor, pose[1])
        if not math.isnan(yaw):
            # The equivalent angle nearest to the last one, so that full rotations add up.
            self._yaw += math.remainder(yaw - self._yaw, 2.0 * math.pi)
        x0, y0, yaw0 = self._start
        self._motion = x - self._origin[0] + x0, y - self._origin[1] + y0, self._yaw + yaw0
        return self._motion

    def drift(self, fraction: float) -> None:
        x, y, yaw = self._start
        dx, dy, dyaw = self._motion
        self._start = x - fraction * dx, y - fraction * dy, yaw - fraction * dyaw
