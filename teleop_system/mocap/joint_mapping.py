# SPDX-License-Identifier: Apache-2.0
"""Skeleton families: which joint is which part of the body, one YAML file per family."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from teleop_system.exceptions import BVHError, ConfigError, UnknownNameError
from teleop_system.interfaces import TrackerRole
from teleop_system.utils.config_loader import load_config
from teleop_system.utils.paths import config_dir

SUFFIX = "_joint_mapping.yaml"
FINGERS = ("Thumb", "Index", "Middle", "Ring", "Pinky")
PREFIX = re.compile(r"^(?:.*:|mixamorig\d*_)")
"""Prefixes that exporters add to joint names."""


@dataclass(frozen=True, slots=True)
class BoneRepair:
    """A bone that a file conversion has lost; it is restored from another bone."""

    joints: tuple[str, ...]
    """Joints to move, with all their descendants."""
    start: str
    """First joint of the bone that gives the direction."""
    end: str
    """Second joint of that bone."""
    share: float = 1.0
    """Length of the lost bone divided by the distance from `start` to `end`."""


@dataclass(frozen=True, slots=True)
class JointMapping:
    """A family of skeletons."""

    roles: dict[TrackerRole, str]
    """Joint of each tracker role."""
    left_shoulder: str
    """Joint at which the left upper arm begins."""
    right_shoulder: str
    """Joint at which the right upper arm begins."""
    left_elbow: str
    """Joint at which the left forearm begins."""
    right_elbow: str
    """Joint at which the right forearm begins."""
    description: str = ""
    """Origin of these skeletons."""
    signature: tuple[str, ...] = ()
    """Joints that distinguish this family from others."""
    unit: float | None = None
    """Length of a unit in [m]; null detects it from the person's height."""
    up: str | None = None
    """Axis that points up; null detects it from head and feet."""
    rest_frame: bool | None = None
    """Whether frame 0 is a T-pose before the motion; null detects it from the jump to frame 1."""
    repairs: tuple[BoneRepair, ...] = ()
    """Lost bones to restore."""
    fingers: str | None = None
    """Pattern of finger joint names with {Side}, {Finger} and {number}; null without fingers."""
    name: str = field(default="")
    """Name of the family; the file name by default."""

    def __post_init__(self) -> None:
        missing = [role.value for role in TrackerRole if role not in self.roles]
        if missing:
            raise ConfigError(f"roles must name a joint for every tracker, missing: {missing}")

    @property
    def joints(self) -> tuple[str, ...]:
        """Every joint that a skeleton of this family must have."""
        arms = (self.left_shoulder, self.right_shoulder, self.left_elbow, self.right_elbow)
        repaired = [
            name for repair in self.repairs for name in (*repair.joints, repair.start, repair.end)
        ]
        return tuple(dict.fromkeys((*self.signature, *self.roles.values(), *arms, *repaired)))

    def shoulder(self, side: str) -> str:
        """Return the joint at which an upper arm begins."""
        return self.left_shoulder if side == "left" else self.right_shoulder

    def elbow(self, side: str) -> str:
        """Return the joint at which a forearm begins."""
        return self.left_elbow if side == "left" else self.right_elbow

    def finger_joints(self, side: str) -> list[list[str]]:
        """Return the three joints of every finger of a hand; empty without finger joints."""
        if self.fingers is None:
            return []
        return [
            [self._finger_joint(side, finger, number) for number in (1, 2, 3)]
            for finger in FINGERS
        ]

    def _finger_joint(self, side: str, finger: str, number: int) -> str:
        assert self.fingers is not None
        return self.fingers.format(Side=side.capitalize(), Finger=finger, number=number)


def plain_name(name: str) -> str:
    """Return a joint name without an exporter's prefix."""
    return PREFIX.sub("", name)


def load_mappings(folder: Path | None = None) -> dict[str, JointMapping]:
    """Return every family by its name; a file in `config/mocap` adds one.

    Raises:
        ConfigError: A file is invalid.
    """
    folder = folder or config_dir() / "mocap"
    found = {}
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        name = path.name.removesuffix(SUFFIX)
        found[name] = load_config(JointMapping, path, [f"name={name}"])
    if not found:
        raise ConfigError(f"{folder}: no file named *{SUFFIX}")
    return found


def choose_mapping(
    joints: Sequence[str],
    path: Path,
    *,
    name: str | None = None,
    mappings: Mapping[str, JointMapping] | None = None,
) -> JointMapping:
    """Return the family of a skeleton.

    Args:
        joints: The skeleton's joints, as named in its file.
        path: The file, for messages.
        name: Name of the family; None detects it from the joints.
        mappings: All families; None loads those in `config/mocap`.

    Raises:
        BVHError: No family matches; the message lists the missing joints of each family.
        UnknownNameError: The named family does not exist.
    """
    mappings = load_mappings() if mappings is None else mappings
    if name is not None:
        if name not in mappings:
            raise UnknownNameError("skeleton", name, mappings)
        mappings = {name: mappings[name]}
    plain = {plain_name(joint) for joint in joints}
    missing = {
        each: [joint for joint in mapping.joints if joint not in plain]
        for each, mapping in mappings.items()
    }
    matching = [each for each, absent in missing.items() if not absent]
    if not matching:
        needs = "; ".join(
            f"{each} needs {', '.join(absent)}"
            for each, absent in sorted(missing.items(), key=lambda item: len(item[1]))
        )
        raise BVHError(
            f"the skeleton is unknown: {needs}; the file has: {', '.join(joints)}", path
        )
    # The family with most required joints is the most specific match.
    return mappings[max(matching, key=lambda each: len(mappings[each].joints))]
