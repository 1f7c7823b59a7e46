# SPDX-License-Identifier: Apache-2.0
"""The simulator's settings: which are accepted, and how others are reported."""

from pathlib import Path
from typing import Any

import pytest

from teleop_system.exceptions import ConfigError
from teleop_system.robots.description import Base
from teleop_system.simulators.config import MuJoCoConfig


def test_the_dictionary_of_the_contract_is_accepted() -> None:
    config = MuJoCoConfig.from_mapping(
        {"mjcf_path": Path("robot.xml"), "timestep": 0.002, "render": True}
    )
    assert config == MuJoCoConfig("robot.xml", timestep=0.002)


def test_an_unknown_setting_is_reported_with_the_nearest_one() -> None:
    with pytest.raises(ConfigError, match=r"timestp.*did you mean 'timestep'"):
        MuJoCoConfig.from_mapping({"mjcf_path": "robot.xml", "timestp": 0.002})


def test_a_model_is_required() -> None:
    with pytest.raises(ConfigError, match="mjcf_path"):
        MuJoCoConfig.from_mapping({})


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("timestep", 0.0),
        ("timestep", "fast"),
        ("timestep", float("nan")),
        ("width", 0),
        ("height", 100000),
        ("antialiasing", 3),
        ("initial_noise", -0.1),
        ("seed", -1),
        ("velocity_limits", {"elbow": 0.0}),
        ("initial_pose", {"elbow": "up"}),
    ],
)
def test_a_value_out_of_range_is_reported(setting: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=setting):
        MuJoCoConfig.from_mapping({"mjcf_path": "robot.xml", setting: value})


@pytest.mark.parametrize("as_mapping", [True, False])
def test_the_base_may_be_a_mapping_or_a_description(as_mapping: bool) -> None:
    base = Base("differential", "left", "right", wheel_radius=0.2)
    values = {"kind": "differential", "left_wheel": "left", "right_wheel": "right"}
    given = {**values, "wheel_radius": 0.2} if as_mapping else base
    assert MuJoCoConfig.from_mapping({"mjcf_path": "r.xml", "base": given}).base == base
