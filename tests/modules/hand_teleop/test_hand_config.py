# SPDX-License-Identifier: Apache-2.0
"""Parameters of the hand controller, in the dataclass and in YAML."""

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from teleop_system.exceptions import ConfigError
from teleop_system.modules.hand_teleop import (
    AngleMapConfig,
    FingertipConfig,
    GraspConfig,
    HandTeleopConfig,
)
from teleop_system.utils.config_loader import load_config

DEFAULTS = Path(__file__).parents[3] / "config" / "teleop" / "hand.yaml"


@dataclass(frozen=True)
class Tree:
    hand: HandTeleopConfig = field(default_factory=HandTeleopConfig)


def test_the_yaml_defaults_are_those_of_the_dataclass() -> None:
    assert load_config(Tree, DEFAULTS).hand == HandTeleopConfig()


def test_the_yaml_names_every_field() -> None:
    text = DEFAULTS.read_text()
    for schema in (HandTeleopConfig, AngleMapConfig, FingertipConfig, GraspConfig):
        assert [name for name in schema.__dataclass_fields__ if f"{name}:" not in text] == []


@pytest.mark.parametrize(
    ("field_name", "value"),
    [
        ("stale_after", 0.095),
        ("ramp_time", 0.5),
        ("engage_step", 0.01),
        ("engage_step_linear", 0.01),
        ("max_speed", 4.0),
        ("max_acceleration", float("nan")),
        ("min_gap", 0.01),
        ("rate", 0.0),
    ],
)
def test_numbers_that_would_break_a_promise_are_refused(field_name: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=field_name):
        dataclasses.replace(HandTeleopConfig(), **{field_name: value})


def test_a_grasp_without_travel_is_refused() -> None:
    with pytest.raises(ConfigError, match="closed_curl"):
        GraspConfig(open_curl=1.0, closed_curl=1.0)


def test_an_unknown_mode_names_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="gripper"):
        load_config(Tree, DEFAULTS, ["hand.mode=griper"])
