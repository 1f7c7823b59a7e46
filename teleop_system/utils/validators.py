# SPDX-License-Identifier: Apache-2.0
"""Range checks for the `__post_init__` of a configuration dataclass.

Each raises a ConfigError that begins with the field's name; the loader puts the file, the line
and the section in front of it.
"""

import math
from collections.abc import Iterable
from typing import Any

from teleop_system.exceptions import ConfigError, suggestion


def require_positive(obj: object, *names: str) -> None:
    """Require every named field to be a finite number above zero."""
    for name in names:
        value = getattr(obj, name)
        if not (_is_finite(value) and value > 0):
            raise ConfigError(f"{name} must be positive, got {value!r}")


def require_non_negative(obj: object, *names: str) -> None:
    """Require every named field to be a finite number not below zero."""
    for name in names:
        value = getattr(obj, name)
        if not (_is_finite(value) and value >= 0):
            raise ConfigError(f"{name} must not be negative, got {value!r}")


def require_in_range(obj: object, name: str, low: float, high: float, *, unit: str = "") -> None:
    """Require the named field to lie between `low` and `high`, both included."""
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


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
