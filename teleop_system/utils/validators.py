# SPDX-License-Identifier: Apache-2.0
"""Range checks for the `__post_init__` of a configuration dataclass.

Each raises a ConfigError that begins with the field's name; the loader adds file, line and
section. `field_ranges` returns the checked ranges, so each range is written only once.
"""

import dataclasses
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from teleop_system.exceptions import ConfigError, suggestion


@dataclass(frozen=True, slots=True)
class FieldRange:
    """Valid range of a number in a configuration.

    Attributes:
        low: Smallest value.
        high: Largest value; may be infinite.
        is_open: Whether `low` itself is excluded.
    """

    low: float
    high: float = math.inf
    is_open: bool = False


_recorded: dict[str, FieldRange] | None = None


def field_ranges(section: Any) -> dict[str, FieldRange]:
    """Return the ranges that the `__post_init__` of a configuration checks, by field.

    Args:
        section: A valid instance of a configuration dataclass.
    """
    global _recorded
    found: dict[str, FieldRange] = {}
    _recorded = found
    try:
        dataclasses.replace(section)
    finally:
        _recorded = None
    return found


def require_positive(obj: object, *names: str) -> None:
    """Require every named field to be a finite number above zero."""
    for name in names:
        _record(name, FieldRange(0.0, is_open=True))
        value = getattr(obj, name)
        if not (_is_finite(value) and value > 0):
            raise ConfigError(f"{name} must be positive, got {value!r}")


def require_non_negative(obj: object, *names: str) -> None:
    """Require every named field to be a finite number of at least zero."""
    for name in names:
        _record(name, FieldRange(0.0))
        value = getattr(obj, name)
        if not (_is_finite(value) and value >= 0):
            raise ConfigError(f"{name} must not be negative, got {value!r}")


def require_in_range(obj: object, name: str, low: float, high: float, *, unit: str = "") -> None:
    """Require the named field to be from `low` to `high`, inclusive."""
    _record(name, FieldRange(low, high))
    value = getattr(obj, name)
    if not (_is_finite(value) and low <= value <= high):
        bounds = f"{low} and {high} {unit}".rstrip()
        raise ConfigError(f"{name} must be between {bounds}, got {value!r}")


def require_choice(obj: object, name: str, choices: Iterable[str]) -> None:
    """Require the named field to be one of `choices`; the message suggests the closest."""
    value = getattr(obj, name)
    choices = tuple(choices)
    if value not in choices:
        raise ConfigError(f"{name} cannot be {value!r}{suggestion(value, choices)}")


def _record(name: str, checked: FieldRange) -> None:
    """Record a range for `field_ranges`; of two ranges, their intersection."""
    if _recorded is None:
        return
    before = _recorded.get(name, checked)
    low = max(before, checked, key=lambda found: (found.low, found.is_open))
    _recorded[name] = FieldRange(low.low, min(before.high, checked.high), low.is_open)


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
