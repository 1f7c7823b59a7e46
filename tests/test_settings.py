# SPDX-License-Identifier: Apache-2.0
"""The tree in `config/` agrees with its schema and with the code that reads it."""

import dataclasses
import typing
from pathlib import Path

import pytest
import yaml

from teleop_system import registry
from teleop_system.exceptions import ConfigError
from teleop_system.robots.discovery import discover_robots
from teleop_system.settings import (
    SolverSettings,
    TeleopSettings,
    load_settings,
)
from teleop_system.solvers.options import BACKENDS, SolverOptions
from teleop_system.utils.paths import config_dir, models_dir

FILES = sorted(config_dir().rglob("*.yaml"))
GROUPS = sorted(
    (path.parent.name, path.stem)
    for path in FILES
    # Joint mappings are read one by one, as a recording needs them.
    if path.parent.name not in ("config", "teleop", "mocap")
)


def test_the_shipped_tree_selects_the_rby1_in_mujoco() -> None:
    settings = load_settings()
    assert settings.robot.name == "rby1"
    assert settings.simulation.name == "mujoco"
    assert settings.solver.name == "qp"
    assert settings.operator.motion == "human"


@pytest.mark.parametrize(("group", "option"), GROUPS)
def test_every_option_of_every_group_can_be_chosen(group: str, option: str) -> None:
    settings = load_settings([f"{group}={option}"])
    section = getattr(settings, group)
    own = yaml.safe_load((config_dir() / group / f"{option}.yaml").read_text(encoding="utf-8"))
    chosen = own.get("name", own.get("motion"))
    assert chosen in (getattr(section, "name", None), getattr(section, "motion", None))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_value_in_the_tree_is_explained(path: Path) -> None:
    explained = False
    for line in path.read_text(encoding="utf-8").splitlines():
        value, _, comment = line.partition("#")
        if not value.strip():
            # A comment on its own lines is about the values that follow it without their own.
            explained = bool(comment) and "SPDX" not in comment
        elif comment:
            explained = False
        elif ": " in value and not value.lstrip().startswith("-"):
            assert explained, line


def test_one_seed_reaches_every_section() -> None:
    settings = load_settings(["seed=7"])
    assert (settings.seed, settings.simulation.seed, settings.operator.seed) == (7, 7, 7)


def test_default_settings_are_valid() -> None:
    assert TeleopSettings().simulation == load_settings().simulation


def test_every_named_solver_and_simulator_is_registered() -> None:
    for option in (config_dir() / "solver").glob("*.yaml"):
        assert option.stem in registry.names("solver")
    assert load_settings().simulation.name in registry.names("simulator")


@pytest.mark.parametrize("option", [option for group, option in GROUPS if group == "robot"])
def test_every_named_robot_is_discovered(option: str) -> None:
    assert load_settings([f"robot={option}"]).robot.name in discover_robots()


def test_every_named_scene_exists() -> None:
    for option in (config_dir() / "robot").glob("*.yaml"):
        scene = load_settings([f"robot={option.stem}"]).robot.scene
        known = {path.stem for path in (models_dir() / "scenes").glob("*.xml")}
        assert scene in {None, "auto", *known}


def test_solver_options_are_those_of_the_solvers() -> None:
    given = SolverSettings().options()
    SolverOptions.from_keywords(given)
    assert given.keys() <= {entry.name for entry in dataclasses.fields(SolverOptions)}
    assert load_settings().solver.options() == SolverSettings().options()


def test_back_ends_are_those_of_the_solvers() -> None:
    hint = typing.get_type_hints(SolverSettings)["backend"]
    assert set(typing.get_args(hint)) == set(BACKENDS)


@pytest.mark.parametrize(
    ("override", "key"),
    [
        ("simulation.timestep=0", "simulation.timestep"),
        ("simulation.timestep=0.015", "simulation.timestep"),
        ("simulation.width=0", "simulation.width"),
        ("arm.rate=0", "arm.rate"),
        ("solver.damping=-1", "solver.damping"),
        ("solver.collision_slow=0.005", "solver.collision_slow"),
        ("solver.position_tolerance=0", "solver.position_tolerance"),
        ("solver.backend=qpoases", "solver.backend"),
        ("solver.chains.arm.position_weight=-1", "solver.chains.arm.position_weight"),
        ("operator.duration=0", "operator.duration"),
        ("operator.amplitude=2", "operator.amplitude"),
        ("operator.frequency=50", "operator.frequency"),
        ("operator.motion=dance", "operator.motion"),
    ],
)
def test_value_out_of_range_is_refused_by_its_key(override: str, key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_settings([override])
    assert str(caught.value).startswith(f"override {override!r}: {key} ")


def test_session_without_end_is_possible() -> None:
    assert load_settings(["operator.duration=null"]).operator.duration is None


def test_a_bad_seed_is_reported_with_its_override() -> None:
    with pytest.raises(ConfigError, match=r"^override 'seed=-1' \(through .*\.yaml:\d+\): "):
        load_settings(["seed=-1"])
