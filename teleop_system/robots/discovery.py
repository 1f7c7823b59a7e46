# SPDX-License-Identifier: Apache-2.0
"""Finds robots in the model folders: built-in ones, the user's own and registered ones."""

import os
from dataclasses import dataclass
from pathlib import Path

from teleop_system import registry
from teleop_system.exceptions import ModelError, TeleopError, UnknownNameError
from teleop_system.robots.assembly import describe_robot
from teleop_system.robots.description import RobotDescription
from teleop_system.robots.model_files import is_robot_folder
from teleop_system.robots.robot_file import read_robot_file
from teleop_system.utils.paths import models_dirs

RESERVED = frozenset({"scenes"})
"""Model folders that are not robots."""


@dataclass(frozen=True, slots=True)
class RobotSource:
    """The folder of a robot that is not loaded yet.

    Attributes:
        name: Name of the robot.
        folder: Folder of its model files.
        variant: Variant of the robot, or None if the folder has no variants.
    """

    name: str
    folder: Path
    variant: str | None = None

    def load(self) -> RobotDescription:
        """Return the robot's description.

        Raises:
            ModelError: A file is missing or invalid, or the files contradict each other.
            MissingExtraError: MuJoCo is not installed.
        """
        return describe_robot(self.folder, self.name, self.variant)


def discover_robots() -> dict[str, RobotSource]:
    """Return all robots by name; no model is compiled.

    A folder with variants in its `robot.yaml` holds one robot per variant, named
    `<folder>_<variant>`. If two robots have the same name, the user's own comes first, then the
    built-in one.
    """
    found: dict[str, RobotSource] = {}
    for parent in models_dirs():
        for folder in sorted(parent.iterdir()):
            if folder.name not in RESERVED and folder.is_dir() and is_robot_folder(folder):
                for source in _sources(folder, folder.name):
                    found.setdefault(source.name, source)
    for name in registry.names("robot"):
        for source in _registered(name):
            found.setdefault(source.name, source)
    return dict(sorted(found.items()))


def find_robot(name: str) -> RobotSource:
    """Return a robot by name, or by the path of its folder.

    The name of a folder with variants selects the first one.

    Raises:
        UnknownNameError: The robot does not exist.
        ModelError: The folder contains no robot.
    """
    folder = Path(name).expanduser()
    if os.sep in name or name.startswith("."):
        if not folder.is_dir() or not is_robot_folder(folder):
            raise ModelError(
                "no robot in this folder: no MJCF file (*.xml) and no robot.yaml", folder
            )
        return _sources(folder.resolve(), folder.resolve().name)[0]
    robots = discover_robots()
    by_folder = [source for source in robots.values() if source.folder.name == name]
    if name not in robots and not by_folder:
        raise UnknownNameError("robot", name, robots)
    return robots[name] if name in robots else _sources(by_folder[0].folder, name)[0]


def load_robot(name: str) -> RobotDescription:
    """Return the description of a robot, by name or by the path of its folder.

    Raises:
        UnknownNameError: The robot does not exist.
        ModelError: A file is missing or invalid, or the files contradict each other.
        MissingExtraError: MuJoCo is not installed.
    """
    return find_robot(name).load()


def _sources(folder: Path, name: str) -> list[RobotSource]:
    try:
        variants = read_robot_file(folder).variants
    except ModelError:
        variants = {}  # Keep the robot in the list; loading it reports the error.
    if not variants:
        return [RobotSource(name, folder)]
    return [RobotSource(f"{name}_{variant}", folder, variant) for variant in variants]


def _registered(name: str) -> list[RobotSource]:
    try:
        folder = registry.find("robot", name)
        return _sources(Path(folder() if callable(folder) else folder), name)
    except (TeleopError, TypeError):
        return []
