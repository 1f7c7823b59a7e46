# SPDX-License-Identifier: Apache-2.0
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from teleop_system import __version__
from teleop_system.cli.arguments import complete_robot
from teleop_system.cli.config import complete_override
from teleop_system.cli.main import app
from teleop_system.exceptions import RenderingUnavailableError
from teleop_system.simulators.gl_backend import open_context
from tests.robots.models import SIX_AXIS, pendulum, pendulum_urdf, write_robot


@pytest.fixture
def user_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of models of the user, with a third-party arm."""
    folder = tmp_path / "user_models"
    write_robot(folder / "six_axis", arm_xml=SIX_AXIS)
    monkeypatch.setenv("TELEOP_MODELS_DIR", str(folder))
    return folder


@pytest.fixture(autouse=True)
def wide_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("TELEOP_DEBUG", raising=False)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), prog_name="teleop")


def assert_mistake(result: Result, *fragments: str) -> None:
    """There is one line on the error stream, and no other output."""
    assert result.exit_code == 2
    assert result.stdout == ""
    assert len(result.stderr.strip().splitlines()) == 1
    for fragment in fragments:
        assert fragment in result.stderr


def test_help_lists_the_sub_commands() -> None:
    result = run("--help")
    assert result.exit_code == 0
    for command in ("run", "robots", "check", "view", "config", "doctor", "version"):
        assert command in result.stdout


@pytest.mark.parametrize("command", ["run", "robots", "check", "view", "config", "doctor"])
def test_every_sub_command_shows_an_example(command: str) -> None:
    shown = run(command, "--help").stdout
    usage, *examples = [line for line in shown.splitlines() if f"teleop {command}" in line]
    assert "Usage" in usage
    assert examples


@pytest.mark.parametrize("arguments", [["version"], ["--version"]])
def test_the_version_is_printed(arguments: list[str]) -> None:
    assert run(*arguments).stdout == f"teleop_system {__version__}\n"


def test_a_robot_of_the_user_is_listed_with_ours(user_models: Path) -> None:
    result = run("robots")
    assert result.exit_code == 0
    assert "six_axis" in result.stdout and "arm 6" in result.stdout
    assert "rby1_dg5f" in result.stdout and "differential" in result.stdout


def test_robots_are_listed_as_json(user_models: Path) -> None:
    robots = {robot["name"]: robot for robot in json.loads(run("robots", "--json").stdout)}
    assert robots["rby1"]["chains"] == {"torso": 6, "right_arm": 7, "left_arm": 7}
    assert robots["six_axis"]["dof"] == 6
    assert robots["six_axis"]["problem"] is None


def test_a_broken_robot_is_listed_with_its_problem_beside_the_others(user_models: Path) -> None:
    write_robot(user_models / "broken", arm_xml="<mujoco")
    result = run("robots")
    assert result.exit_code == 0
    assert "broken cannot be loaded" in result.stdout and "arm.xml" in result.stdout
    assert "six_axis" in result.stdout


def test_a_correct_robot_passes_the_check(user_models: Path) -> None:
    result = run("check", "six_axis")
    assert result.exit_code == 0
    assert "3 skipped" in result.stdout and "failed" not in result.stdout
    assert "no URDF" in result.stdout


def test_a_failed_check_sets_the_exit_code_and_shows_the_fix(user_models: Path) -> None:
    write_robot(user_models / "rod", rod_xml=pendulum(), rod_urdf=pendulum_urdf(mass=9.0))
    result = run("check", "rod", "--only", "mass")
    assert result.exit_code == 1
    assert "FAIL" in result.stdout and "fix: compare the masses" in result.stdout


def test_a_check_can_print_json(user_models: Path) -> None:
    result = run("check", "six_axis", "--only", "motors", "--only", "mass", "--json")
    checks = json.loads(result.stdout)["checks"]
    assert [check["outcome"] for check in checks] == ["passed", "skipped"]


def test_a_robot_is_checked_by_the_path_of_its_folder(tmp_path: Path) -> None:
    folder = write_robot(tmp_path / "anywhere", arm_xml=SIX_AXIS)
    assert run("check", str(folder), "--only", "motors").exit_code == 0


def test_a_picture_is_written_and_its_path_shown(user_models: Path, tmp_path: Path) -> None:
    try:
        open_context(8, 8).free()
    except RenderingUnavailableError as error:
        pytest.skip(str(error))
    path = tmp_path / "arm.png"
    result = run("view", "six_axis", "--output", str(path), "--size", "64x48")
    assert result.exit_code == 0
    assert str(path) in result.stdout
    assert path.read_bytes().startswith(b"\x89PNG")


def test_the_resolved_configuration_is_printed() -> None:
    result = run("config", "robot=rby1_dg5f", "operator.duration=60")
    assert result.exit_code == 0
    assert "name: rby1_dg5f" in result.stdout and "duration: 60" in result.stdout


def test_the_groups_of_the_configuration_are_listed() -> None:
    assert "rby1_dg5f" in json.loads(run("config", "--groups", "--json").stdout)["robot"]


def test_the_doctor_lists_what_is_installed() -> None:
    result = run("doctor", "--json")
    assert result.exit_code == 0
    parts = {part["name"]: part for part in json.loads(result.stdout)}
    assert parts["simulation [sim]"]["present"]
    assert all(part["fix"] for part in parts.values() if "missing" in part["found"])


@pytest.mark.parametrize(
    ("arguments", "fragments"),
    [
        (["check", "rby2"], ["no robot named 'rby2'", "'rby1'"]),
        (["check", "rby1", "--only", "mas"], ["no check named 'mas'", "'mass'"]),
        (["view", "rby1", "--pose", "redy"], ["no pose named 'redy'", "'ready'"]),
        (["view", "./nowhere"], ["nowhere", "no robot"]),
        (["config", "operator.durtion=3"], ["durtion", "'duration'"]),
        (["config", "robot=rby3"], ["rby3", "'rby1'"]),
    ],
)
def test_a_mistake_is_reported_in_one_line(arguments: list[str], fragments: list[str]) -> None:
    assert_mistake(run(*arguments), *fragments)


def test_a_broken_model_is_reported_in_one_line(user_models: Path) -> None:
    write_robot(user_models / "broken", arm_xml="<mujoco><worldbodyy/></mujoco>")
    assert_mistake(run("check", "broken"), "arm.xml", "MuJoCo cannot load the file")


def test_a_urdf_that_does_not_match_is_reported_in_one_line(user_models: Path) -> None:
    write_robot(user_models / "rod", rod_xml=pendulum(), rod_urdf=pendulum_urdf(joint="swim"))
    assert_mistake(run("check", "rod"), "rod.urdf", "'swim'", "swing")


def test_a_missing_models_folder_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TELEOP_MODELS_DIR", "/no/such/folder")
    assert_mistake(run("robots"), "TELEOP_MODELS_DIR", "/no/such/folder")


def test_a_mistyped_sub_command_is_reported_with_the_nearest_one() -> None:
    result = run("robts")
    assert result.exit_code == 2
    assert "robots" in result.stderr


def test_an_invalid_size_is_a_usage_error() -> None:
    result = run("view", "rby1", "--size", "big")
    assert result.exit_code == 2
    assert "COLUMNSxROWS" in result.stderr


def test_debugging_raises_the_exception() -> None:
    assert isinstance(run("--debug", "check", "rby2").exception, LookupError)


def test_the_command_runs_as_a_module_without_a_traceback() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "teleop_system.cli", "check", "rby2"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("Error: no robot named 'rby2'")
    assert "Traceback" not in done.stderr


def test_robot_names_are_completed() -> None:
    assert complete_robot("rby1_") == ["rby1_dg5f"]


def test_completion_is_empty_without_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TELEOP_MODELS_DIR", "/no/such/folder")
    assert complete_robot("") == []


def test_overrides_are_completed() -> None:
    assert complete_override("robot=rby1_") == ["robot=rby1_dg5f"]


def test_a_wrong_drawing_back_end_is_reported_in_one_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "teleop_system.cli", "view", "dg5f_left"]
    result = subprocess.run(
        [*command, "--output", str(tmp_path / "hand.png")],
        env=os.environ | {"MUJOCO_GL": "foo"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 2
    assert "MUJOCO_GL='foo'" in result.stderr
    assert "Traceback" not in result.stderr
