# SPDX-License-Identifier: Apache-2.0
"""One formula for one pose and for many: split arrays into components and join them again.

A control loop works on single poses, for which every NumPy call costs more than the arithmetic.
So `split` returns plain Python floats for a single vector and arrays for a batch, the same
expression serves both, and `join` assembles the result in either case.
"""

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from teleop_system.exceptions import InvalidPoseError
from teleop_system.utils.quaternion_formulas import Component

Array: TypeAlias = NDArray[np.float64]

SMALLEST_SQUARED_NORM = 1e-24
"""A quaternion shorter than 1e-12 is rounding noise and has no direction."""


def as_vectors(value: ArrayLike, size: int, name: str) -> Array:
    """Return `value` as floats of shape (..., size); InvalidPoseError otherwise."""
    array = np.asarray(value, dtype=np.float64)
    if array.ndim == 0 or array.shape[-1] != size:
        raise InvalidPoseError(f"{name} needs {size} numbers, got shape {array.shape}")
    return array


def as_matrices(value: ArrayLike, rows: int, columns: int, name: str) -> Array:
    """Return `value` as floats of shape (..., rows, columns); InvalidPoseError otherwise."""
    array = np.asarray(value, dtype=np.float64)
    if array.ndim < 2 or array.shape[-2:] != (rows, columns):
        raise InvalidPoseError(
            f"{name} needs a {rows} x {columns} matrix, got shape {array.shape}"
        )
    return array


def split(array: Array) -> Sequence[Component]:
    """Return the last axis as components: floats for one vector, arrays for a batch."""
    if array.ndim == 1:
        floats: list[float] = array.tolist()
        return floats
    return [array[..., index] for index in range(array.shape[-1])]


def component(value: ArrayLike | float) -> Component:
    """Return a number as a float, and anything with axes as an array."""
    if type(value) is float:
        return value
    array = np.asarray(value, dtype=np.float64)
    return float(array) if array.ndim == 0 else array


def join(*parts: Component) -> Array:
    """Return components of one kind, all floats or all arrays, along a new last axis."""
    if isinstance(parts[0], float):
        return np.array(parts)
    joined = np.empty((*np.broadcast_shapes(*(np.shape(part) for part in parts)), len(parts)))
    for index, part in enumerate(parts):
        joined[..., index] = part
    return joined


def split_rotation(
    q: ArrayLike,
) -> tuple[Component, Component, Component, Component, Component]:
    """Return x, y, z, w and the squared norm; InvalidPoseError if it is not a rotation."""
    array = as_vectors(q, 4, "quaternion")
    x, y, z, w = split(array)
    squared = x * x + y * y + z * z + w * w
    # A NaN fails these comparisons too.
    if isinstance(squared, float):
        usable = SMALLEST_SQUARED_NORM < squared < math.inf
    else:
        usable = bool(np.all((squared > SMALLEST_SQUARED_NORM) & (squared < math.inf)))
    if not usable:
        raise InvalidPoseError(
            f"a quaternion needs finite numbers that are not all zero, got {array.tolist()}"
        )
    return x, y, z, w, squared


def root(value: Component) -> Component:
    """Return the square root of a component."""
    return math.sqrt(value) if isinstance(value, float) else np.sqrt(value)


def arctan2(y: Component, x: Component) -> Component:
    """Return the angle of the point (x, y) in [rad]."""
    return math.atan2(y, x) if isinstance(y, float) else np.arctan2(y, x)


def sine_cosine(angle: Component) -> tuple[Component, Component]:
    """Return the sine and the cosine of an angle in [rad]."""
    if isinstance(angle, float):
        return math.sin(angle), math.cos(angle)
    return np.sin(angle), np.cos(angle)


def choose(condition: Component, chosen: Component, otherwise: Component) -> Component:
    """Return `chosen` if the condition holds, else `otherwise`, element by element."""
    if isinstance(condition, bool):
        return chosen if condition else otherwise
    return np.where(condition, chosen, otherwise)


def dot(a: Sequence[Component], b: Sequence[Component]) -> Component:
    """Return the inner product of two split vectors."""
    return sum(left * right for left, right in zip(a, b, strict=True))
