# SPDX-License-Identifier: Apache-2.0
import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser

from teleop_system.exceptions import ConfigError
from teleop_system.stacks.options import Option, override_text, parse_values


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("bool", "true", True),
        ("bool", "False", False),
        ("int", "7", 7),
        ("float", "0.5", 0.5),
        ("float", "3", 3.0),
        ("str", "a b", "a b"),
        ("list", "a, b", ("a", "b")),
        ("list", "x=[1,2],y={a: 1, b: 2}", ("x=[1,2]", "y={a: 1, b: 2}")),
        ("list", "", ()),
    ],
)
def test_a_text_is_converted_to_the_type_of_the_option(
    kind: str, text: str, value: object
) -> None:
    parsed = Option("name", "", "", kind=kind).parse(text)  # type: ignore[arg-type]
    assert parsed == value and type(parsed) is type(value)


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("bool", "maybe", "true or false"),
        ("int", "1.5", "a whole number"),
        ("float", "nan", "a number"),
        ("float", "fast", "a number"),
        ("list", "a=[1", "brackets"),
        ("str", "a\nb", "one line"),
    ],
)
def test_a_text_of_a_wrong_type_is_an_error(kind: str, text: str, expected: str) -> None:
    with pytest.raises(ConfigError, match="name.*" + expected):
        Option("name", "default", "", kind=kind).parse(text)  # type: ignore[arg-type]


def test_a_value_outside_the_choices_is_reported_with_the_nearest_one() -> None:
    option = Option("pace", "real_time", "", choices=("real_time", "fast"))
    with pytest.raises(ConfigError, match="did you mean 'fast'"):
        option.parse("fasst")


def test_every_entry_of_a_list_has_to_be_a_choice() -> None:
    option = Option("modules", (), "", kind="list", choices=("arm", "hand"))
    assert option.parse("hand,arm") == ("hand", "arm")
    with pytest.raises(ConfigError, match="'leg'"):
        option.parse("arm,leg")


def test_an_empty_value_is_valid_only_as_the_default() -> None:
    assert Option("amplitude", "", "", kind="float").parse("") == ""
    with pytest.raises(ConfigError, match="a number"):
        Option("speed", 1.0, "", kind="float").parse("")


@pytest.mark.parametrize("value", [True, 3, 0.25, ("a", "b"), "word", ""])
def test_the_text_of_a_value_can_be_read_back(value: object) -> None:
    kinds = {bool: "bool", int: "int", float: "float", tuple: "list", str: "str"}
    option = Option("name", value, "", kind=kinds[type(value)])  # type: ignore[arg-type]
    assert option.parse(option.text()) == value


@pytest.mark.parametrize(
    "value",
    [
        "rby1",
        "/models/my robot",
        "it's",
        "a,b=c",
        "back\\slash",
        "end\\",
        "\\'",
        "42",
        "null",
        True,
        3,
        0.25,
    ],
)
def test_hydra_reads_the_value_of_an_override_back(value: object) -> None:
    text = override_text("robot.name", value)  # type: ignore[arg-type]
    parsed = OverridesParser.create().parse_override(text)
    assert parsed.key_or_group == "robot.name"
    assert parsed.value() == value


def test_an_unknown_option_is_reported_with_the_valid_ones() -> None:
    with pytest.raises(ConfigError, match=r"no option named 'vewer'; did you mean 'viewer'"):
        parse_values({"viewer": Option("viewer", False, "", kind="bool")}, {"vewer": "true"})
