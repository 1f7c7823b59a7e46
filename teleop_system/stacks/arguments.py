# SPDX-License-Identifier: Apache-2.0
"""The command line of a stack: `--name value`, `name:=value` and `key=value`, in any mix."""

from collections.abc import Sequence

from teleop_system.exceptions import ConfigError, suggestion
from teleop_system.stacks.description import Stack
from teleop_system.stacks.options import Option


def parse_arguments(stack: Stack, arguments: Sequence[str]) -> dict[str, str]:
    """Return the typed values of the options of a stack, by name.

    `--viewer` alone means true, `--no-viewer` means false. `key=value` is a change to the
    configuration.

    Raises:
        ConfigError: If a word is not an option of the stack, or its value is missing.
    """
    texts: dict[str, str] = {}
    overrides: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word.startswith("--"):
            name, value = _long_option(stack, word, rest)
        elif ":=" in word:
            name, _, value = word.partition(":=")
        elif "=" in word:
            overrides.append(word)
            continue
        else:
            raise ConfigError(
                f"{word!r} is not an option of {stack.name}; use --name value, name:=value, or "
                "key=value for the configuration"
            )
        _known(stack, name)
        texts[name] = value
    if overrides:
        earlier = [texts["overrides"]] if texts.get("overrides") else []
        texts["overrides"] = ",".join([*earlier, *overrides])
    return texts


def _long_option(stack: Stack, word: str, rest: list[str]) -> tuple[str, str]:
    name, equals, value = word[2:].partition("=")
    name = name.replace("-", "_")
    if equals:
        return name, value
    if name.startswith("no_") and name not in stack.options:
        option = _known(stack, name[3:])
        if option.kind == "bool":
            return option.name, "false"
    option = _known(stack, name)
    next_is_value = bool(rest) and not rest[0].startswith("--") and ":=" not in rest[0]
    if option.kind == "bool":
        # Only `true` and `false` are values of a flag: `--camera robot=…` has none.
        if next_is_value and rest[0].lower() in ("true", "false"):
            return name, rest.pop(0)
        return name, "true"
    if not next_is_value:
        raise ConfigError(f"--{word[2:]} needs a value: {option.description}")
    return name, rest.pop(0)


def _known(stack: Stack, name: str) -> Option:
    if name not in stack.options:
        raise ConfigError(f"{stack.name} has no option {name!r}{suggestion(name, stack.options)}")
    return stack.options[name]
