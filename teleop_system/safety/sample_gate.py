# SPDX-License-Identifier: Apache-2.0
"""What the gates of all input devices share: time stamps, age, and recovery from bad samples."""

import abc
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.safety.cause_log import CauseLog
from teleop_system.utils.validators import require_non_negative, require_positive


@dataclass(frozen=True, slots=True)
class InputGateConfig:
    """What a sample of an input device has to meet before anyone may act upon it."""

    stale_after: float = 0.08
    """Age in [s] past which a sample is not acted upon."""
    ahead: float = 0.02
    """How far in [s] a stamp may lie in the future; drivers predict by about a frame."""
    recovery: int = 5
    """Good samples in a row after a bad one before the device is believed again."""
    unit_tolerance: float = 1e-3
    """How far the length of a quaternion may be from 1."""
    speed: float = 10.0
    """Speed in [m/s] above which a body has jumped; a runner's foot stays below."""
    distance: float = 0.1
    """Distance in [m] that never counts as a jump, however short the time."""
    turn_speed: float = 30.0
    """Turning speed in [rad/s] above which a body, or a finger joint, has jumped."""
    turn: float = 0.3
    """Angle in [rad] that never counts as a jump, however short the time."""
    swap_radius: float = 0.15
    """Distance in [m] within which a tracker that jumps takes the other's place."""

    def __post_init__(self) -> None:
        require_positive(self, "stale_after", "speed", "turn_speed", "unit_tolerance")
        require_positive(self, "recovery", "swap_radius")
        require_non_negative(self, "ahead", "distance", "turn")


class Stamped(Protocol):
    """A sample of a device."""

    @property
    def timestamp(self) -> float:
        """Time of measurement in [s]."""

    @property
    def valid(self) -> bool:
        """Whether the device vouches for it."""


Sample = TypeVar("Sample", bound=Stamped)


class SampleGate(abc.ABC, Generic[Sample]):
    """Lets through the samples of one device that may be acted upon.

    Args:
        name: The device, as causes should call it.
        config: What a sample has to meet.
        log: Where it is reported what does not; `begin` of it is the caller's.

    Attributes:
        last: The newest good sample, or None.
    """

    def __init__(self, name: str, config: InputGateConfig, log: CauseLog) -> None:
        self.name = name
        self.last: Sample | None = None
        self._config = config
        self._log = log
        self._candidate: Sample | None = None
        self._missing = 0

    @property
    def newest(self) -> Sample | None:
        """The newest sample that makes sense by itself, believed or not."""
        return self._candidate or self.last

    def reset(self) -> None:
        """Forget every sample."""
        self.last = self._candidate = None
        self._missing = 0

    def update(self, sample: Sample | None, now: float) -> Sample | None:
        """Return a sample to act upon at time `now` [s]: a new one, or the last while it is young.

        None where there is none; why is in the log. A device that delivered a bad sample is
        believed again after some good ones in a row.
        """
        if sample is None or not sample.valid:
            self._distrust()
            self._report(Rule.LOST, self._age(now), 0.0)
            return None
        if self._is_new(sample, now):
            self._judge(sample)
        if self._missing:
            return None
        return self._young(now)

    def _judge(self, sample: Sample) -> None:
        """Decide about a new sample."""
        if not self._is_sound(sample):
            self._distrust()
            return
        before = self.newest
        if before is not None and not self._is_near(before, sample):
            self._distrust()
            self._candidate = sample  # It may really be there now; the next ones will tell.
            return
        self._candidate = sample
        if self._missing:
            self._missing -= 1
        if not self._missing:
            self.last = sample

    def _distrust(self) -> None:
        self._missing = self._config.recovery
        self._candidate = None

    def _is_new(self, sample: Sample, now: float) -> bool:
        stamp, ahead = sample.timestamp, self._config.ahead
        if stamp > now + ahead:
            self._report(Rule.TIME_ORDER, stamp - now, ahead)
            return False
        before = self.newest
        if before is None or stamp > before.timestamp:
            return True
        if stamp < before.timestamp:
            self._report(Rule.TIME_ORDER, stamp - before.timestamp, 0.0)
        return False

    def _young(self, now: float) -> Sample | None:
        age = self._age(now)
        if self.last is None or age > self._config.stale_after:
            self._report(Rule.STALE, age, self._config.stale_after)
            return None
        return self.last

    def _age(self, now: float) -> float:
        return now - self.last.timestamp if self.last is not None else float("inf")

    def _report(self, rule: Rule, value: float, limit: float) -> None:
        self._log.add(rule, self.name, value, limit, Severity.HOLD)

    @abc.abstractmethod
    def _is_sound(self, sample: Sample) -> bool:
        """Tell whether a sample makes sense by itself; report why where it does not."""

    @abc.abstractmethod
    def _is_near(self, before: Sample, sample: Sample) -> bool:
        """Tell whether a body can have moved from one sample to the next; report where not."""
