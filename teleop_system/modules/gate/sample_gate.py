# SPDX-License-Identifier: Apache-2.0
"""What the gates of all sources share: order of stamps, losses, jumps and age."""

import abc
import enum
import math
from typing import Generic, Protocol, TypeVar

from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.modules.gate.config import GateConfig
from teleop_system.safety.cause_log import CauseLog
from teleop_system.safety.staleness import is_stale


class Verdict(enum.Enum):
    """What a controller may do with a source in this tick."""

    NEW = "new"
    """There is a new usable sample."""
    RECENT = "recent"
    """There is no new usable sample, but the last one is fresh."""
    BAD = "bad"
    """The device has lost the body, or its sample is malformed."""
    JUMPED = "jumped"
    """The body has jumped, and no further sample has confirmed its new position yet."""
    STALE = "stale"
    """The last usable sample is too old."""


# Module names: looking up a member of an enumeration costs much more in Python 3.11.
NEW, RECENT, BAD, JUMPED, STALE = Verdict
USABLE = (NEW, RECENT)
"""Verdicts with which a controller may follow."""
PASSED = (NEW, JUMPED)
"""Verdicts on a new sample that is kept."""


class Stamped(Protocol):
    """A sample of a device."""

    @property
    def timestamp(self) -> float:
        """Time of measurement in [s]."""

    @property
    def valid(self) -> bool:
        """Whether the device has seen the body."""


SampleT = TypeVar("SampleT", bound=Stamped)


class SampleGate(abc.ABC, Generic[SampleT]):
    """Decides in every tick whether the newest sample of one source may be used.

    Args:
        name: The source, as causes name it.
        config: Limits of a usable sample.
        severity: Severity of its loss; HOLD if the part cannot move without this source.
        bridges_losses: Whether the last good sample stands in for bad ones while it is fresh.
            Optical trackers lose a body for single frames all the time.

    Attributes:
        sample: The newest sample that passed, or None.
        verdict: The result of this tick's check; None if it was skipped.
    """

    def __init__(
        self,
        name: str,
        config: GateConfig,
        severity: Severity = Severity.HOLD,
        *,
        bridges_losses: bool = True,
    ) -> None:
        self._name = name
        self._config = config
        self._severity = severity
        self._bridges_losses = bridges_losses
        self.reset()

    def reset(self) -> None:
        """Forget every sample."""
        self.sample: SampleT | None = None
        self.verdict: Verdict | None = None
        self._is_confirmed = False

    @property
    def stamp(self) -> float:
        """When the newest sample that passed was measured in [s]; minus infinity without one."""
        return self.sample.timestamp if self.sample is not None else -math.inf

    def age(self, now: float) -> float:
        """Return the age of the newest sample that passed in [s]; infinite without one."""
        return now - self.stamp

    def is_fresh(self, now: float) -> bool:
        """Return whether the newest sample that passed may still be used at `now` [s]."""
        return not is_stale(self.age(now), self._config.stale_after)

    def check(self, sample: SampleT | None, now: float, log: CauseLog) -> Verdict:
        """Return the verdict on the newest sample at time `now` [s]; log why it is not used.

        A sample whose stamp repeats, runs backwards or lies in the future is ignored. A lost or
        malformed one is bad. After a jump, the next sample confirms the new position.
        """
        if sample is None or not sample.valid:
            verdict = self._report_loss(now, log)
        elif self._is_new(sample, now, log):
            verdict = self._judge(sample, log)
        else:
            verdict = RECENT
        if verdict in PASSED:
            # A sample after a jump is kept: the next one is compared with it, and may confirm it.
            self._is_confirmed = verdict is NEW
            self.sample = sample
        last, limit = self.sample, self._config.stale_after
        age = now - last.timestamp if last is not None else math.inf
        if verdict is not JUMPED and is_stale(age, limit):
            verdict = STALE
            if last is not None:
                log.add(Rule.STALE, self._name, age, limit, self._severity)
        elif verdict is BAD and self._bridges_losses:
            verdict = RECENT
        if verdict in USABLE and not self._is_confirmed:
            verdict = JUMPED
        self.verdict = verdict
        return verdict

    def skip(self) -> None:
        """Use no sample in this tick."""
        self.verdict = None

    def _report_loss(self, now: float, log: CauseLog) -> Verdict:
        age, bridged = self.age(now), self._bridges_losses and self.is_fresh(now)
        value = age if math.isfinite(age) else 0.0
        severity = Severity.INFO if bridged else self._severity
        log.add(Rule.LOST, self._name, value, 0.0, severity)
        return BAD

    def _is_new(self, sample: SampleT, now: float, log: CauseLog) -> bool:
        """Return whether the stamp is later than the last one, and not in the future."""
        stamp, last = sample.timestamp, self.sample
        if stamp > now + self._config.ahead:
            log.add(Rule.TIME_ORDER, self._name, stamp - now, self._config.ahead)
            return False
        if last is None or stamp > last.timestamp:
            return True
        # A loop that is faster than its device reads the same sample twice.
        if stamp < last.timestamp or not (sample is last or self._are_equal(sample, last)):
            log.add(Rule.TIME_ORDER, self._name, stamp - last.timestamp, 0.0)
        return False

    @abc.abstractmethod
    def _judge(self, sample: SampleT, log: CauseLog) -> Verdict:
        """Return NEW, JUMPED or BAD for the values of a new sample; log what is wrong."""

    @abc.abstractmethod
    def _are_equal(self, sample: SampleT, other: SampleT) -> bool:
        """Return whether two samples hold the same values."""
