# SPDX-License-Identifier: Apache-2.0
"""Finds the model files in a robot's folder without compiling them."""

import xml.etree.ElementTree as ET
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from teleop_system.exceptions import ModelError

ROBOT_FILE = "robot.yaml"


@dataclass(frozen=True, slots=True)
class _Outline:
    """Summary of the XML of an MJCF file.

    Attributes:
        path: The file.
        includes: Included files, without itself.
        bodies: Number of bodies, including those of included files.
        actuators: Number of actuators, including those of included files.
        servos: Number of position servos among them.
    """

    path: Path
    includes: frozenset[Path]
    bodies: int
    actuators: int
    servos: int


def is_robot_folder(folder: Path) -> bool:
    """Return whether a folder has an MJCF file or a `robot.yaml`."""
    return (folder / ROBOT_FILE).is_file() or any(mjcf_files(folder))


def mjcf_files(folder: Path) -> tuple[Path, ...]:
    """Return the XML files of a folder that may be MJCF, sorted."""
    return tuple(sorted(path for path in folder.glob("*.xml") if path.name != "package.xml"))


def find_mjcf(folder: Path) -> Path:
    """Return the MJCF file that describes the robot itself.

    Scenes that include another file with actuators are skipped. Of the rest, the file with
    actuators and the most bodies is chosen; then the one named like the folder, then the one with
    the most position servos.

    Raises:
        ModelError: No MJCF file exists, or none is readable.
    """
    files = mjcf_files(folder)
    if not files:
        raise ModelError("no MJCF file (*.xml) in this folder", folder)
    outlines = [outline for path in files if (outline := _outline(path)) is not None]
    if not outlines:
        if len(files) == 1:
            return files[0]  # Loading it gives MuJoCo's own error message.
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
    """Return the URDF of an MJCF file; None without one, or if several could match."""
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
    actuators = [item for tree in trees for group in tree.iter("actuator") for item in group]
    return _Outline(
        path,
        frozenset(includes - {path.resolve()}),
        bodies=sum(1 for tree in trees for _ in tree.iter("body")),
        actuators=len(actuators),
        servos=sum(1 for item in actuators if item.tag == "position"),
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
