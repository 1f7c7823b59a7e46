# SPDX-License-Identifier: Apache-2.0
"""Only the drive calls slaves, and only simulated slaves write to a simulator."""

import ast
from collections.abc import Iterator
from pathlib import Path

import teleop_system

ROOT = Path(teleop_system.__file__).parent

# What moves an actuator: the slaves' methods, a simulated robot's, and the simulators'.
WRITERS = {
    "send_joint_command",
    "send_velocity",
    "set_feed_forward",
    "command_joints",
    "move_base",
    "set_joint_positions",
    "set_joint_targets",
    "set_base_velocity",
    "set_control_mode",
}
ALLOWED = {
    # The drive writes the safety manager's output to the slaves.
    ("robot_side/drive.py", "send_joint_command"),
    ("robot_side/drive.py", "send_velocity"),
    ("robot_side/drive.py", "set_feed_forward"),
    # Simulated slaves write to the robot they share, and that robot to its simulator.
    ("simulators/simulated_slaves.py", "command_joints"),
    ("simulators/simulated_slaves.py", "move_base"),
    ("simulators/simulated_robot.py", "move_base"),
    ("simulators/simulated_robot.py", "set_joint_positions"),
    ("simulators/simulated_robot.py", "set_base_velocity"),
    ("simulators/mujoco_robot.py", "set_control_mode"),
    ("simulators/mujoco_robot.py", "set_joint_targets"),
}
# The conformance suites call every method of an implementation under test.
SUITES = "testing/"
# Fields of the state of MuJoCo that move a robot when they are written.
MUJOCO_STATE = {"ctrl", "qfrc_applied", "xfrc_applied"}


def sources() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(SUITES):
            yield name, ast.parse(path.read_text(encoding="utf-8"))


def uses(tree: ast.Module) -> Iterator[str]:
    """Yield every writer that is called or handed on as a method, or looked up by its name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in WRITERS:
            # An override that calls its base class stays within one object.
            is_super = isinstance(node.value, ast.Call) and ast.unparse(node.value) == "super()"
            if not is_super:
                yield node.attr
        elif isinstance(node, ast.Constant) and node.value in WRITERS:
            yield str(node.value)


def test_nothing_but_the_drive_and_the_slaves_moves_an_actuator() -> None:
    found = {(name, writer) for name, tree in sources() for writer in uses(tree)}
    assert found == ALLOWED


def test_nothing_but_a_simulator_writes_to_the_controls_of_mujoco() -> None:
    writers = {
        name
        for name, tree in sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in MUJOCO_STATE
    }
    assert {name.split("/")[0] for name in writers} <= {"simulators"}, writers
