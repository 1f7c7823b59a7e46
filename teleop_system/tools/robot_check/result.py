# SPDX-License-Identifier: Apache-2.0
"""What a check found, and what to do about it."""

import enum
from dataclasses import dataclass


class Outcome(enum.Enum):
    """How a check ended."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check.

    Attributes:
        name: Name of the check.
        outcome: How it ended.
        detail: What was measured, or why nothing was.
        fix: What to change where it failed; empty otherwise.
    """

    name: str
    outcome: Outcome
    detail: str
    fix: str = ""

    @property
    def passed(self) -> bool:
        """Whether the check was made and found nothing wrong."""
        return self.outcome is Outcome.PASSED

    @property
    def failed(self) -> bool:
        """Whether something has to be put right."""
        return self.outcome is Outcome.FAILED


@dataclass(frozen=True, slots=True)
class Finding:
    """The same before it has a name: what a check itself returns."""

    outcome: Outcome
    detail: str
    fix: str = ""


def passed(detail: str) -> Finding:
    """Return a finding without fault."""
    return Finding(Outcome.PASSED, detail)


def failed(detail: str, fix: str) -> Finding:
    """Return a fault and the way to put it right."""
    return Finding(Outcome.FAILED, detail, fix)


def skipped(reason: str) -> Finding:
    """Return why nothing was checked."""
    return Finding(Outcome.SKIPPED, reason)


def listed(items: list[str], most: int = 4) -> str:
    """Return the first few items of a list as text."""
    shown = ", ".join(items[:most])
    return f"{shown} and {len(items) - most} more" if len(items) > most else shown
