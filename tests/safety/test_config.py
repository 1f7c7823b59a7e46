# SPDX-License-Identifier: Apache-2.0
"""The shipped safety file equals the defaults, and invalid values are refused."""

from typing import Any

import pytest

from teleop_system.exceptions import ConfigError, UnknownNameError
from teleop_system.safety import (
    BaseSafetyConfig,
    CollisionSafetyConfig,
    SafetyConfig,
    SafetyManager,
    WorkspaceBox,
)
from teleop_system.utils.config_loader import load_config
from teleop_system.utils.paths import config_dir
from tests.safety.rig import robot_named


def test_shipped_file_equals_the_defaults() -> None:
    assert load_config(SafetyConfig, config_dir() / "safety" / "default.yaml") == SafetyConfig()


@pytest.mark.parametrize(
    "values",
    [
        {"ramp_time": 0.5},
        {"stale_after": 0.095},
        {"stale_after": 0.0},
        {"dead_after": 0.4},
        {"dead_after": 0.05},
        {"rate": 5.0},
        {"lag": float("nan")},
    ],
)
def test_values_that_would_break_a_promise_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(values))):
        SafetyConfig(**values)


def test_slow_distance_must_lie_beyond_the_stop_distance() -> None:
    with pytest.raises(ConfigError, match="slow"):
        CollisionSafetyConfig(slow=0.01, stop=0.01)


def test_a_box_must_have_an_inside() -> None:
    with pytest.raises(ConfigError, match="lower"):
        WorkspaceBox((0.0, 0.0, 0.0), (1.0, 1.0, 0.0))


def test_a_base_that_could_not_stop_in_time_is_refused() -> None:
    config = SafetyConfig(base=BaseSafetyConfig(max_linear=0.9))
    with pytest.raises(ConfigError, match=r"base\.max_linear"):
        SafetyManager(robot_named("rby1"), config)


def test_workspace_of_an_unknown_chain_names_the_valid_ones() -> None:
    config = SafetyConfig(workspace={"rigth_arm": WorkspaceBox()})
    with pytest.raises(UnknownNameError, match="did you mean 'right_arm'"):
        SafetyManager(robot_named("rby1"), config)
