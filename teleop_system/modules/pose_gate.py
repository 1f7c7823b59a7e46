# SPDX-License-Identifier: Apache-2.0
"""The first station of the command path: which samples of a tracker may be acted upon, and why."""

import enum
import math
from dataclasses import dataclass

import numpy as np

from teleop_system.interfaces import Pose6D
from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.safety.cause_log import CauseLog
from teleop_system.safety.staleness import SAMPLE
from teleop_system.utils.validators import require_non_negative, require_positive

UNIT_TOLERANCE = 1e-3
"""How far a quaternion's length may be from one; single precision stays far below."""


@dataclass(frozen=True, slots=True)
class GateLimits:
    """What a sample has to meet before it may be acted upon."""

    stale_after: float = SAMPLE.timeout
    """Age in [s] past which a sample is no longer acted upon."""
    ahead: float = 0.02
    """How far in [s] a stamp may lie in the future; drivers predict by about a frame."""
    speed: float = 10.0
    """Speed in [m/s] above which a body has jumped; a runner's foot stays below."""
    distance: float = 0.1
    """Distance in [m] that never counts as a jump, however short the time."""
    turn_speed: float = 40.0
    """Turning speed in [rad/s] above which a body has jumped; a runner's foot reaches 30."""
    turn: float = 0.5
    """Angle in [rad] that never counts as a jump, however short the time."""

    def __post_init__(self) -> None:
        require_positive(self, "stale_after", "speed", "turn_speed")
        require_non_negative(self, "ahead", "distance", "turn")


class Sample(enum.Enum):
    """What a gate makes of a tick."""

    FRESH = "fresh"
    """A new sample that may be acted upon."""
    WAITING = "waiting"
    """No new one, but the last is young enough."""
    BAD = "bad"
    """The device reports a loss, or delivers what is no pose; the last one ages."""
    JUMPED = "jumped"
    """The body seems to have jumped; the pose is kept, for it may be there now."""
    STALE = "stale"
    """Nothing usable for too long."""


FRESH = Sample.FRESH
"""Looking up a member of an enumeration takes ten times as long as looking up a name."""
WIDEST = 3.0
"""Angle in [rad] above which turns are not told apart by a product of quaternions."""


class PoseGate:
    """Judges the samples of one tracker, tick by tick.

    Args:
        name: The tracker, as causes should call it.
        limits: What a sample has to meet.
        severity: What its loss means; HOLD for a tracker that the part cannot do without.
    """

    def __init__(self, name: str, limits: GateLimits, severity: Severity = Severity.HOLD) -> None:
        self._name = name
        self._limits = limits
        self._severity = severity
        self._last: Pose6D | None = None
        # What never counts as a jump, however short the time.
        self._near = limits.distance**2
        self._similar = math.cos(0.5 * min(limits.turn, WIDEST))

    def reset(self) -> None:
        """Forget every sample."""
        self._last = None

    @property
    def pose(self) -> Pose6D | None:
        """The newest sample that passed, or None."""
        return self._last

    def age(self, now: float) -> float:
        """Return the time since the newest sample that passed in [s], infinite without one."""
        return now - self._last.timestamp if self._last is not None else math.inf

    def check(self, pose: Pose6D | None, now: float, log: CauseLog) -> Sample:
        """Judge what the tracker delivers at time `now` [s], and log why it is not fresh.

        A sample whose stamp repeats, runs backwards or lies ahead is passed over, and the last
        good one ages. A lost or non-unit one is BAD, and one too far away JUMPED, at once.
        """
        if pose is None or not pose.valid:
            age = now - self._last.timestamp if self._last is not None else 0.0
            log.add(Rule.LOST, self._name, age, 0.0, self._severity)
            return Sample.BAD
        if self._last is not None and self._is_plain(pose, self._last, now):
            self._last = pose
            return FRESH
        fresh = not self._is_out_of_order(pose, now, log)
        if fresh:
            if not self._is_unit(pose, log):
                return Sample.BAD
            jumped = self._has_jumped(pose, log)
            # Kept even so: the body may really be there now, and the next sample will tell.
            self._last = pose
            if jumped:
                return Sample.JUMPED
        return self._judge_age(now, log, fresh)

    def _is_plain(self, pose: Pose6D, last: Pose6D, now: float) -> bool:
        """Tell at a glance whether a sample meets every limit, as nearly all do.

        False says nothing yet.
        """
        stamp, limits = pose.timestamp, self._limits
        if not (
            last.timestamp < stamp <= now + limits.ahead and now - stamp <= limits.stale_after
        ):
            return False
        x, y, z = pose.position.tolist()
        ox, oy, oz = last.position.tolist()
        a, b, c, d = pose.orientation.tolist()
        e, f, g, h = last.orientation.tolist()
        dx, dy, dz = x - ox, y - oy, z - oz
        squared: float = a * a + b * b + c * c + d * d
        return (
            0.999 < squared < 1.001
            and bool(dx * dx + dy * dy + dz * dz <= self._near)
            and bool(abs(a * e + b * f + c * g + d * h) >= self._similar)
        )

    def _is_out_of_order(self, pose: Pose6D, now: float, log: CauseLog) -> bool:
        """Tell whether the sample is not a new one, logging it unless it merely repeats."""
        limits, last = self._limits, self._last
        if pose.timestamp > now + limits.ahead:
            log.add(Rule.TIME_ORDER, self._name, pose.timestamp - now, limits.ahead)
            return True
        if last is None or pose.timestamp > last.timestamp:
            return False
        if pose.timestamp < last.timestamp or not _is_same(pose, last):
            log.add(Rule.TIME_ORDER, self._name, pose.timestamp - last.timestamp, 0.0)
        return True

    def _is_unit(self, pose: Pose6D, log: CauseLog) -> bool:
        x, y, z, w = pose.orientation.tolist()
        length = math.sqrt(x * x + y * y + z * z + w * w)
        if abs(length - 1.0) <= UNIT_TOLERANCE:
            return True
        log.add(Rule.NON_UNIT, self._name, length, 1.0, self._severity)
        return False

    def _has_jumped(self, pose: Pose6D, log: CauseLog) -> bool:
        if self._last is None:
            return False
        elapsed = pose.timestamp - self._last.timestamp
        moved = math.dist(pose.position.tolist(), self._last.position.tolist())
        reach = self._limits.distance + self._limits.speed * elapsed
        if moved > reach:
            log.add(Rule.INPUT_JUMP, self._name, moved, reach, self._severity)
        turned = _turn_between(self._last, pose)
        turn = self._limits.turn + self._limits.turn_speed * elapsed
        if turned > turn:
            # The rule counts in [m]: how far a point 1 m from the tracker moved.
            log.add(Rule.INPUT_JUMP, f"{self._name} rotation", turned, turn, self._severity)
        return moved > reach or turned > turn

    def _judge_age(self, now: float, log: CauseLog, fresh: bool) -> Sample:
        if self._last is None:
            return Sample.STALE
        age = now - self._last.timestamp
        if age > self._limits.stale_after:
            log.add(Rule.STALE, self._name, age, self._limits.stale_after, self._severity)
            return Sample.STALE
        return Sample.FRESH if fresh else Sample.WAITING


def _turn_between(a: Pose6D, b: Pose6D) -> float:
    """Return the angle between two orientations in [rad], on floats for speed."""
    ax, ay, az, aw = a.orientation.tolist()
    bx, by, bz, bw = b.orientation.tolist()
    return 2.0 * math.acos(min(1.0, abs(ax * bx + ay * by + az * bz + aw * bw)))


def _is_same(a: Pose6D, b: Pose6D) -> bool:
    return a is b or (
        np.array_equal(a.position, b.position) and np.array_equal(a.orientation, b.orientation)
    )
