# SPDX-License-Identifier: Apache-2.0
"""One line about a robot, read from `robot.yaml` alone where that says enough."""

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
    """What a list of robots shows of one.

    Attributes:
        name: Name to ask for it by.
        folder: Folder of its model files.
        description: One line for people.
        dof: Number of joints that can be commanded.
        chains: Number of joints by chain.
        hands: Kind by hand.
        head: Whether it has a neck that moves.
        base: Kind of its base, or None.
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
    """Return a summary of a robot; MuJoCo is asked only for what `robot.yaml` leaves open.

    A robot that cannot be loaded has a summary too, which tells the reason.
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
    problem = None if mjcf.is_file() else f"{mjcf}: there is no such file"
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
