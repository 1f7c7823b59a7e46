# SPDX-License-Identifier: Apache-2.0
"""Judges emitted commands by themselves; shares no code with what emits them.

Velocity, acceleration and jerk are divided differences of the emitted positions. Each is a
weighted mean of the true derivative over the samples it spans, so a motion that keeps its limits
keeps them here too, whatever the spacing. Time is what a cycle may use of it: at most a period.
A cycle that comes so late that the robot has come to rest by itself begins a new motion.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from teleop_system.robots.description import RobotDescription

Array = NDArray[np.float64]

PAUSE = 0.5
"""Time in [s] without commands after which a base stands, as is promised."""
RELATIVE = 1e-6
"""Relative error by which rounding may exceed a limit."""
ROUNDING = 16 * np.finfo(np.float64).eps
"""Rounding of a difference of positions of the order of 1 rad."""


@dataclass(frozen=True)
class Violation:
    """A limit that was not kept."""

    what: str
    subject: str
    time: float
    value: float
    limit: float


def _elapsed(last: float | None, now: float, period: float) -> float:
    """Return the time since the last cycle [s]; zero if the clock gives no valid time."""
    if not np.isfinite(now):
        return 0.0
    return period if last is None else now - last


class JointOracle:
    """Records emitted joint positions and finds what violates the robot's own limits."""

    def __init__(
        self, robot: RobotDescription, names: tuple[str, ...], period: float, stall_after: float
    ) -> None:
        self._names = names
        limits = [robot.joints[name] for name in names]
        self._lower = np.array([limit.lower for limit in limits])
        self._upper = np.array([limit.upper for limit in limits])
        self._largest = [
            np.array([getattr(limit, name) for limit in limits])
            for name in ("velocity", "acceleration", "jerk")
        ]
        self._period, self._stall_after = period, stall_after
        self._motions: list[tuple[list[float], list[float], list[Array]]] = []
        self._now: float | None = None

    def start(self, positions: Array) -> None:
        """Begin with a robot at rest at measured positions [rad]."""
        self._begin(0.0, positions)
        self._now = None

    def _begin(self, now: float, positions: Array) -> None:
        # Three equal samples: at rest before the start.
        times = [-3.0 * self._period, -2.0 * self._period, -self._period, 0.0]
        self._motions.append((times, [now] * 4, [positions.copy()] * 4))

    def add(self, now: float, positions: Array) -> None:
        """Record what was emitted in a cycle at time `now` [s]."""
        elapsed = _elapsed(self._now, now, self._period)
        if elapsed > self._stall_after:
            self._begin(now, self._motions[-1][2][-1])
        times, nows, recorded = self._motions[-1]
        # A clock that does not advance counts as one period, in which the robot brakes.
        times.append(times[-1] + (min(elapsed, self._period) if elapsed > 0.0 else self._period))
        nows.append(now)
        recorded.append(positions.copy())
        self._now = now if elapsed > 0.0 else self._now

    @property
    def steps(self) -> int:
        """Number of cycles recorded."""
        return sum(len(times) - 4 for times, _, _ in self._motions)

    def violations(self) -> Iterator[Violation]:
        """Find everything that breaks a promise."""
        for times, nows, recorded in self._motions:
            positions, time = np.array(recorded), np.array(times)
            yield from self._outside(positions, nows)
            difference = positions
            for order, largest in enumerate(self._largest, start=1):
                span = (time[order:] - time[:-order])[:, None]
                difference = order * np.diff(difference, axis=0) / span
                finest = (np.diff(time).min()) ** order
                allowed = largest * (1.0 + RELATIVE) + 4**order * ROUNDING / finest
                what = ("velocity", "acceleration", "jerk")[order - 1]
                found = np.argwhere(~(np.abs(difference) <= allowed))
                for row, joint in found[:3]:
                    value = float(difference[row, joint])
                    name = self._names[joint]
                    limit = float(largest[joint])
                    yield Violation(what, name, nows[row + order], value, limit)

    def _outside(self, positions: Array, nows: list[float]) -> Iterator[Violation]:
        # A robot that begins outside must not go further out.
        lower = np.minimum(self._lower, positions[0]) - RELATIVE**1.5
        upper = np.maximum(self._upper, positions[0]) + RELATIVE**1.5
        for row, joint in np.argwhere(~((positions >= lower) & (positions <= upper)))[:3]:
            value = float(positions[row, joint])
            limit = float(self._lower[joint] if value < lower[joint] else self._upper[joint])
            yield Violation("position", self._names[joint], nows[row], value, limit)


class BaseOracle:
    """Records emitted base velocities and finds what violates the limits."""

    def __init__(
        self,
        *,
        speed: tuple[float, float],
        acceleration: tuple[float, float],
        jerk: tuple[float, float],
        braking: tuple[float, float],
        braking_jerk: tuple[float, float],
        period: float,
    ) -> None:
        self._speed, self._acceleration = np.array(speed), np.array(acceleration)
        self._jerk, self._braking = np.array(jerk), np.array(braking)
        self._braking_jerk = np.array(braking_jerk)
        self._period = period
        self._times: list[float] = []
        self._steps: list[float] = []
        self._velocities: list[tuple[float, float]] = []
        self._now: float | None = None
        self._ended: list[Violation] = []

    def start(self) -> None:
        """Begin a motion with a base that stands."""
        self._times, self._velocities, self._now = [0.0, 0.0], [(0.0, 0.0)] * 2, None
        self._steps = [self._period] * 2

    def add(self, now: float, linear: float, angular: float) -> None:
        """Record what was emitted in a cycle at time `now` [s]."""
        elapsed = _elapsed(self._now, now, self._period)
        if elapsed > PAUSE:  # It stands by now, and begins a new motion.
            self._ended += self._judge()
            self.start()
        self._steps.append(min(elapsed, self._period) if elapsed > 0.0 else self._period)
        self._times.append(now)
        self._velocities.append((linear, angular))
        self._now = now if elapsed > 0.0 else self._now

    def violations(self) -> Iterator[Violation]:
        """Find everything that breaks a promise."""
        yield from self._ended
        yield from self._judge()

    def _judge(self) -> Iterator[Violation]:
        """Find what breaks a promise in the motion since the base last stood still."""
        velocity = np.array(self._velocities)
        step = np.array(self._steps)[:, None]
        change = np.diff(velocity, axis=0) / step[1:]
        jerk = np.diff(change, axis=0) / step[2:]
        slower = np.abs(velocity[1:]) < np.abs(velocity[:-1])
        allowed = np.where(slower, self._braking, self._acceleration)
        # When driving and rotation both speed up they share the wheels.
        shared = (np.where(slower, 0.0, np.abs(change)) / self._acceleration).sum(1)
        # An acceleration may fade, or brake, quickly; it may not build up quickly.
        quick = slower[1:] | (np.abs(change[1:]) < np.abs(change[:-1]))
        allowed_jerk = np.where(quick, self._braking_jerk, self._jerk)
        checks = (
            ("speed", np.abs(velocity), np.broadcast_to(self._speed, velocity.shape)),
            ("acceleration", np.abs(change), allowed),
            ("jerk", np.abs(jerk), allowed_jerk),
            ("shared acceleration", shared[:, None], np.ones((len(shared), 1))),
        )
        for what, values, limits in checks:
            offset = len(velocity) - len(values)
            for row, axis in np.argwhere(~(values <= limits * (1 + RELATIVE) + 1e-9))[:3]:
                time = self._times[row + offset]
                value, limit = float(values[row, axis]), float(limits[row, axis])
                yield Violation(what, ("linear", "angular")[axis], time, value, limit)
