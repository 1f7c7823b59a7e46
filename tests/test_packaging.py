# SPDX-License-Identifier: Apache-2.0
"""What is installed: one executable per node, launch files for every stack, one version."""

import ast
import importlib
import re
import runpy
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
import setuptools

from teleop_system import __version__
from teleop_system.stacks.catalogue import NODES, STACKS

ROOT = Path(__file__).resolve().parents[1]
BESIDE_STACKS = {"teleop", "clutch_keyboard"}


@pytest.fixture(scope="module")
def setup_arguments() -> dict[str, Any]:
    """The arguments that setup.py passes to setuptools."""
    given: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(setuptools, "setup", lambda **keywords: given.update(keywords))
        patch.chdir(ROOT)
        runpy.run_path(str(ROOT / "setup.py"))
    return given


def scripts(arguments: dict[str, Any]) -> dict[str, str]:
    lines = arguments["entry_points"]["console_scripts"]
    return dict(re.split(r"\s*=\s*", line, maxsplit=1) for line in lines)


def test_every_node_of_a_stack_is_an_executable(setup_arguments: dict[str, Any]) -> None:
    found = scripts(setup_arguments)
    assert set(found) == {*NODES, *BESIDE_STACKS}
    for name, kind in NODES.items():
        assert found[name] == f"{kind.module}:main"


def test_every_executable_refers_to_a_function(setup_arguments: dict[str, Any]) -> None:
    for target in scripts(setup_arguments).values():
        module, _, function = target.partition(":")
        assert callable(getattr(importlib.import_module(module), function))


def test_every_node_has_the_class_that_is_composed() -> None:
    for kind in NODES.values():
        made = getattr(importlib.import_module(kind.module), kind.class_name)
        assert made.__module__ == kind.module


def test_every_stack_is_a_launch_file() -> None:
    files = {path.name.removesuffix(".launch.py"): path for path in ROOT.glob("launch/*")}
    assert set(files) - {"__pycache__"} == set(STACKS)
    for name, stack in STACKS.items():
        tree = ast.parse(files[name].read_text(encoding="utf-8"))
        assert ast.get_docstring(tree) == stack.summary
        assert f"stack_launch_description({name!r})" in ast.unparse(tree)


def test_trees_are_installed_where_ros_looks_for_them(setup_arguments: dict[str, Any]) -> None:
    installed = {
        f"{folder}/{Path(file).name}"
        for folder, files in setup_arguments["data_files"]
        for file in files
    }
    assert "share/ament_index/resource_index/packages/teleop_system" in installed
    assert "share/teleop_system/package.xml" in installed
    assert "share/teleop_system/config/default.yaml" in installed
    assert "share/teleop_system/models/rby1/model_teleop.xml" in installed
    for name in STACKS:
        assert f"share/teleop_system/launch/{name}.launch.py" in installed


def test_manifests_agree(setup_arguments: dict[str, Any]) -> None:
    manifest = ElementTree.parse(ROOT / "package.xml").getroot()
    assert manifest.findtext("version") == setup_arguments["version"] == __version__
    assert manifest.findtext("license") == setup_arguments["license"]
    assert manifest.findtext("description") == setup_arguments["description"]


def test_every_ros_package_that_is_imported_is_a_dependency(
    setup_arguments: dict[str, Any],
) -> None:
    manifest = ElementTree.parse(ROOT / "package.xml").getroot()
    declared = {entry.text for entry in manifest.iter("exec_depend")}
    wheels = {name.partition("[")[0] for name in setup_arguments["extras_require"]["ros"]}
    for path in (ROOT / "teleop_system").rglob("*.py"):
        for library in _ros_imports(path):
            assert library in declared, f"{path} imports {library}"
            is_wheel = f"ros-{library.replace('_', '-')}" in wheels
            # These come with rclpy or with its messages, or are looked for at run time.
            assert is_wheel or library in {
                "builtin_interfaces",
                "launch",
                "launch_ros",
                "rcl_interfaces",
                "std_msgs",
            }


def _ros_imports(path: Path) -> set[str]:
    """Return the ROS packages that a file imports at its top, and so cannot do without."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom | ast.Import):
            name = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
            library = (name or "").partition(".")[0]
            if library.endswith(("_msgs", "_srvs", "_interfaces", "rclpy")) or library.startswith(
                "launch"
            ):
                found.add(library)
    return found
