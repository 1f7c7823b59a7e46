# SPDX-License-Identifier: Apache-2.0
"""One table says how old every input may become, and the defaults of the configs follow it."""

import ast
import math
from pathlib import Path

import pytest

import teleop_system
from teleop_system.exceptions import ConfigError
from teleop_system.modules.arm_teleop import ArmTeleopConfig
from teleop_system.modules.camera.config import CameraConfig
from teleop_system.modules.hand_teleop.config import HandTeleopConfig
from teleop_system.modules.locomotion.config import LocomotionConfig
from teleop_system.robot_side.config import RobotSideConfig
from teleop_system.safety import SafetyConfig
from teleop_system.safety import staleness as table
from teleop_system.safety.staleness import POLICIES, check_reaction, is_stale


@pytest.mark.parametrize(
    ("age", "stale"),
    [(0.0, False), (0.08, False), (0.0801, True), (math.inf, True), (math.nan, True)],
)
def test_an_input_is_stale_past_its_timeout(age: float, stale: bool) -> None:
    assert table.SAMPLE.is_stale(age) is stale
    assert is_stale(age, 0.08) is stale


def test_every_source_is_listed_once() -> None:
    constants = [each for each in vars(table).values() if isinstance(each, table.StaleInputPolicy)]
    assert len(constants) == len(POLICIES) == len({policy.source for policy in POLICIES})


def test_every_policy_is_in_use() -> None:
    package = Path(teleop_system.__file__).parent
    imported = {
        alias.name
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == table.__name__
        for alias in node.names
    }
    policies = {name for name, each in vars(table).items() if each in POLICIES}
    assert policies <= imported


def test_configs_take_their_defaults_from_the_table() -> None:
    sample = table.SAMPLE.timeout
    assert ArmTeleopConfig().gate.stale_after == LocomotionConfig().gate.stale_after == sample
    assert HandTeleopConfig().stale_after == sample
    assert CameraConfig().gate.stale_after == table.HEAD_SAMPLE.timeout
    assert SafetyConfig().stale_after == table.COMMAND.timeout
    assert SafetyConfig().dead_after == table.OWNER.timeout
    assert RobotSideConfig().input_age == table.OPERATOR_INPUT.timeout
    assert RobotSideConfig().state_age == table.ROBOT_STATE.timeout


def test_a_hold_that_would_begin_too_late_is_refused() -> None:
    check_reaction("gate.stale_after", 0.08, 50.0)
    with pytest.raises(ConfigError, match=r"gate\.stale_after"):
        check_reaction("gate.stale_after", 0.09, 50.0)
