# SPDX-License-Identifier: Apache-2.0
"""Result of a check, with the proposed fix."""

import enum
from dataclasses import dataclass


class CheckOutcome(enum.Enum):
    """Outcome of a check."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check.

    Attributes:
        name: Name of the check; empty until the runner sets it.
        outcome: Outcome.
        detail: What was measured, or why the check was skipped.
        fix: Proposed change after a failure; else empty.
    """

    name: str
    outcome: CheckOutcome
    detail: str
    fix: str = ""

    @property
    def passed(self) -> bool:
        """Whether the check ran and found no fault."""
        return self.outcome is CheckOutcome.PASSED

    @property
    def failed(self) -> bool:
        """Whether the check found a fault."""
        return self.outcome is CheckOutcome.FAILED


def passed(detail: str) -> CheckResult:
    """Return the result of a check without a fault."""
    return CheckResult("", CheckOutcome.PASSED, detail)


def failed(detail: str, fix: str) -> CheckResult:
    """Return a fault and its fix."""
    return CheckResult("", CheckOutcome.FAILED, detail, fix)


def skipped(reason: str) -> CheckResult:
    """Return why the check was skipped."""
    return CheckResult("", CheckOutcome.SKIPPED, reason)


def listed(items: list[str], most: int = 4) -> str:
    """Return the first few items of a list as text."""
    shown = ", ".join(items[:most])
    return f"{shown} and {len(items) - most} more" if len(items) > most else shown
