# SPDX-License-Identifier: Apache-2.0
import pytest

from teleop_system.exceptions import ConfigError
from teleop_system.stacks.arguments import parse_arguments
from teleop_system.stacks.catalogue import STACKS

FULL = STACKS["teleop_sim_full"]


@pytest.mark.parametrize(
    "typed",
    [
        ["--robot", "rby1_dg5f", "--camera", "--camera-fps", "10", "--no-self-test"],
        ["--robot=rby1_dg5f", "--camera=true", "--camera-fps=10", "--self-test=false"],
        ["robot:=rby1_dg5f", "camera:=true", "camera_fps:=10", "self_test:=false"],
        ["--camera", "true", "--self_test", "false", "robot:=rby1_dg5f", "--camera_fps", "10"],
    ],
)
def test_options_have_the_syntax_of_shells_or_of_launch_files(typed: list[str]) -> None:
    texts = parse_arguments(FULL, typed)
    assert texts == {
        "robot": "rby1_dg5f",
        "camera": "true",
        "camera_fps": "10",
        "self_test": "false",
    }


def test_changes_to_the_configuration_are_collected() -> None:
    typed = ["arm.rate=50", "overrides:=solver=pink", "safety.rate=50", "--camera", "a.b=[1,2]"]
    texts = parse_arguments(FULL, typed)
    assert texts["overrides"] == "solver=pink,arm.rate=50,safety.rate=50,a.b=[1,2]"
    assert texts["camera"] == "true"


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (["--robt", "x"], "did you mean 'robot'"),
        (["robt:=x"], "did you mean 'robot'"),
        (["--no-robt"], "no option 'robt'"),
        (["--robot"], "--robot needs a value"),
        (["--robot", "--camera"], "--robot needs a value"),
        (["rby1"], "'rby1' is not an option of teleop_sim_full"),
        (["--robot-node", "external"], "no option 'robot_node'"),
    ],
)
def test_an_unknown_option_is_an_error_with_a_suggestion(typed: list[str], expected: str) -> None:
    with pytest.raises(ConfigError, match=expected):
        parse_arguments(FULL, typed)
