# SPDX-License-Identifier: Apache-2.0
"""Which libraries an import loads; each test uses a fresh interpreter."""

import json
import subprocess
import sys

import pytest

HEAVY = {"mujoco", "pinocchio", "pink", "qpsolvers", "hydra", "omegaconf", "rclpy", "scipy"}

# Libraries that the start-up files of the environment load do not count.
PROBE = """
import json, sys
before = set(sys.modules)
{statements}
loaded = {{name.partition(".")[0] for name in set(sys.modules) - before}}
sys.__stdout__.write("\\n" + json.dumps(sorted(loaded - set(sys.stdlib_module_names))))
"""


def loaded_by(statements: str) -> set[str]:
    """Return the top-level modules outside the standard library that statements load."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE.format(statements=statements)],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(done.stdout.splitlines()[-1])) - {"teleop_system"}


def test_importing_the_package_loads_only_numpy() -> None:
    assert loaded_by("import teleop_system") <= {"numpy"}


def test_importing_the_interfaces_loads_only_numpy() -> None:
    assert loaded_by("import teleop_system.interfaces") <= {"numpy"}


def test_the_command_line_loads_no_heavy_library() -> None:
    assert not loaded_by("import teleop_system.cli.main") & {*HEAVY, "numpy"}


@pytest.mark.parametrize("name", ["rby1", "rby1_dg5f"])
def test_a_robot_whose_file_is_complete_is_listed_without_mujoco(name: str) -> None:
    statements = (
        "from teleop_system.robots import discover_robots, summarize_robot;"
        f"assert summarize_robot(discover_robots()[{name!r}]).dof"
    )
    assert not loaded_by(statements) & HEAVY
