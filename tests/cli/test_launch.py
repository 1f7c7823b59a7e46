# SPDX-License-Identifier: Apache-2.0
import pytest
from typer.testing import CliRunner, Result

from teleop_system.cli.launch import complete_stack
from teleop_system.cli.main import app
from teleop_system.stacks.catalogue import STACKS


@pytest.fixture(autouse=True)
def wide_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("TELEOP_DEBUG", raising=False)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["launch", *arguments], prog_name="teleop")


def test_all_stacks_are_listed() -> None:
    result = run()
    assert result.exit_code == 0
    for name, stack in STACKS.items():
        assert name in result.stdout and stack.summary in result.stdout


@pytest.mark.parametrize("name", STACKS)
def test_the_options_of_a_stack_are_listed_with_their_choices(name: str) -> None:
    shown = run(name, "--options").stdout
    for option in STACKS[name].options.values():
        assert option.name in shown
        assert all(choice in shown for choice in option.choices)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["teleop_sin"], "did you mean 'teleop_sim'"),
        (["teleop_sim", "--robt", "x"], "did you mean 'robot'"),
        (["teleop_sim", "pace:=slow"], "pace cannot be 'slow'"),
        (["teleop_sim", "pace:=fast"], "needs use_sim_time:=true"),
        (["teleop_sim", "--camera-fps", "many"], "camera_fps must be a number"),
        (["teleop_sim", "topic_prefix:=1st"], "topic_prefix '1st'"),
        (["master_sim", "modules:="], "has no nodes"),
    ],
)
def test_a_mistake_is_reported_in_one_line(arguments: list[str], expected: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert expected in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_names_of_stacks_are_completed() -> None:
    assert complete_stack("master") == ["master_sim", "master_mocap"]
