# SPDX-License-Identifier: Apache-2.0
"""Origin of a configuration value: an override, or a line of a file."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from teleop_system.exceptions import ConfigError

_REFERENCE = re.compile(r"\$\{([\w.]+)\}")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that contributed to a configuration.

    Attributes:
        path: The YAML file.
        package: Dotted key of the section that it fills; empty for the root.
    """

    path: Path
    package: str = ""

    def find(self, key: Sequence[str]) -> tuple[int, Any] | None:
        """Return the line, counted from 1, and the YAML node of a key, or None."""
        package = self.package.split(".") if self.package else []
        inside = key[len(package) :]
        if not inside or list(key[: len(package)]) != package:
            return None
        try:
            text = self.path.read_text(encoding="utf-8")
            return _follow(yaml.compose(text, Loader=yaml.SafeLoader), inside)
        except (OSError, UnicodeDecodeError, yaml.YAMLError):
            return None


@dataclass(frozen=True, slots=True)
class Sources:
    """All files and overrides of a configuration, in merge order.

    Attributes:
        main: File to name if the origin is unknown.
        files: Files; later ones override earlier ones.
        overrides: Pairs of dotted key and text of the override; they override all files.
    """

    main: Path
    files: Sequence[SourceFile] = ()
    overrides: Sequence[tuple[str, str]] = ()

    def locate(self, key: str) -> str:
        """Return the origin of a dotted key, or of the closest section that has one.

        A reference such as `${seed}` has the origin of the value that it refers to.
        """
        location, reference = self._find(key)
        origin = self._find(reference)[0] if reference else None
        return f"{origin} (through {location})" if origin else location or str(self.main)

    def _find(self, key: str) -> tuple[str | None, str | None]:
        """Return the origin of a key and the key that its value refers to, each or None."""
        parts = key.replace("[", ".[").split(".")
        for overridden, text in reversed(self.overrides):
            if parts[: overridden.count(".") + 1] == overridden.split("."):
                return f"override {text!r}", None
        for length in range(len(parts), 0, -1):
            for file in reversed(self.files):
                found = file.find(parts[:length])
                if found is not None:
                    line, node = found
                    reference = _REFERENCE.fullmatch(str(node.value))
                    return f"{file.path}:{line}", reference and reference[1]
        return None, None


def yaml_problem(error: yaml.YAMLError, path: Path) -> ConfigError:
    """Return the error for an invalid YAML file, with its line."""
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error)
    if mark is None:
        return ConfigError(f"{path}: not valid YAML: {problem}")
    file = path if mark.name.startswith("<") else mark.name
    return ConfigError(
        f"{file}:{mark.line + 1}: not valid YAML: {problem} (column {mark.column + 1})"
    )


def _follow(node: Any, parts: Sequence[str]) -> tuple[int, Any] | None:
    """Follow `parts` down a tree of YAML nodes and return the line and node of the last one."""
    line = 0
    for part in parts:
        if isinstance(node, yaml.MappingNode):
            entry = next((pair for pair in node.value if pair[0].value == part), None)
            if entry is None:
                return None
            line, node = entry[0].start_mark.line + 1, entry[1]
        elif isinstance(node, yaml.SequenceNode) and part.startswith("["):
            node = node.value[int(part[1:-1])]
            line = node.start_mark.line + 1
        else:
            return None
    return line, node
