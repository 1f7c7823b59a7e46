# SPDX-License-Identifier: Apache-2.0
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from teleop_system.exceptions import ConfigError
from teleop_system.modules.arm_teleop import (
    ArmTeleopConfig,
    LimbConfig,
    SmoothingConfig,
    WorkspaceBox,
)
from teleop_system.modules.gate import GateConfig
from teleop_system.utils.config_loader import load_config

DEFAULTS = Path(__file__).parents[3] / "config" / "teleop" / "arm.yaml"


@dataclass(frozen=True)
class Tree:
    arm: ArmTeleopConfig = field(default_factory=ArmTeleopConfig)
    solver: dict[str, Any] = field(default_factory=dict)


def test_the_yaml_defaults_are_those_of_the_dataclass() -> None:
    assert load_config(Tree, DEFAULTS).arm == ArmTeleopConfig()


def test_the_yaml_names_every_field() -> None:
    text = DEFAULTS.read_text()
    for schema in (ArmTeleopConfig, LimbConfig, SmoothingConfig, GateConfig):
        assert [name for name in schema.__dataclass_fields__ if f"{name}:" not in text] == []


def test_a_limb_is_found_by_its_name_before_its_kind() -> None:
    own, kind = LimbConfig(scale=0.3), LimbConfig(scale=0.6)
    config = ArmTeleopConfig(limbs={"left_arm": own, "arm": kind})
    assert config.limb("left_arm", "arm") is own
    assert config.limb("right_arm", "arm") is kind
    assert config.limb("torso", "torso") == LimbConfig()


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"rate": 5.0}, "rate"),
        ({"mapping": "relativ"}, "relative"),
        ({"heading": "feet"}, "heading"),
        ({"ramp_time": 0.5}, "ramp_time"),
        ({"reach": 1.2}, "reach"),
        ({"resync": 0.0}, "resync"),
        ({"gate": GateConfig(stale_after=0.095)}, "stale_after"),
    ],
)
def test_a_value_that_breaks_a_promise_is_refused_by_name(
    changes: dict[str, Any], named: str
) -> None:
    with pytest.raises(ConfigError, match=named):
        ArmTeleopConfig(**changes)


def test_an_empty_box_is_refused() -> None:
    with pytest.raises(ConfigError, match="lower"):
        WorkspaceBox((0.0, 0.0, 1.0), (1.0, 1.0, 0.5))


def test_a_lead_above_one_is_refused() -> None:
    with pytest.raises(ConfigError, match="lead"):
        SmoothingConfig(lead=1.1)
