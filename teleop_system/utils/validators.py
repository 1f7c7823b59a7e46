# SPDX-License-Identifier: Apache-2.0
"""Range checks for the `__post_init__` of a configuration dataclass.

Each raises a ConfigError that begins with the field's name; the loader puts the file, the line
and the section in front of it. `field_ranges` tells what a configuration checks that way, so that
nobody has to write a range down twice.
"""

import dataclasses
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from teleop_system.exceptions import ConfigError, suggestion


@dataclass(frozen=True, slots=True)
class FieldRange:
    """What a number of a configuration may be.

    Attributes:
        low: Smallest value.
        high: Largest value; infinite where there is none.
        is_open: Whether the smallest value itself is not allowed.
    """

    low: float
    high: float = math.inf
    is_open: bool = False


_noted: dict[str, FieldRange] | None = None


def field_ranges(section: Any) -> dict[str, FieldRange]:
    """Return the ranges that the `__post_init__` of a configuration checks, by field.

    Args:
        section: A valid instance of a configuration dataclass.
    """
    global _noted
    found: dict[str, FieldRange] = {}
    _noted = found
    try:
        dataclasses.replace(section)
    finally:
        _noted = None
    return found


def require_positive(obj: object, *names: str) -> None:
    """Require every named field to be a finite number above zero."""
    for name in names:
        _note(name, FieldRange(0.0, is_open=True))
        value = getattr(obj, name)
        if not (_is_finite(value) and value > 0):
            raise ConfigError(f"{name} must be positive, got {value!r}")


def require_non_negative(obj: object, *names: str) -> None:
    """Require every named field to be a finite number not below zero."""
    for name in names:
        _note(name, FieldRange(0.0))
        value = getattr(obj, name)
        if not (_is_finite(value) and value >= 0):
            raise ConfigError(f"{name} must not be negative, got {value!r}")


def require_in_range(obj: object, name: str, low: float, high: float, *, unit: str = "") -> None:
    """Require the named field to lie between `low` and `high`, both included."""
    _note(name, FieldRange(low, high))
    value = getattr(obj, name)
    if not (_is_finite(value) and low <= value <= high):
        bounds = f"{low} and {high} {unit}".rstrip()
        raise ConfigError(f"{name} must be between {bounds}, got {value!r}")


def require_choice(obj: object, name: str, choices: Iterable[str]) -> None:
    """Require the named field to be one of `choices`; the message suggests the nearest."""
    value = getattr(obj, name)
    choices = tuple(choices)
    if value not in choices:
        raise ConfigError(f"{name} cannot be {value!r}{suggestion(value, choices)}")


def _note(name: str, checked: FieldRange) -> None:
    """Keep the narrower of two ranges, where anybody wants to know."""
    if _noted is None:
        return
    known = _noted.get(name, checked)
    low = max(known, checked, key=lambda found: (found.low, found.is_open))
    _noted[name] = FieldRange(low.low, min(known.high, checked.high), low.is_open)


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
