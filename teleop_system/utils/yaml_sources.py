# SPDX-License-Identifier: Apache-2.0
"""Where a configuration value was written: which override, or which line of which file."""

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
        package: Dotted key below which its contents were placed, empty for the root.
    """

    path: Path
    package: str = ""

    def find(self, key: Sequence[str]) -> tuple[int, Any] | None:
        """Return the line, from 1, and the YAML node of the key with these parts, or None."""
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
    """All that contributed to a configuration, in the order in which it was merged.

    Attributes:
        main: What to name when nothing more exact is known.
        files: Files; a later one wins over an earlier one.
        overrides: Pairs of dotted key and override as typed; they win over all files.
    """

    main: Path
    files: Sequence[SourceFile] = ()
    overrides: Sequence[tuple[str, str]] = ()

    def locate(self, key: str) -> str:
        """Return the origin of a dotted key, or of its nearest section that has one.

        A value that only refers to another, as in `${seed}`, comes from where that one stands.
        """
        place, reference = self._find(key)
        origin = self._find(reference)[0] if reference else None
        return f"{origin} (by way of {place})" if origin else place or str(self.main)

    def _find(self, key: str) -> tuple[str | None, str | None]:
        """Return the origin of a key, if it has one, and the other key that is its value."""
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
    """Return the error for a file that is not YAML, with the line where that shows."""
    mark = getattr(error, "problem_mark", None)
    what = getattr(error, "problem", None) or str(error)
    if mark is None:
        return ConfigError(f"{path}: not valid YAML: {what}")
    file = path if mark.name.startswith("<") else mark.name
    return ConfigError(
        f"{file}:{mark.line + 1}: not valid YAML: {what} (column {mark.column + 1})"
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
