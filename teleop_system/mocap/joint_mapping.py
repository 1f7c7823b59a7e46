# SPDX-License-Identifier: Apache-2.0
"""Which joint of a skeleton is which part of the body: one YAML file per family of skeletons."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from teleop_system.exceptions import BVHError, ConfigError, UnknownNameError
from teleop_system.interfaces import TrackerRole
from teleop_system.utils.config_loader import load_config
from teleop_system.utils.paths import config_dir

SUFFIX = "_joint_mapping.yaml"
FINGERS = ("Thumb", "Index", "Middle", "Ring", "Pinky")
PREFIX = re.compile(r"^(?:.*:|mixamorig\d*_)")
"""What exporters put in front of a joint's name."""


@dataclass(frozen=True, slots=True)
class BoneRepair:
    """A bone that a conversion has lost."""

    joints: tuple[str, ...]
    """Joints that are too near, with all beyond them."""
    start: str
    """Joint from which the bone's direction and length are taken,"""
    end: str
    """and the joint to which."""
    share: float = 1.0
    """Length of the lost bone as a share of that way."""


@dataclass(frozen=True, slots=True)
class JointMapping:
    """A family of skeletons."""

    roles: dict[TrackerRole, str]
    """The joint that a tracker is worn on, for every role."""
    left_shoulder: str
    """Joint at which the left upper arm begins."""
    right_shoulder: str
    """Joint at which the right upper arm begins."""
    left_elbow: str
    """Joint at which the left forearm begins."""
    right_elbow: str
    """Joint at which the right forearm begins."""
    description: str = ""
    """Whose skeletons these are."""
    signature: tuple[str, ...] = ()
    """Joints that tell this family from others with the same names elsewhere."""
    unit: float | None = None
    """Length of a unit in [m]; null tells it from the height."""
    up: str | None = None
    """Axis that points up; null tells it from where the head is."""
    rest_frame: bool | None = None
    """Whether frame 0 is a T-pose and no motion; null tells it from the jump after it."""
    repairs: tuple[BoneRepair, ...] = ()
    """Bones that are missing."""
    fingers: str | None = None
    """Names of finger joints, with {Side}, {Finger} and {number}; null where there are none."""
    name: str = field(default="")
    """Name of the family; that of the file where none is given."""

    def __post_init__(self) -> None:
        missing = [role.value for role in TrackerRole if role not in self.roles]
        if missing:
            raise ConfigError(f"roles must name a joint for every tracker, lacks {missing}")

    @property
    def joints(self) -> tuple[str, ...]:
        """Every joint that a skeleton of this family has to have."""
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
        """Return the three joints of every finger of a hand; nothing where there are none."""
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
    """Return a joint's name without what an exporter has put in front of it."""
    return PREFIX.sub("", name)


def load_mappings(folder: Path | None = None) -> dict[str, JointMapping]:
    """Return every family by its name; a file in `config/mocap` adds one.

    Raises:
        ConfigError: A file cannot be used as it stands.
    """
    folder = folder or config_dir() / "mocap"
    found = {}
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        name = path.name.removesuffix(SUFFIX)
        found[name] = load_config(JointMapping, path, [f"name={name}"])
    if not found:
        raise ConfigError(f"{folder}: there is no file *{SUFFIX}")
    return found


def choose_mapping(
    joints: Sequence[str],
    path: Path,
    *,
    name: str | None = None,
    mappings: Mapping[str, JointMapping] | None = None,
) -> JointMapping:
    """Return the family that a skeleton belongs to.

    Args:
        joints: The skeleton's joints, as its file names them.
        path: The file, for messages.
        name: The family, where it is known; None tells it from the joints.
        mappings: The families there are; None for those in `config/mocap`.

    Raises:
        BVHError: No family fits; the message says what was looked for, and what there is.
        UnknownNameError: There is no such family.
    """
    mappings = load_mappings() if mappings is None else mappings
    there = {plain_name(joint) for joint in joints}
    if name is not None:
        if name not in mappings:
            raise UnknownNameError("skeleton", name, mappings)
        mappings = {name: mappings[name]}
    lacks = {each: _missing(mapping, there) for each, mapping in mappings.items()}
    fitting = [each for each, missing in lacks.items() if not missing]
    if not fitting:
        looked = "; ".join(
            f"{each} needs {', '.join(missing)}"
            for each, missing in sorted(lacks.items(), key=lambda item: len(item[1]))
        )
        raise BVHError(
            f"this skeleton is not known: {looked}; the file has: {', '.join(joints)}", path
        )
    # The family that asks for most is the most particular.
    return mappings[max(fitting, key=lambda each: len(mappings[each].joints))]


def _missing(mapping: JointMapping, there: Iterable[str]) -> list[str]:
    there = set(there)
    return [joint for joint in mapping.joints if joint not in there]
