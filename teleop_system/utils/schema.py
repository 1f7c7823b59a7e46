# SPDX-License-Identifier: Apache-2.0
"""Reads plain data into a typed dataclass; errors name the key and the expected value.

OmegaConf's structured configs do not support `Literal`, convert tuples to lists, and do not name
the section of a failing `__post_init__`. So OmegaConf merges and interpolates, and this module
validates. Supported annotations are dataclasses, bool, int, float, str, Path, Enum, Literal,
unions such as `X | None`, list, tuple, dict and Any.
"""

import dataclasses
import enum
import math
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from teleop_system.exceptions import ConfigError, TeleopError, suggestion

T = TypeVar("T")
Locate = Callable[[str], str]
"""Returns the origin of a dotted key: a file with its line, or an override."""

_UNIONS = (typing.Union, types.UnionType)
_NAMES = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


class SchemaReader:
    """Reads plain values into dataclasses; errors name the origin of the value."""

    def __init__(self, locate: Locate) -> None:
        """Create a reader; `locate` returns the origin of a key."""
        self._locate = locate

    def read(self, schema: type[T], data: Mapping[Any, Any], key: str = "") -> T:
        """Return `data` as an instance of `schema`; missing keys take their defaults.

        Args:
            schema: A dataclass, nested as deep as needed.
            data: Plain values, as read from YAML.
            key: Dotted key of `data` itself, empty at the root.

        Raises:
            ConfigError: A key is unknown, missing, of the wrong type or out of range.
        """
        fields = _fields(schema)
        hints = typing.get_type_hints(schema)
        for name in data:
            if name not in fields:
                raise ConfigError(self._unknown(_join(key, name), fields))
        values = {
            name: self._convert(hints[name], value, _join(key, name))
            for name, value in data.items()
        }
        for name, field in fields.items():
            if name not in values and _is_required(field):
                where = self._locate(_join(key, name))
                raise ConfigError(f"{where}: {_join(key, name)} is missing and has no default")
        try:
            return schema(**values)
        except TeleopError as error:
            raise ConfigError(self._qualified(str(error), fields, key)) from error

    def problem_with_key(self, schema: type[Any], key: str) -> str | None:
        """Return why the dotted `key` is not in `schema`, or None if it is."""
        annotation: Any = schema
        parts = key.split(".")
        for depth, name in enumerate(parts):
            section = _section(annotation)
            if section is None:
                return None  # A dict accepts any key; `read` checks the value.
            fields = _fields(section)
            if name not in fields:
                return self._unknown(".".join(parts[: depth + 1]), fields, written_as=key)
            annotation = typing.get_type_hints(section)[name]
        return None

    def _convert(self, annotation: Any, value: Any, key: str) -> Any:
        kind = typing.get_origin(annotation) or annotation
        arguments = typing.get_args(annotation)
        if kind is Any:
            return value
        if kind in _UNIONS:
            return self._convert_union(annotation, value, key)
        if kind is typing.Literal:
            return self._choose({choice: choice for choice in arguments}, value, key)
        if dataclasses.is_dataclass(kind):
            # An empty section in YAML is null and takes the defaults.
            section = {} if value is None else value
            if not isinstance(section, Mapping):
                self._refuse(annotation, value, key)
            return self.read(typing.cast("type[Any]", kind), section, key)
        if kind in (dict, Mapping):
            return self._convert_mapping(annotation, value, key)
        if kind in (list, tuple, Sequence):
            return self._convert_sequence(annotation, value, key)
        return self._convert_scalar(kind, value, key)

    def _convert_union(self, annotation: Any, value: Any, key: str) -> Any:
        members = [member for member in typing.get_args(annotation) if member is not type(None)]
        if value is None and len(members) < len(typing.get_args(annotation)):
            return None
        if len(members) == 1:
            return self._convert(members[0], value, key)
        for member in members:
            try:
                return self._convert(member, value, key)
            except ConfigError:
                continue
        self._refuse(annotation, value, key)

    def _convert_mapping(self, annotation: Any, value: Any, key: str) -> dict[Any, Any]:
        name_type, value_type = typing.get_args(annotation) or (Any, Any)
        if not isinstance(value, Mapping):
            self._refuse(annotation, value, key)
        return {
            self._convert(name_type, name, _join(key, name)): self._convert(
                value_type, entry, _join(key, name)
            )
            for name, entry in value.items()
        }

    def _convert_sequence(self, annotation: Any, value: Any, key: str) -> Any:
        kind = typing.get_origin(annotation) or annotation
        arguments = typing.get_args(annotation) or (Any, ...)
        if not isinstance(value, list | tuple):
            self._refuse(annotation, value, key)
        if kind is tuple and arguments[-1] is not Ellipsis:
            if len(value) != len(arguments):
                self._refuse(annotation, value, key)
            members: Iterable[Any] = arguments
        else:
            members = [arguments[0]] * len(value)
        converted = [
            self._convert(member, entry, f"{key}[{index}]")
            for index, (member, entry) in enumerate(zip(members, value, strict=True))
        ]
        return converted if kind is list else tuple(converted)

    def _convert_scalar(self, kind: Any, value: Any, key: str) -> Any:
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            choices = {member.value: member for member in kind}
            return self._choose(choices | {member.name: member for member in kind}, value, key)
        if kind is Path and isinstance(value, str):
            return Path(value).expanduser()
        # bool is a subclass of int in Python, but true is not a number here.
        fits = isinstance(value, bool) == (kind is bool)
        if kind is float and fits and isinstance(value, int | float) and not math.isnan(value):
            return float(value)
        if kind is not float and fits and isinstance(value, kind):
            return value
        self._refuse(kind, value, key)

    def _choose(self, choices: Mapping[Any, Any], value: Any, key: str) -> Any:
        for choice, chosen in choices.items():
            if type(value) is type(choice) and value == choice:
                return chosen
        names = dict.fromkeys(str(getattr(chosen, "value", chosen)) for chosen in choices.values())
        tail = suggestion(str(value), names)
        raise ConfigError(f"{self._locate(key)}: {key} cannot be {value!r}{tail}")

    def _refuse(self, annotation: Any, value: Any, key: str) -> NoReturn:
        where = self._locate(key)
        raise ConfigError(f"{where}: {key} should be {describe_type(annotation)}, got {value!r}")

    def _unknown(self, key: str, valid: Iterable[str], written_as: str = "") -> str:
        section, _, name = key.rpartition(".")
        where, inside = self._locate(written_as or key), f" in {section!r}" if section else ""
        return f"{where}: no key named {name!r}{inside}{suggestion(name, valid)}"

    def _qualified(self, message: str, fields: Iterable[str], key: str) -> str:
        """Return the message of a failed `__post_init__` with the full key and its origin."""
        named = re.split(r"[^\w.]", message, maxsplit=1)[0]
        if named.split(".")[0] in fields:
            return f"{self._locate(_join(key, named))}: {_join(key, message)}"
        return f"{self._locate(key)}: {key}{': ' if key else ''}{message}"


def describe_type(annotation: Any) -> str:
    """Return a description of an annotation for authors of YAML."""
    kind, arguments = typing.get_origin(annotation) or annotation, typing.get_args(annotation)
    if kind in _UNIONS:
        return " or ".join(describe_type(member) for member in arguments)
    if kind is type(None):
        return "null"
    if kind is typing.Literal:
        return " or ".join(repr(choice) for choice in arguments)
    if kind is tuple and arguments and arguments[-1] is not Ellipsis:
        return (
            f"a list of {len(arguments)}: {', '.join(describe_type(item) for item in arguments)}"
        )
    if kind in (list, tuple, Sequence):
        return f"a list, each {describe_type(arguments[0])}" if arguments else "a list"
    if kind in (dict, Mapping) or dataclasses.is_dataclass(kind):
        return "a section of keys and values"
    if kind is Path:
        return "a path"
    return _NAMES.get(kind, getattr(kind, "__name__", str(kind)))


def _fields(schema: Any) -> dict[str, "dataclasses.Field[Any]"]:
    return {field.name: field for field in dataclasses.fields(schema) if field.init}


def _is_required(field: "dataclasses.Field[Any]") -> bool:
    missing = dataclasses.MISSING
    return field.default is missing and field.default_factory is missing


def _section(annotation: Any) -> Any:
    """Return the dataclass of an annotation, also of an optional one, or None."""
    for member in (annotation, *typing.get_args(annotation)):
        if dataclasses.is_dataclass(member) and typing.get_origin(annotation) in (None, *_UNIONS):
            return member
    return None


def _join(key: str, name: Any) -> str:
    return f"{key}.{name}" if key else str(name)
