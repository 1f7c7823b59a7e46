# SPDX-License-Identifier: Apache-2.0
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from teleop_system.exceptions import ConfigError
from teleop_system.modules.gate import GateConfig
from teleop_system.modules.locomotion.config import GaitConfig, LocomotionConfig
from teleop_system.robots.description import Base
from teleop_system.utils.config_loader import load_config

DEFAULTS = Path(__file__).parents[3] / "config" / "teleop" / "locomotion.yaml"


@dataclass(frozen=True)
class Tree:
    locomotion: LocomotionConfig = field(default_factory=LocomotionConfig)


def test_the_yaml_defaults_are_those_of_the_dataclass() -> None:
    assert load_config(Tree, DEFAULTS).locomotion == LocomotionConfig()


def test_the_yaml_names_every_field() -> None:
    text = DEFAULTS.read_text()
    for schema in (LocomotionConfig, GaitConfig, GateConfig):
        assert [name for name in schema.__dataclass_fields__ if f"{name}:" not in text] == []


def test_a_full_stop_takes_at_most_350_ms() -> None:
    config = LocomotionConfig()
    assert max(config.stopping_time, config.turning_stop_time) <= 0.35


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"max_linear": -1.0}, "max_linear"),
        ({"dead_zone": -0.1}, "dead_zone"),
        ({"drive": "diferential"}, "differential"),
        ({"rate": 5.0}, "rate"),
        ({"braking_acceleration": 0.314}, "braking_acceleration"),
        ({"max_angular": 3.0}, "angular_braking"),
        ({"gate": GateConfig(stale_after=0.2)}, "stale_after"),
    ],
)
def test_a_value_that_breaks_a_promise_is_refused_by_name(
    changes: dict[str, object], named: str
) -> None:
    with pytest.raises(ConfigError, match=named):
        LocomotionConfig(**changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"lift_height": 0.01}, "plant_height"),
        ({"shortest_step": 2.0}, "shortest_step"),
        ({"heading": "foot"}, "feet"),
        ({"window": 9.0}, "window"),
        ({"stride": 0.0}, "stride"),
    ],
)
def test_an_impossible_gait_is_refused_by_name(changes: dict[str, object], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        GaitConfig(**changes)  # type: ignore[arg-type]


def test_limits_are_lowered_to_those_of_the_base() -> None:
    base = Base("differential", max_linear=0.2, max_linear_acceleration=0.1, max_angular=9.0)
    config = LocomotionConfig().within(base)
    assert (config.max_linear, config.linear_acceleration, config.max_angular) == (0.2, 0.1, 1.0)


def test_a_base_without_wheels_is_refused() -> None:
    with pytest.raises(ConfigError, match="floating"):
        LocomotionConfig().within(Base("floating"))


def test_a_holonomic_setting_is_replaced_for_a_differential_base() -> None:
    config = replace(LocomotionConfig(), drive="holonomic")
    assert config.within(Base("differential")).drive == "differential"
