# SPDX-License-Identifier: Apache-2.0
"""The ranges that a configuration checks can be read."""

import math
from dataclasses import dataclass

import pytest

from teleop_system.exceptions import ConfigError
from teleop_system.modules.arm_teleop.config import ArmTeleopConfig
from teleop_system.utils.validators import (
    FieldRange,
    field_ranges,
    require_in_range,
    require_non_negative,
    require_positive,
)


@dataclass(frozen=True)
class Lamp:
    power: float = 10.0
    colour: float = 0.5
    age: float = 0.0
    name: str = "lamp"

    def __post_init__(self) -> None:
        require_positive(self, "power", "colour")
        require_in_range(self, "colour", 0.0, 1.0)
        require_non_negative(self, "age")


def test_the_listed_ranges_are_those_that_are_checked() -> None:
    ranges = field_ranges(Lamp())
    assert ranges == {
        "power": FieldRange(0.0, math.inf, is_open=True),
        "colour": FieldRange(0.0, 1.0, is_open=True),
        "age": FieldRange(0.0),
    }


def test_the_ranges_of_a_real_section_are_listed() -> None:
    ranges = field_ranges(ArmTeleopConfig())
    assert ranges["ramp_time"] == FieldRange(0.8, 10.0)
    assert "mapping" not in ranges


def test_listing_ranges_has_no_side_effect() -> None:
    found = field_ranges(Lamp())
    Lamp(power=3.0)
    assert found["power"].high == math.inf
    with pytest.raises(ConfigError, match="power must be positive"):
        Lamp(power=0.0)
