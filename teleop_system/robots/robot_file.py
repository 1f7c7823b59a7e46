# SPDX-License-Identifier: Apache-2.0
"""Reads and validates `robot.yaml`."""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from teleop_system.exceptions import ModelError, suggestion
from teleop_system.robots.description import BASE_KINDS, CHAIN_KINDS, LIMIT_NAMES, SIDES, Base
from teleop_system.robots.model_files import ROBOT_FILE

Section = Mapping[str, Any]

# The C parser is ten times faster, but optional in PyYAML.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

HEAD_KEYS = ("pan", "tilt", "camera")
BASE_KEYS = tuple(entry.name for entry in dataclasses.fields(Base))
LIMIT_KEYS = ("joints", *LIMIT_NAMES)


@dataclass(frozen=True, slots=True)
class RobotFile:
    """Contents of a `robot.yaml` or of one of its variants; all keys are optional.

    Attributes:
        path: The file, whether it exists or not.
        stated: Keys of the file, including empty and null sections.
        description: One line of text.
        mjcf: MJCF file, relative to the folder.
        urdf: URDF file, relative to the folder.
        chains: Chains by name, with kind, side, joints and end_effector.
        limits: Limits by joint name patterns; later entries override earlier ones.
        poses: Joint positions by pose in [rad] or [m].
        hands: Hands by name, with kind, side, joints, open and closed.
        head: Values of `HEAD_KEYS`.
        base: Values of `BASE_KEYS`.
        collision_pairs: Pairs of bodies.
        variants: Other robots in the same folder; their keys override those above.
    """

    path: Path
    stated: frozenset[str] = frozenset()
    description: str = ""
    mjcf: str | None = None
    urdf: str | None = None
    chains: Mapping[str, Section] = field(default_factory=dict)
    limits: tuple[Section, ...] = ()
    poses: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    hands: Mapping[str, Section] = field(default_factory=dict)
    head: Section = field(default_factory=dict)
    base: Section = field(default_factory=dict)
    collision_pairs: tuple[tuple[str, str], ...] = ()
    variants: Mapping[str, Section] = field(default_factory=dict)

    def is_complete(self) -> bool:
        """Return whether the file names every part, so that nothing must be inferred."""
        parts = {"chains", "hands", "head", "base"}
        listed = (*self.chains.values(), *self.hands.values())
        return parts <= self.stated and all("joints" in part for part in listed)


def read_robot_file(folder: Path, variant: str | None = None) -> RobotFile:
    """Read the `robot.yaml` of a folder; a missing file counts as empty.

    Raises:
        ModelError: The file is not valid YAML, or has an invalid key or value; the message names
            the key, its section and similar valid keys.
    """
    path = folder / ROBOT_FILE
    if not path.exists():
        return RobotFile(path)
    reader = _Reader(path)
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER)
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror}", path) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = f" in line {mark.line + 1}" if mark else ""
        raise ModelError(f"is not valid YAML{line}: {error.problem}", path) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ModelError("is not valid YAML text", path) from error
    sections = reader.mapping(content or {}, "", _READERS)
    variants = {
        name: reader.mapping(entry or {}, f"variants.{name}", _READERS, leave_out=("variants",))
        for name, entry in reader.mapping(sections.get("variants") or {}, "variants").items()
    }
    chosen = variants.get(variant or "", {})
    sections = {**sections, **chosen, "variants": variants}
    read = {key: getattr(reader, _READERS[key])(value, key) for key, value in sections.items()}
    return RobotFile(path, frozenset(sections), **read)


class _Reader:
    """Validates YAML values; errors name the file and the key."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def mapping(
        self,
        value: Any,
        key: str,
        keys: Iterable[str] | None = None,
        leave_out: Iterable[str] = (),
    ) -> dict[str, Any]:
        """Check that a value is a mapping with known keys."""
        if not isinstance(value, dict):
            raise self.error(key or "the file", "a mapping of keys to values", value)
        where = f" in {key}" if key else ""
        choices = None if keys is None else [name for name in keys if name not in leave_out]
        for name in value:
            if not isinstance(name, str):
                raise ModelError(f"key {name!r}{where} must be text; quote it", self._path)
            if choices is not None and name not in choices:
                hint = suggestion(name, choices)
                raise ModelError(f"unknown key {name!r}{where}{hint}", self._path)
        return value

    def error(self, key: str, expected: str, value: Any) -> ModelError:
        """Return an error with the key, the expected kind of value and the actual one."""
        return ModelError(f"{key} needs {expected}, got {value!r}", self._path)

    def text(self, value: Any, key: str) -> str:
        """Check a line of text."""
        if not isinstance(value, str) or not value:
            raise self.error(key, "text", value)
        return value

    def optional_text(self, value: Any, key: str) -> str | None:
        """Check a line of text or null."""
        return None if value is None else self.text(value, key)

    def choice(self, choices: tuple[str, ...]) -> Callable[[Any, str], str]:
        """Return a check for one of several words."""

        def check(value: Any, key: str) -> str:
            if value not in choices:
                hint = suggestion(str(value), choices)
                raise ModelError(f"invalid {key} {value!r}{hint}", self._path)
            return str(value)

        return check

    def number(self, value: Any, key: str) -> float:
        """Check a number."""
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
            raise self.error(key, "a number", value)
        return float(value)

    def words(self, value: Any, key: str) -> tuple[str, ...]:
        """Check a list of unique names."""
        if not isinstance(value, list) or not value:
            raise self.error(key, "a list of names", value)
        names = tuple(self.text(item, key) for item in value)
        if len(set(names)) != len(names):
            raise self.error(key, "unique names", value)
        return names

    def numbers(self, value: Any, key: str) -> tuple[float, ...]:
        """Check a list of numbers."""
        if not isinstance(value, list):
            raise self.error(key, "a list of numbers", value)
        return tuple(self.number(item, key) for item in value)

    def chains(self, value: Any, key: str) -> dict[str, Section]:
        """Check the chains."""
        checks = {
            "kind": self.choice(CHAIN_KINDS),
            "side": self.choice(SIDES),
            "joints": self.words,
            "end_effector": self.text,
        }
        return self._parts(value, key, checks)

    def hands(self, value: Any, key: str) -> dict[str, Section]:
        """Check the hands."""
        checks = {
            "kind": self.text,
            "side": self.choice(SIDES),
            "joints": self.words,
            "open": self.numbers,
            "closed": self.numbers,
        }
        return self._parts(value, key, checks)

    def head(self, value: Any, key: str) -> Section:
        """Check the neck."""
        return self._part(value, key, dict.fromkeys(HEAD_KEYS, self.optional_text))

    def base(self, value: Any, key: str) -> Section:
        """Check the mobile base."""
        checks: dict[str, Callable[[Any, str], Any]] = dict.fromkeys(BASE_KEYS, self.number)
        checks |= {"kind": self.choice(BASE_KINDS)}
        checks |= dict.fromkeys(("left_wheel", "right_wheel"), self.text)
        return self._part(value, key, checks)

    def poses(self, value: Any, key: str) -> dict[str, Mapping[str, float]]:
        """Check the named poses."""
        return {
            name: {
                joint: self.number(position, f"{key}.{name}.{joint}")
                for joint, position in self.mapping(pose or {}, f"{key}.{name}").items()
            }
            for name, pose in self.mapping(value or {}, key).items()
        }

    def limits(self, value: Any, key: str) -> tuple[Section, ...]:
        """Check the limits by joint name pattern."""
        if not isinstance(value, list):
            raise self.error(key, "a list of entries such as {joints: 'arm_*', jerk: 50}", value)
        checks: dict[str, Callable[[Any, str], Any]] = dict.fromkeys(LIMIT_NAMES, self.number)
        entries = []
        for index, entry in enumerate(value):
            where = f"{key}[{index}]"
            fields = dict(self.mapping(entry, where, LIMIT_KEYS))
            patterns = fields.pop("joints", None)
            patterns = [patterns] if isinstance(patterns, str) else patterns
            entries.append(
                {"joints": self.words(patterns, f"{where}.joints")}
                | dict(self._part(fields, where, checks))
            )
        return tuple(entries)

    def collision_pairs(self, value: Any, key: str) -> tuple[tuple[str, str], ...]:
        """Check the pairs; an entry may pair one body with several."""
        pairs: dict[tuple[str, str], None] = {}
        for index, entry in enumerate(value or []):
            where = f"{key}[{index}]"
            if not isinstance(entry, list) or len(entry) != 2:
                raise self.error(where, "[body, [bodies]]", entry)
            first = self.text(entry[0], where)
            others = entry[1] if isinstance(entry[1], list) else [entry[1]]
            for other in self.words(others, where):
                if other == first:
                    raise self.error(where, "two different bodies", entry)
                pairs[min(first, other), max(first, other)] = None
        return tuple(pairs)

    def variants(self, value: Any, key: str) -> dict[str, Section]:
        """Return the variants, which are already checked."""
        del key
        return dict(value)

    def _parts(
        self, value: Any, key: str, checks: Mapping[str, Callable[[Any, str], Any]]
    ) -> dict[str, Section]:
        parts = self.mapping(value or {}, key)
        return {name: self._part(part, f"{key}.{name}", checks) for name, part in parts.items()}

    def _part(
        self, value: Any, key: str, checks: Mapping[str, Callable[[Any, str], Any]]
    ) -> Section:
        fields = self.mapping(value or {}, key, checks)
        return {name: checks[name](item, f"{key}.{name}") for name, item in fields.items()}


_READERS = {
    "description": "text",
    "mjcf": "text",
    "urdf": "optional_text",
    "chains": "chains",
    "limits": "limits",
    "poses": "poses",
    "hands": "hands",
    "head": "head",
    "base": "base",
    "collision_pairs": "collision_pairs",
    "variants": "variants",
}
