# SPDX-License-Identifier: Apache-2.0
"""Options of a stack: their values, and the node parameters that they set."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from teleop_system.exceptions import ConfigError, suggestion

Value: TypeAlias = bool | int | float | str | tuple[str, ...]
Kind: TypeAlias = Literal["bool", "int", "float", "str", "list"]

TRUTHS = {"true": True, "1": True, "yes": True, "on": True}
TRUTHS |= {"false": False, "0": False, "no": False, "off": False}
# What Hydra reads as one plain word; everything else must be quoted.
_PLAIN = re.compile(r"(?!(?i:true|false|null|nan|inf)$)[A-Za-z/][\w./+\-]*")


@dataclass(frozen=True, slots=True)
class Target:
    """A parameter that an option sets.

    Attributes:
        parameter: Name of the node parameter; values are appended to the list "overrides".
        nodes: Executables with this parameter; empty for all nodes of the stack.
        override: Key of the configuration, if the value goes to "overrides".
    """

    parameter: str
    nodes: tuple[str, ...] = ()
    override: str = ""

    def reaches(self, executable: str) -> bool:
        """Return whether a node gets this parameter."""
        return not self.nodes or executable in self.nodes


@dataclass(frozen=True, slots=True)
class Option:
    """A choice of the user at the start of a stack.

    Attributes:
        name: Name in `name:=value` and `--name value`.
        default: Default value; "" for that of the configuration or the node.
        description: One sentence for help texts.
        kind: Type of the value; lists are typed with commas.
        choices: Allowed values; empty for any.
        targets: Parameters that it sets; empty for an option that selects nodes.
    """

    name: str
    default: Value
    description: str
    kind: Kind = "str"
    choices: tuple[str, ...] = ()
    targets: tuple[Target, ...] = ()

    def parse(self, text: str) -> Value:
        """Return the value of a text; "" if the text and the default are empty.

        Raises:
            ConfigError: If the text is not a valid value.
        """
        if text == "" and self.kind != "list" and self.default == "":
            return ""
        value = _PARSERS[self.kind](self.name, text.strip())
        self._check_choice(value)
        return value

    def text(self, value: Value | None = None) -> str:
        """Return a value, or the default, as the user types it."""
        value = self.default if value is None else value
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, tuple):
            return ",".join(value)
        return str(value)

    def _check_choice(self, value: Value) -> None:
        if not self.choices:
            return
        for part in value if isinstance(value, tuple) else (self.text(value),):
            if part not in self.choices:
                raise ConfigError(
                    f"{self.name} cannot be {part!r}{suggestion(part, self.choices)}"
                )


def override_text(key: str, value: Value) -> str:
    """Return `key=value` for Hydra, quoted if the value is not one plain word."""
    if isinstance(value, bool):
        return f"{key}={str(value).lower()}"
    if isinstance(value, int | float):
        return f"{key}={value!r}"
    text = ",".join(value) if isinstance(value, tuple) else value
    if _PLAIN.fullmatch(text):
        return f"{key}={text}"
    # Hydra interprets backslashes only before a quote; there they are doubled.
    escaped = re.sub(r"(\\*)'", r"\1\1\\'", text)
    escaped = re.sub(r"(\\+)$", r"\1\1", escaped)
    return f"{key}='{escaped}'"


def parse_values(options: Mapping[str, Option], texts: Mapping[str, str]) -> dict[str, Value]:
    """Return the value of every option; the default where no text is given.

    Raises:
        ConfigError: If a name is not an option, or a value is not allowed.
    """
    for name in texts:
        if name not in options:
            raise ConfigError(f"no option named {name!r}{suggestion(name, options)}")
    return {
        name: option.parse(texts[name]) if name in texts else option.default
        for name, option in options.items()
    }


def _parse_bool(name: str, text: str) -> bool:
    if text.lower() not in TRUTHS:
        raise ConfigError(f"{name} must be true or false, got {text!r}")
    return TRUTHS[text.lower()]


def _parse_int(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ConfigError(f"{name} must be a whole number, got {text!r}") from None


def _parse_float(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ConfigError(f"{name} must be a number, got {text!r}")
    return value


def _parse_str(name: str, text: str) -> str:
    if "\n" in text:
        raise ConfigError(f"{name} must be one line, got {text!r}")
    return text


def _parse_list(name: str, text: str) -> tuple[str, ...]:
    """Split at commas outside brackets: `a=[1,2],b=3` has two entries."""
    parts, depth, start = [], 0, 0
    for index, letter in enumerate(text):
        depth += (letter in "[{(") - (letter in "]})")
        if letter == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    parts.append(text[start:])
    if depth != 0:
        raise ConfigError(f"{name} has unmatched brackets: {text!r}")
    return tuple(part.strip() for part in parts if part.strip())


_PARSERS: dict[Kind, Callable[[str, str], Value]] = {
    "bool": _parse_bool,
    "int": _parse_int,
    "float": _parse_float,
    "str": _parse_str,
    "list": _parse_list,
}
