# SPDX-License-Identifier: Apache-2.0
"""Cases of the schema reader that no file can show; the rest is in test_config_loader."""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

from teleop_system.exceptions import ConfigError, UnknownNameError
from teleop_system.utils.schema import SchemaReader, describe_type


class Colour(enum.Enum):
    RED = 1


@dataclass(frozen=True, slots=True)
class Inner:
    value: int = 0

    def __post_init__(self) -> None:
        if self.value == 13:
            raise UnknownNameError("number", "13", ["12", "14"])


@dataclass(frozen=True, slots=True)
class Outer:
    inner: Inner | None = None
    late: "Inner" = field(default_factory=Inner)
    names: Sequence[str] = ()
    table: Mapping[str, int] = field(default_factory=dict)
    anything: Any = None
    colour: Colour = Colour.RED
    level: Literal[1, "high"] = 1
    derived: int = field(default=0, init=False)


def read(data: Mapping[str, Any]) -> Outer:
    return SchemaReader(lambda key: f"<{key}>").read(Outer, data)


def test_annotations_written_as_text_are_followed() -> None:
    assert read({"late": {"value": 3}}).late == Inner(3)


def test_abstract_containers_are_filled() -> None:
    filled = read({"names": ["a"], "table": {"b": 1}, "anything": [1, "x"]})
    assert (filled.names, filled.table, filled.anything) == (("a",), {"b": 1}, [1, "x"])


@pytest.mark.parametrize("written", [1, "RED"])
def test_enum_is_found_by_value_and_by_name(written: object) -> None:
    assert read({"colour": written}).colour is Colour.RED


def test_literal_distinguishes_true_from_one() -> None:
    with pytest.raises(ConfigError, match="<level>: level cannot be True"):
        read({"level": True})


def test_field_that_is_not_an_argument_is_no_key() -> None:
    with pytest.raises(ConfigError, match="no key named 'derived'"):
        read({"derived": 3})


def test_an_error_of_a_section_is_reported_with_its_key() -> None:
    with pytest.raises(ConfigError, match=r"^<inner>: inner: no number named '13'"):
        read({"inner": {"value": 13}})


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        ("inner.value", None),
        ("table.anything.goes", None),
        ("inner", None),
        ("inner.valu", "<inner.valu>: no key named 'valu' in 'inner'; did you mean 'value'?"),
        ("nothing.here", "<nothing.here>: no key named 'nothing'"),
    ],
)
def test_key_is_checked_without_a_value(key: str, problem: str | None) -> None:
    found = SchemaReader(lambda key: f"<{key}>").problem_with_key(Outer, key)
    assert found is None if problem is None else found is not None and found.startswith(problem)


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        (float, "a number"),
        (Path, "a path"),
        (int | None, "a whole number or null"),
        (list[str], "a list, each text"),
        (tuple[int, str], "a list of 2: a whole number, text"),
        (Literal["a", "b"], "'a' or 'b'"),
        (Inner, "a section of keys and values"),
        (Colour, "Colour"),
    ],
)
def test_annotation_is_described_in_words(annotation: Any, text: str) -> None:
    assert describe_type(annotation) == text
