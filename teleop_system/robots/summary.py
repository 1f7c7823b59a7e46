# SPDX-License-Identifier: Apache-2.0
"""Summary of a robot, read from `robot.yaml` alone if that is complete."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from teleop_system.exceptions import TeleopError
from teleop_system.robots.description import RobotDescription
from teleop_system.robots.discovery import RobotSource
from teleop_system.robots.model_files import find_mjcf, find_urdf
from teleop_system.robots.robot_file import RobotFile, read_robot_file


@dataclass(frozen=True, slots=True)
class RobotSummary:
    """One row in a list of robots.

    Attributes:
        name: Name of the robot.
        folder: Folder of its model files.
        description: One line of text.
        dof: Number of joints that can be commanded.
        chains: Number of joints by chain.
        hands: Kind of each hand.
        head: Whether it has an actuated neck.
        base: Kind of base, or None.
        urdf: Whether it has a URDF.
        problem: Why it cannot be loaded, or None.
    """

    name: str
    folder: Path
    description: str = ""
    dof: int = 0
    chains: Mapping[str, int] = field(default_factory=dict)
    hands: Mapping[str, str] = field(default_factory=dict)
    head: bool = False
    base: str | None = None
    urdf: bool = False
    problem: str | None = None


def summarize_robot(source: RobotSource) -> RobotSummary:
    """Return a summary of a robot; the model is compiled only if `robot.yaml` is incomplete.

    The summary of a robot that cannot be loaded gives the reason.
    """
    try:
        file = read_robot_file(source.folder, source.variant)
        if file.is_complete():
            return _from_file(source, file)
        return _from_description(source.load())
    except TeleopError as error:
        return RobotSummary(source.name, source.folder, problem=str(error))


def _from_file(source: RobotSource, file: RobotFile) -> RobotSummary:
    mjcf = source.folder / file.mjcf if file.mjcf else find_mjcf(source.folder)
    urdf = file.urdf if "urdf" in file.stated else find_urdf(source.folder, mjcf)
    neck = [joint for key, joint in file.head.items() if key != "camera" and joint]
    wheels = [file.base[key] for key in ("left_wheel", "right_wheel") if key in file.base]
    limbs = [joint for part in file.chains.values() for joint in part["joints"]]
    fingers = [joint for part in file.hands.values() for joint in part["joints"]]
    problem = None if mjcf.is_file() else f"{mjcf}: no such file"
    return RobotSummary(
        source.name,
        source.folder,
        file.description,
        dof=len({*neck, *wheels, *limbs, *fingers}),
        chains={name: len(part["joints"]) for name, part in file.chains.items()},
        hands={name: part.get("kind", "hand") for name, part in file.hands.items()},
        head=bool(neck),
        base=file.base.get("kind", "differential") if file.base else None,
        urdf=urdf is not None,
        problem=problem,
    )


def _from_description(robot: RobotDescription) -> RobotSummary:
    return RobotSummary(
        robot.name,
        robot.folder,
        robot.description,
        dof=robot.dof,
        chains={name: len(chain.joints) for name, chain in robot.chains.items()},
        hands={name: hand.kind for name, hand in robot.hands.items()},
        head=robot.head is not None and bool(robot.head.joints),
        base=robot.base.kind if robot.base else None,
        urdf=robot.urdf is not None,
    )
