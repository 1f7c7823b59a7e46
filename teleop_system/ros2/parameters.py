# SPDX-License-Identifier: Apache-2.0
"""Sections of the settings as ROS 2 parameters: described, with ranges, and changeable live.

The settings tree defines defaults and descriptions. A parameter with the name of a key
(`arm.ramp_time`), given on the command line or in a parameter file, takes precedence.
"""

import ast
import dataclasses
import functools
import inspect
import math
import textwrap
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException

from teleop_system.exceptions import ConfigError, TeleopError, UnknownNameError
from teleop_system.ros2.executor import initial_parameters
from teleop_system.settings import TeleopSettings
from teleop_system.utils.schema import SchemaReader
from teleop_system.utils.validators import FieldRange, field_ranges

Refusal = Callable[[], str]
"""Returns why parameters cannot be changed now; empty where they can."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """One number, string or list of the settings.

    Attributes:
        key: Its dotted key, which is the name of the parameter.
        value: Value in the settings; "" means None, which a parameter cannot hold.
        optional: Whether None is allowed.
        description: Meaning and unit.
        range: Allowed range, where it is known.
        choices: Allowed strings, where they are limited.
    """

    key: str
    value: Any
    optional: bool = False
    description: str = ""
    range: FieldRange | None = None
    choices: tuple[str, ...] = ()

    def descriptor(self, *, read_only: bool) -> ParameterDescriptor:
        """Return the descriptor that ROS 2 tools show."""
        found = ParameterDescriptor(description=self.description, read_only=read_only)
        limits = self.range
        hints = [f"one of: {', '.join(self.choices)}"] if self.choices else []
        hints += ['"" for no value'] if self.optional else []
        if limits is not None and math.isfinite(limits.high):
            if isinstance(self.value, int):
                bounds = IntegerRange(from_value=int(limits.low), to_value=int(limits.high))
                found.integer_range = [bounds]
            else:
                bounds = FloatingPointRange(from_value=limits.low, to_value=limits.high)
                found.floating_point_range = [bounds]
        elif limits is not None:
            hints.append(f"{'above' if limits.is_open else 'at least'} {limits.low:g}")
        found.additional_constraints = "; ".join(hints)
        return found


def _accept_all(settings: TeleopSettings) -> None:
    """Accept any settings."""


class SettingParameters:
    """Sections of the settings as parameters of a node.

    A change is rejected, with the reason, if the new settings are invalid or if `refuse` or
    `check` rejects them. Otherwise `apply` is called with the new settings.

    Args:
        node: The node.
        sections: Names of sections of `TeleopSettings`.
        fixed: Keys that cannot be changed while the node runs.
        refuse: Returns why nothing can be changed now; empty where it can.
        check: Raises a TeleopError if the new settings cannot be used.
        apply: Puts checked settings into use.
    """

    def __init__(
        self,
        node: Any,
        sections: Sequence[str],
        *,
        fixed: Sequence[str] = (),
        refuse: Refusal = str,
        check: Callable[[TeleopSettings], None] = _accept_all,
        apply: Callable[[TeleopSettings], None],
    ) -> None:
        self._node = node
        self._sections = tuple(sections)
        self._fixed = frozenset(fixed)
        self._refuse = refuse
        self._check = check
        self._apply = apply
        self._leaves: dict[str, Leaf] = {}
        self._settings: TeleopSettings | None = None
        self._is_live = False

    def open(self, settings: TeleopSettings) -> TeleopSettings:
        """Declare the parameters, and return the settings as they change them.

        Raises:
            ConfigError: A given parameter is invalid, or not in the settings.
        """
        self._leaves = {
            leaf.key: leaf
            for section in self._sections
            for leaf in leaves(getattr(settings, section), section)
        }
        self._check_names()
        self._settings = settings
        values = {key: self._declare(leaf) for key, leaf in self._leaves.items()}
        self._settings = self._changed(values)
        # Declaring sets parameters too, so the callbacks are added after it.
        self._node.add_on_set_parameters_callback(self._on_set)
        self._node.add_post_set_parameters_callback(self._on_changed)
        self._is_live = True
        return self._settings

    def close(self) -> None:
        """Undeclare the parameters; live changes are lost, initial values are kept."""
        if self._is_live:
            self._is_live = False
            self._node.remove_on_set_parameters_callback(self._on_set)
            self._node.remove_post_set_parameters_callback(self._on_changed)
        for key in self._leaves:
            # ROS 2 cannot undeclare a read-only parameter.
            if key not in self._fixed and self._node.has_parameter(key):
                self._node.undeclare_parameter(key)

    def _declare(self, leaf: Leaf) -> Any:
        if self._node.has_parameter(leaf.key):
            return self._node.get_parameter(leaf.key).value
        descriptor = leaf.descriptor(read_only=leaf.key in self._fixed)
        try:
            return self._node.declare_parameter(leaf.key, leaf.value, descriptor).value
        except InvalidParameterTypeException as error:
            raise ConfigError(
                f"parameter {leaf.key} must have the type of {leaf.value!r}: {error}"
            ) from error
        except InvalidParameterValueException as error:
            raise ConfigError(f"parameter {leaf.key}: {error}") from error

    def _check_names(self) -> None:
        """Raise if a given parameter is in no section: it would have no effect."""
        heads = tuple(f"{section}." for section in self._sections)
        for name in initial_parameters(self._node):
            if name.startswith(heads) and name not in self._leaves:
                raise UnknownNameError("parameter", name, self._leaves)

    def _changed(self, values: Mapping[str, Any]) -> TeleopSettings:
        """Return the settings with some leaves replaced, or raise a ConfigError."""
        assert self._settings is not None
        reader = SchemaReader(lambda key: "parameter")
        sections: dict[str, Any] = {}
        for name in self._sections:
            section = getattr(self._settings, name)
            data = dataclasses.asdict(section)
            for key, value in values.items():
                if key.startswith(f"{name}."):
                    leaf = self._leaves[key]
                    plain = None if leaf.optional and value == "" else _plain(value)
                    _put(data, key.split(".")[1:], plain)
            sections[name] = reader.read(type(section), data, name)
        return dataclasses.replace(self._settings, **sections)

    def _on_set(self, parameters: Sequence[Any]) -> SetParametersResult:
        changes = {p.name: p.value for p in parameters if p.name in self._leaves}
        if not changes:
            return SetParametersResult(successful=True)
        reason = self._refuse()
        if not reason:
            try:
                self._check(self._changed(changes))
            except TeleopError as error:
                reason = str(error)
        return SetParametersResult(successful=not reason, reason=reason)

    def _on_changed(self, parameters: Sequence[Any]) -> None:
        changes = {p.name: p.value for p in parameters if p.name in self._leaves}
        if changes:
            self._settings = self._changed(changes)
            self._apply(self._settings)


def leaves(section: Any, key: str) -> Iterator[Leaf]:
    """Yield the values of a section that a parameter can hold; others are left out.

    Args:
        section: An instance of a configuration dataclass.
        key: Its dotted key.
    """
    hints = typing.get_type_hints(type(section))
    schema: Any = type(section)
    texts, ranges = field_texts(schema), field_ranges(section)
    for field in dataclasses.fields(section):
        name, value = f"{key}.{field.name}", getattr(section, field.name)
        if dataclasses.is_dataclass(value):
            yield from leaves(value, name)
        elif isinstance(value, Mapping):
            for entry, inner in value.items():
                if dataclasses.is_dataclass(inner):
                    yield from leaves(inner, f"{name}.{entry}")
        else:
            yield from _leaf(
                name, value, hints[field.name], texts.get(field.name, ""), ranges.get(field.name)
            )


@functools.cache
def field_texts(schema: Any) -> Mapping[str, str]:
    """Return the docstring below each field of a dataclass."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(schema)))
    definition = tree.body[0]
    assert isinstance(definition, ast.ClassDef)
    found = {}
    for statement, following in zip(definition.body, definition.body[1:], strict=False):
        if (
            isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and isinstance(following, ast.Expr)
            and isinstance(following.value, ast.Constant)
        ):
            found[statement.target.id] = " ".join(str(following.value.value).split())
    return found


def _leaf(
    key: str, value: Any, annotation: Any, text: str, limits: FieldRange | None
) -> Iterator[Leaf]:
    members = typing.get_args(annotation)
    optional = type(None) in members
    choices = members if typing.get_origin(annotation) is typing.Literal else ()
    if value is None and str in members:
        yield Leaf(key, "", True, text, limits, choices)
    elif isinstance(value, list | tuple):
        if value and all(isinstance(entry, int | float) for entry in value):
            yield Leaf(key, [float(entry) for entry in value], optional, text)
        elif value and all(isinstance(entry, str) for entry in value):
            yield Leaf(key, list(value), optional, text)
    elif isinstance(value, bool | int | float | str):
        yield Leaf(key, value, optional and isinstance(value, str), text, limits, choices)


def _plain(value: Any) -> Any:
    """Return the value of a parameter as YAML gives it; ROS 2 has its own arrays."""
    return list(value) if not isinstance(value, bool | int | float | str) else value


def _put(data: Any, path: Sequence[str], value: Any) -> None:
    for name in path[:-1]:
        data = data[name]
    data[path[-1]] = value
