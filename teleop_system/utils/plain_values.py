# SPDX-License-Identifier: Apache-2.0
"""Conversion of values for JSON and YAML."""

import dataclasses
import enum
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml


def plain(value: Any) -> Any:
    """Return a value without dataclasses, enums, paths, tuples, arrays, NaN and infinities."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = (entry.name for entry in dataclasses.fields(value))
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, enum.Enum):
        return plain(value.value)
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "tolist"):  # Arrays, without importing NumPy.
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def to_yaml(value: Any) -> str:
    """Return a value as YAML text, keys in their original order."""
    return str(yaml.safe_dump(plain(value), sort_keys=False))
