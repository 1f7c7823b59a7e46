# SPDX-License-Identifier: Apache-2.0
import os
import sys
from pathlib import Path

import pytest

from teleop_system.exceptions import ConfigError
from teleop_system.utils import paths


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The package as if in site-packages, with nothing installed anywhere."""
    module = tmp_path / "lib/teleop_system/utils/paths.py"
    module.parent.mkdir(parents=True)
    monkeypatch.setattr(paths, "__file__", str(module))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "prefix"))
    monkeypatch.setattr("site.getuserbase", lambda: str(tmp_path / "user"))
    for variable in ("AMENT_PREFIX_PATH", paths.CONFIG_VARIABLE, paths.MODELS_VARIABLE):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


def make(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder.resolve()


def test_trees_of_a_checkout_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(paths.CONFIG_VARIABLE, raising=False)
    assert (paths.config_dir() / "default.yaml").is_file()
    assert (paths.models_dir() / "rby1").is_dir()


def test_trees_below_the_prefix_are_found(installed: Path) -> None:
    config = make(installed / "prefix/share/teleop_system/config")
    models = make(installed / "prefix/share/teleop_system/models")
    assert paths.config_dir() == config
    assert paths.models_dirs() == (models,)


def test_trees_of_an_ament_workspace_are_found(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = make(installed / "workspace/share/teleop_system/config")
    prefixes = os.pathsep.join((str(installed / "other"), str(installed / "workspace")))
    monkeypatch.setenv("AMENT_PREFIX_PATH", prefixes)
    assert paths.config_dir() == config


def test_folder_beside_an_installed_package_is_not_used(installed: Path) -> None:
    make(installed / "lib/config")
    with pytest.raises(ConfigError, match="'config' folder of teleop_system is missing; searched"):
        paths.config_dir()


def test_environment_chooses_the_configuration(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = make(installed / "mine")
    monkeypatch.setenv(paths.CONFIG_VARIABLE, str(mine))
    assert paths.config_dir() == mine


def test_environment_adds_models_that_take_precedence(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = make(installed / "prefix/share/teleop_system/models")
    first, second = make(installed / "first"), make(installed / "second")
    monkeypatch.setenv(paths.MODELS_VARIABLE, os.pathsep.join((str(first), "", str(second))))
    assert paths.models_dirs() == (first, second, ours)
    assert paths.models_dir() == ours


@pytest.mark.parametrize(
    ("variable", "find"),
    [
        (paths.CONFIG_VARIABLE, paths.config_dir),
        (paths.MODELS_VARIABLE, paths.models_dirs),
    ],
)
def test_folder_of_the_environment_variable_must_exist(
    variable: str, find, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "/nonexistent/folder")
    with pytest.raises(ConfigError, match=f"{variable}.*no such folder"):
        find()
