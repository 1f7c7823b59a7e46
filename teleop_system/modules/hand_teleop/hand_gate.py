# SPDX-License-Identifier: Apache-2.0
"""Which samples of a hand may be acted upon, and why the others may not."""

import math

import numpy as np
from numpy.typing import ArrayLike

from teleop_system.exceptions import UnknownNameError
from teleop_system.interfaces.causes import Cause, Rule, Severity
from teleop_system.interfaces.master_device import HAND_JOINT_COUNT, HAND_SIDES, HandJointState
from teleop_system.modules.pose_gate import FRESH, Sample
from teleop_system.safety.cause_log import CauseLog

LARGEST_ANGLE = math.pi
"""Angle in [rad] that no finger joint can have."""
LARGEST_REACH = 0.4
"""Distance from the wrist in [m] that no finger tip can have."""
SURELY_NEAR = 0.99 * LARGEST_REACH / math.sqrt(3.0)
"""A tip with all coordinates in [m] below this is nearer than that."""


class HandGate:
    """Judges the samples of one hand, tick by tick.

    A sample that cannot be used is passed over with its cause, and the last good one ages; once
    that is stale the hand holds. Optical trackers lose a hand for single frames all the time, and
    a hold for each would be no hand at all.

    Args:
        side: The hand this gate belongs to.
        stale_after: Age in [s] past which a sample is no longer acted upon.
        ahead: How far in [s] a stamp may lie in the future.
    """

    def __init__(self, side: str, *, stale_after: float, ahead: float) -> None:
        self._side = side
        self._name = f"{side} hand"
        self._stale_after = stale_after
        self._ahead = ahead
        self._continued = False
        self._last: HandJointState | None = None

    def reset(self) -> None:
        """Forget every sample."""
        self._continued = False
        self._last = None

    @property
    def is_continued(self) -> bool:
        """Whether the newest sample came before the one ahead of it was stale."""
        return self._continued

    def check(self, state: HandJointState | None, now: float, log: CauseLog) -> Sample:
        """Judge what the device delivers at time `now` [s], and log why it is not fresh."""
        last = self._last
        self._continued = last is not None and now - last.timestamp <= self._stale_after
        if not self._continued:
            self._last = None  # A device that restarted may count its time anew.
        if (
            last is not None
            and state is not None
            and state.valid
            and state.side == self._side
            and last.timestamp < state.timestamp <= now + self._ahead
            and now - state.timestamp <= self._stale_after
        ):
            is_fresh = self._is_human(state, log)  # Nothing else can be wrong, as mostly.
        else:
            is_fresh = self._is_usable(state, now, log)
        if is_fresh:
            self._last = state
            return FRESH
        if self._continued:
            return Sample.WAITING
        stamp = last.timestamp if last is not None else (state.timestamp if state else now)
        log.add(Rule.STALE, self._name, now - stamp, self._stale_after, Severity.HOLD)
        return Sample.STALE

    def _is_usable(self, state: HandJointState | None, now: float, log: CauseLog) -> bool:
        if state is None or not state.valid:
            age = now - self._last.timestamp if self._last is not None else 0.0
            severity = Severity.INFO if self._continued else Severity.HOLD
            log.add(Rule.LOST, self._name, age, self._stale_after, severity)
            return False
        if state.side != self._side:
            log.add(Rule.SWAPPED, self._name, 1.0, 0.0, Severity.HOLD)
            return False
        return self._is_in_time(state, now, log) and self._is_human(state, log)

    def _is_in_time(self, state: HandJointState, now: float, log: CauseLog) -> bool:
        stamp, last = state.timestamp, self._last
        if stamp > now + self._ahead:
            log.add(Rule.TIME_ORDER, self._name, stamp - now, self._ahead)
            return False
        if last is not None and stamp <= last.timestamp:
            # A loop faster than its device sees samples twice, which is nothing to speak of.
            if stamp < last.timestamp or not _is_same(state, last):
                log.add(Rule.TIME_ORDER, self._name, stamp - last.timestamp, 0.0)
            return False
        return now - stamp <= self._stale_after

    def _is_human(self, state: HandJointState, log: CauseLog) -> bool:
        # On floats: for so few of them NumPy takes longer to begin than to be done.
        angles = state.joint_angles.tolist()
        angle = max(max(angles), -min(angles))
        if angle > LARGEST_ANGLE:
            log.add(Rule.POSITION, self._name, angle, LARGEST_ANGLE, Severity.HOLD)
            return False
        tips = state.finger_tip_positions
        if tips is None:
            return True
        numbers = tips.ravel().tolist()
        if max(numbers) < SURELY_NEAR and min(numbers) > -SURELY_NEAR:
            return True
        reach = max(math.hypot(*tip) for tip in tips.tolist())
        if reach > LARGEST_REACH:
            log.add(Rule.INPUT_JUMP, self._name, reach, LARGEST_REACH, Severity.HOLD)
            return False
        return True


def hand_state_from_angles(
    angles: ArrayLike, side: str, timestamp: float, *, since: float | None = None
) -> HandJointState | Cause:
    """Return a hand state, or why these numbers are none.

    Args:
        angles: What the glove gave; 20 angles in [rad] are wanted.
        side: "left" or "right".
        timestamp: Monotonic time of measurement in [s].
        since: Time of the first such failure in [s]; by default this one.

    Raises:
        UnknownNameError: There is no such side.
    """
    if side not in HAND_SIDES:
        raise UnknownNameError("hand side", side, HAND_SIDES)
    began = timestamp if since is None else since
    subject = f"{side} hand"
    if not math.isfinite(timestamp):
        return Cause(Rule.TIME_ORDER, subject, timestamp, 0.0, 0.0, Severity.HOLD)
    if np.shape(angles) != (HAND_JOINT_COUNT,):
        count, need = float(np.size(angles)), float(HAND_JOINT_COUNT)
        return Cause(Rule.WRONG_SHAPE, subject, count, need, began, Severity.HOLD)
    bad = _count_bad(angles)
    if bad:
        return Cause(Rule.NON_FINITE, subject, bad, 0.0, began, Severity.HOLD)
    return HandJointState(np.asarray(angles, dtype=np.float64), None, timestamp, side)


def _count_bad(angles: ArrayLike) -> float:
    """Return how many of the numbers are not finite; all, where they are no numbers."""
    try:
        return float(np.count_nonzero(~np.isfinite(np.asarray(angles, dtype=np.float64))))
    except (TypeError, ValueError):
        return float(HAND_JOINT_COUNT)


def _is_same(a: HandJointState, b: HandJointState) -> bool:
    return a is b or np.array_equal(a.joint_angles, b.joint_angles)
