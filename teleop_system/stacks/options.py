# SPDX-License-Identifier: Apache-2.0
"""Options of a stack: what can be chosen, and which parameters of which nodes it reaches."""

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
# What Hydra reads as one plain word; anything else has to be quoted for it, and these too.
_PLAIN = re.compile(r"(?!(?i:true|false|null|nan|inf)$)[A-Za-z/][\w./+\-]*")


@dataclass(frozen=True, slots=True)
class Target:
    """A parameter that an option sets.

    Attributes:
        parameter: Name of the node's parameter; "overrides" is a list that grows.
        nodes: Executables that get it; empty for every node of the stack.
        override: Key of the configuration that the value is for, where it goes to "overrides".
    """

    parameter: str
    nodes: tuple[str, ...] = ()
    override: str = ""

    def reaches(self, executable: str) -> bool:
        """Tell whether a node gets this parameter."""
        return not self.nodes or executable in self.nodes


@dataclass(frozen=True, slots=True)
class Option:
    """Something a user can choose when a stack is started.

    Attributes:
        name: As it is typed: `name:=value`, or `--name value`.
        default: Value where nothing is said; "" leaves it to the configuration or the node.
        description: One sentence for help texts.
        kind: What the value is; a list is typed with commas.
        choices: The only values there are; empty for any.
        targets: Where it goes; empty for an option that chooses which nodes run.
    """

    name: str
    default: Value
    description: str
    kind: Kind = "str"
    choices: tuple[str, ...] = ()
    targets: tuple[Target, ...] = ()

    def parse(self, text: str) -> Value:
        """Return the value that a text stands for; "" where that is the default.

        Raises:
            ConfigError: If it is not one, saying what would be.
        """
        if text == "" and self.kind != "list" and self.default == "":
            return ""
        value = _PARSERS[self.kind](self.name, text.strip())
        self._check_choice(value)
        return value

    def text(self, value: Value | None = None) -> str:
        """Return a value, or the default, as it would be typed."""
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
    """Return `key=value` as Hydra reads it, quoted where the value is not one plain word."""
    if isinstance(value, bool):
        return f"{key}={str(value).lower()}"
    if isinstance(value, int | float):
        return f"{key}={value!r}"
    text = ",".join(value) if isinstance(value, tuple) else value
    if _PLAIN.fullmatch(text):
        return f"{key}={text}"
    # Backslashes count only in front of a quote, and there they are doubled.
    escaped = re.sub(r"(\\*)'", r"\1\1\\'", text)
    escaped = re.sub(r"(\\+)$", r"\1\1", escaped)
    return f"{key}='{escaped}'"


def parse_values(options: Mapping[str, Option], texts: Mapping[str, str]) -> dict[str, Value]:
    """Return the value of every option, the default where no text is given.

    Raises:
        ConfigError: If a name is no option here, or a value not one of it.
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
    """Split at commas, but not within brackets: `a=[1,2],b=3` are two entries."""
    parts, depth, start = [], 0, 0
    for index, letter in enumerate(text):
        depth += (letter in "[{(") - (letter in "]})")
        if letter == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    parts.append(text[start:])
    if depth != 0:
        raise ConfigError(f"{name} has brackets that do not match: {text!r}")
    return tuple(part.strip() for part in parts if part.strip())


_PARSERS: dict[Kind, Callable[[str, str], Value]] = {
    "bool": _parse_bool,
    "int": _parse_int,
    "float": _parse_float,
    "str": _parse_str,
    "list": _parse_list,
}
