# SPDX-License-Identifier: Apache-2.0
"""Shared checks of values: finite numbers, and finite arrays of a given shape."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from teleop_system.exceptions import InvalidValueError

Shape = tuple[int | None, ...]


def frozen_array(
    value: ArrayLike,
    name: str,
    shape: Shape,
    error: type[InvalidValueError] = InvalidValueError,
) -> NDArray[np.float64]:
    """Return a read-only float copy of `value`, checked against `shape`.

    A leading None in `shape` allows any length.

    Raises:
        InvalidValueError: Of the class `error`; the message names the field and the value.
    """
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as reason:
        raise error(f"{name} needs numbers, got {value!r}") from reason
    free = shape.count(None)
    if array.ndim != len(shape) or array.shape[free:] != shape[free:]:
        expected = tuple("N" if size is None else size for size in shape)
        raise error(f"{name} needs shape {_text(expected)}, got shape {array.shape}")
    if not np.isfinite(array).all():
        raise error(f"{name} needs finite numbers, got {array.tolist()}", not_finite=True)
    array.setflags(write=False)
    return array


def finite_number(value: float, name: str, error: type[InvalidValueError]) -> float:
    """Return `value` as a float; raise `error` if it is not a finite number."""
    try:
        number = float(value)
    except (TypeError, ValueError) as reason:
        raise error(f"{name} needs a number, got {value!r}") from reason
    except OverflowError as reason:
        raise error(f"{name} needs a finite number", not_finite=True) from reason
    if not math.isfinite(number):
        raise error(f"{name} needs a finite number, got {number}", not_finite=True)
    return number


def _text(shape: tuple[int | str, ...]) -> str:
    return f"({', '.join(str(size) for size in shape)}{',' if len(shape) == 1 else ''})"
