# SPDX-License-Identifier: Apache-2.0
"""Finds the model files of a robot's folder, without compiling any of them."""

import xml.etree.ElementTree as ET
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from teleop_system.exceptions import ModelError

ROBOT_FILE = "robot.yaml"


@dataclass(frozen=True, slots=True)
class _Outline:
    """What can be told of an MJCF file by looking at its XML.

    Attributes:
        path: The file.
        includes: Files it includes, itself left out.
        bodies: Bodies in it and in what it includes.
        actuators: Motors in it and in what it includes.
        servos: How many of them are position servos.
    """

    path: Path
    includes: frozenset[Path]
    bodies: int
    actuators: int
    servos: int


def is_robot_folder(folder: Path) -> bool:
    """Tell whether a folder holds a robot: an MJCF file or a `robot.yaml`."""
    return (folder / ROBOT_FILE).is_file() or any(mjcf_files(folder))


def mjcf_files(folder: Path) -> tuple[Path, ...]:
    """Return the XML files of a folder that may be MJCF, sorted."""
    return tuple(sorted(path for path in folder.glob("*.xml") if path.name != "package.xml"))


def find_mjcf(folder: Path) -> Path:
    """Return the MJCF file that describes the robot itself.

    Scenes, which include another file with the same motors, and fragments made to be included
    are left aside; of the rest the one with motors and the most bodies wins, then the one named
    like the folder, then the one with the most position servos.

    Raises:
        ModelError: There is no MJCF file, or none that can be read.
    """
    files = mjcf_files(folder)
    if not files:
        raise ModelError("there is no MJCF file (*.xml) in this folder", folder)
    outlines = [outline for path in files if (outline := _outline(path)) is not None]
    if not outlines:
        if len(files) == 1:
            return files[0]  # MuJoCo words the reason why it cannot be read better than we can.
        names = ", ".join(path.name for path in files)
        raise ModelError(f"none of these files is a readable MJCF model: {names}", folder)
    driven = {o.path.resolve() for o in outlines if o.actuators and o.bodies}
    robots = [outline for outline in outlines if not outline.includes & driven]
    best = max(
        robots or outlines,
        key=lambda item: (
            item.path.resolve() in driven,
            item.bodies,
            _words(item.path.stem) <= _words(folder.name),
            item.servos,
            item.path.name,
        ),
    )
    return best.path


def find_urdf(folder: Path, mjcf: Path) -> Path | None:
    """Return the URDF that goes with an MJCF file, or None where there is none or no telling."""
    files = sorted(folder.glob("*.urdf"))
    if len(files) == 1:
        return files[0]
    named = [path for stem in (mjcf.stem, folder.name) for path in files if path.stem == stem]
    return named[0] if named else None


def _outline(path: Path) -> _Outline | None:
    root = _parse(path)
    if root is None or root.tag != "mujoco":
        return None
    includes: set[Path] = set()
    trees = [root, *_included(root, path.parent, includes)]
    motors = [motor for tree in trees for group in tree.iter("actuator") for motor in group]
    return _Outline(
        path,
        frozenset(includes - {path.resolve()}),
        bodies=sum(1 for tree in trees for _ in tree.iter("body")),
        actuators=len(motors),
        servos=sum(1 for motor in motors if motor.tag == "position"),
    )


def _included(root: ET.Element, folder: Path, seen: set[Path]) -> Iterable[ET.Element]:
    """Yield the trees of all files that a tree includes; names are relative to the main file."""
    for element in root.iter("include"):
        path = (folder / element.get("file", "")).resolve()
        tree = _parse(path)
        if path not in seen and tree is not None:
            seen.add(path)
            yield tree
            yield from _included(tree, folder, seen)


def _words(name: str) -> set[str]:
    return set(name.lower().split("_"))


def _parse(path: Path) -> ET.Element | None:
    try:
        return ET.parse(path).getroot()
    except (OSError, ET.ParseError):
        return None
