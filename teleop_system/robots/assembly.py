# SPDX-License-Identifier: Apache-2.0
"""Assembles a `RobotDescription` from `robot.yaml`, the MJCF, the URDF and inference."""

import fnmatch
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from teleop_system.exceptions import InvalidValueError, ModelError, suggestion
from teleop_system.robots.description import (
    Base,
    Chain,
    Hand,
    Head,
    JointLimits,
    RobotDescription,
    controlled_joints,
)
from teleop_system.robots.inference import (
    InferredParts,
    find_end_effector,
    hand_positions,
    infer_parts,
    side_of,
)
from teleop_system.robots.mjcf import MjcfModel, read_mjcf
from teleop_system.robots.model_files import find_mjcf, find_urdf
from teleop_system.robots.robot_file import RobotFile, Section, read_robot_file
from teleop_system.robots.urdf import UrdfModel, read_urdf

# Cautious defaults for limits that neither model nor `robot.yaml` states.
_ASSUMED = {
    "hinge": {"velocity": 1.0, "acceleration": 5.0, "jerk": 50.0},  # [rad/s], per s, per s^2
    "slide": {"velocity": 0.1, "acceleration": 0.5, "jerk": 5.0},  # [m/s], per s, per s^2
}
_KINDS = {"revolute": "hinge", "continuous": "hinge", "prismatic": "slide"}


def describe_robot(folder: Path, name: str, variant: str | None = None) -> RobotDescription:
    """Return the description of the robot in a folder.

    Args:
        folder: Folder with the model files and an optional `robot.yaml`.
        name: Name of the robot.
        variant: Variant of the robot, if `robot.yaml` lists several.

    Raises:
        ModelError: A file is missing or invalid, or the files contradict each other.
        MissingExtraError: MuJoCo is not installed.
    """
    file = read_robot_file(folder, variant)
    mjcf = folder / file.mjcf if file.mjcf else find_mjcf(folder)
    stated = folder / file.urdf if file.urdf else None
    path = stated if "urdf" in file.stated else find_urdf(folder, mjcf)
    model = read_mjcf(mjcf)
    urdf = read_urdf(path) if path is not None else None
    if urdf is not None:
        check_joints_match(model, urdf)
    return _Assembly(file, model, urdf).describe(folder, name)


def check_joints_match(model: MjcfModel, urdf: UrdfModel) -> None:
    """Check that a URDF has exactly the driven joints of an MJCF file.

    Raises:
        ModelError: A joint is missing in one file, or its type differs.
    """
    kinds = {joint.name: joint.kind for joint in model.joints}
    for name in urdf.moving_joints:
        kind = _KINDS[urdf.joints[name].kind]
        if name not in kinds:
            hint = suggestion(name, (joint for joint in kinds if joint))
            raise ModelError(f"joint {name!r} is not in {model.path.name}{hint}", urdf.path)
        if kinds[name] != kind:
            raise ModelError(
                f"joint {name!r} is {urdf.joints[name].kind}, but a {kinds[name]} "
                f"in {model.path.name}",
                urdf.path,
            )
    missing = [name for name in model.driven if name not in urdf.moving_joints]
    if missing:
        hint = suggestion(missing[0], urdf.moving_joints)
        raise ModelError(
            f"driven joint {missing[0]!r} of {model.path.name} is missing{hint}", urdf.path
        )


@dataclass(frozen=True, slots=True)
class _Assembly:
    """The sources of one description."""

    file: RobotFile
    model: MjcfModel
    urdf: UrdfModel | None

    def describe(self, folder: Path, name: str) -> RobotDescription:
        inferred = infer_parts(self.model, self._frames())
        chains = self._chains(inferred)
        hands = self._hands(inferred)
        head = self._head(inferred.head)
        base = self._base(inferred.base)
        named = controlled_joints(chains.values(), hands.values(), head, base)
        driven = [joint for joint in self.model.driven if joint]
        joints = self._limits(tuple(dict.fromkeys((*driven, *named))))
        self._check_bodies(self.file.collision_pairs)
        return RobotDescription(
            name,
            folder,
            self.model.path,
            description=self.file.description,
            urdf=self.urdf.path if self.urdf else None,
            joints=joints,
            chains=chains,
            poses=self._poses(joints),
            hands=hands,
            head=head,
            base=base,
            collision_pairs=self.file.collision_pairs,
            actuators=self.model.actuators,
            assumptions=tuple(self._assumptions(inferred, joints)),
        )

    def _frames(self) -> frozenset[str] | None:
        return frozenset(self.urdf.masses) if self.urdf else None

    def _error(self, message: str) -> ModelError:
        return ModelError(message, self.file.path)

    def _joint(self, name: str, key: str) -> str:
        """Check that a joint of `robot.yaml` is in the MJCF, and return its name."""
        joint = self.model.joint(name)
        if joint is None or joint.kind not in _ASSUMED:
            names = (joint.name for joint in self.model.joints if joint.kind in _ASSUMED)
            raise self._error(
                f"{key} names joint {name!r}, which is not in {self.model.path.name}"
                f"{suggestion(name, (joint for joint in names if joint))}"
            )
        return name

    def _check_bodies(self, pairs: Iterable[tuple[str, str]]) -> None:
        names = self.model.body_names()
        for body in (body for pair in pairs for body in pair):
            if body not in names:
                raise self._error(
                    f"collision_pairs names body {body!r}, which is not in "
                    f"{self.model.path.name}{suggestion(body, names)}"
                )

    def _chains(self, inferred: InferredParts) -> dict[str, Chain]:
        if "chains" not in self.file.stated:
            return inferred.chains
        return {
            name: self._chain(name, stated, inferred.chains.get(name))
            for name, stated in self.file.chains.items()
        }

    def _chain(self, name: str, stated: Section, inferred: Chain | None) -> Chain:
        key = f"chains.{name}"
        if "joints" not in stated and inferred is None:
            raise self._error(f"{key} needs joints: none could be inferred")
        if "joints" in stated:
            joints = tuple(self._joint(joint, key) for joint in stated["joints"])
            tool = find_end_effector(self.model, joints[-1], self._frames())
            inferred = Chain(name, _chain_kind(name), side_of(name), joints, tool)
        assert inferred is not None
        if "end_effector" in stated:
            self._end_effector(stated["end_effector"], key)
        return replace(inferred, **stated)

    def _end_effector(self, name: str, key: str) -> None:
        choices = [*self.model.body_names(), *self.model.sites]
        if name not in choices:
            raise self._error(
                f"{key}.end_effector {name!r} is not a body or site of "
                f"{self.model.path.name}{suggestion(name, choices)}"
            )
        if self.urdf and name not in self.urdf.masses:
            raise self._error(
                f"{key}.end_effector {name!r} is not a link of "
                f"{self.urdf.path.name}{suggestion(name, self.urdf.masses)}"
            )

    def _hands(self, inferred: InferredParts) -> dict[str, Hand]:
        if "hands" not in self.file.stated:
            return inferred.hands
        return {
            name: self._hand(name, stated, inferred.hands.get(name))
            for name, stated in self.file.hands.items()
        }

    def _hand(self, name: str, stated: Section, inferred: Hand | None) -> Hand:
        key = f"hands.{name}"
        if "joints" not in stated and inferred is None:
            raise self._error(f"{key} needs joints: none could be inferred")
        if "joints" in stated:
            joints = tuple(self._joint(joint, key) for joint in stated["joints"])
            nodes = [joint for joint in self.model.joints if joint.name in joints]
            nodes.sort(key=lambda joint: joints.index(joint.name))
            opened, closed = hand_positions(nodes)
            kind = "gripper" if len(joints) <= 2 else "hand"
            inferred = Hand(name, kind, side_of(name), joints, opened, closed)
        assert inferred is not None
        hand = replace(inferred, **stated)
        for state in ("open", "closed"):
            count = len(getattr(hand, state))
            if count != len(hand.joints):
                raise self._error(
                    f"{key}.{state} needs {len(hand.joints)} numbers, one per joint, got {count}"
                )
        return hand

    def _head(self, inferred: Head | None) -> Head | None:
        stated = dict(self.file.head)
        if "head" not in self.file.stated:
            return inferred
        if not stated:
            return None
        for key in ("pan", "tilt"):
            if stated.get(key) is not None:
                self._joint(stated[key], f"head.{key}")
        camera = stated.get("camera")
        if camera is not None and camera not in self.model.cameras:
            raise self._error(
                f"head.camera {camera!r} is not in {self.model.path.name}"
                f"{suggestion(camera, self.model.cameras)}"
            )
        return replace(inferred or Head(None, None, None), **stated)

    def _base(self, inferred: Base | None) -> Base | None:
        stated: dict[str, Any] = dict(self.file.base)
        if "base" not in self.file.stated:
            return inferred
        if not stated:
            return None
        if "wheel_sign" in stated:
            stated["wheel_sign"] = int(stated["wheel_sign"])
        for key in ("left_wheel", "right_wheel"):
            if key in stated:
                self._joint(stated[key], f"base.{key}")
        try:
            base = replace(inferred or Base("differential"), **stated)
        except InvalidValueError as error:
            raise self._error(f"base: {error}") from error
        if base.kind == "differential" and len(base.joints) != 2:
            raise self._error("a differential base needs left_wheel and right_wheel")
        return base

    def _limits(self, names: tuple[str, ...]) -> dict[str, JointLimits]:
        stated: dict[str, dict[str, float]] = {name: {} for name in names}
        for index, entry in enumerate(self.file.limits):
            for pattern in entry["joints"]:
                matched = fnmatch.filter(names, pattern)
                if not matched:
                    raise self._error(
                        f"limits[{index}]: pattern {pattern!r} matches no driven joint"
                        f"{suggestion(pattern, names)}"
                    )
                for name in matched:
                    stated[name] |= {k: v for k, v in entry.items() if k != "joints"}
        return {name: self._limit(name, stated[name]) for name in names}

    def _limit(self, name: str, stated: Mapping[str, float]) -> JointLimits:
        joint = self.model.joint(name)
        assert joint is not None
        other = self.urdf.joints.get(name) if self.urdf else None
        bounds = other if other is not None and math.isinf(joint.upper) else joint
        found = {
            "lower": bounds.lower,
            "upper": bounds.upper,
            "velocity": (other.velocity if other else None) or joint.velocity,
            "effort": joint.effort or (other.effort if other else None),
        }
        values = {key: value for key, value in {**found, **stated}.items() if value is not None}
        assumed = {k: v for k, v in _ASSUMED[joint.kind].items() if k not in values}
        missing = frozenset(assumed) | ({"effort"} - set(values))
        try:
            return JointLimits(**values, **assumed, assumed=missing)
        except InvalidValueError as error:
            raise self._error(f"limits of joint {name!r}: {error}") from error

    def _poses(self, joints: Mapping[str, JointLimits]) -> dict[str, dict[str, float]]:
        for pose, positions in self.file.poses.items():
            for joint in positions:
                if joint not in joints:
                    raise self._error(
                        f"poses.{pose} names joint {joint!r}, which has no actuator"
                        f"{suggestion(joint, joints)}"
                    )
        stated = {**self.model.keyframes, **self.file.poses}
        poses = {
            name: {joint: float(positions.get(joint, 0.0)) for joint in joints}
            for name, positions in stated.items()
        }
        # Zero may be outside the range of a joint; every robot needs one valid pose.
        rest = {joint: min(max(0.0, li.lower), li.upper) for joint, li in joints.items()}
        return poses or {"zero": rest}

    def _assumptions(
        self, inferred: InferredParts, joints: Mapping[str, JointLimits]
    ) -> Iterable[str]:
        yield from (note for part, note in inferred.notes if part not in self.file.stated)
        for part in ("chains", "hands", "head", "base"):
            if part not in self.file.stated and getattr(inferred, part):
                yield f"{part} inferred from {self.model.path.name}"
        for limit in ("velocity", "acceleration", "jerk", "effort"):
            names = [name for name, values in joints.items() if limit in values.assumed]
            if names:
                yield f"{limit} limit assumed for {_shortened(names)}"
        if self.urdf is None and "urdf" not in self.file.stated:
            count = len(list(self.file.path.parent.glob("*.urdf")))
            if count:
                yield f"{count} URDF files found, none used; name one in robot.yaml"


def _chain_kind(name: str) -> str:
    return next((kind for kind in ("torso", "leg", "finger") if kind in name), "arm")


def _shortened(names: list[str]) -> str:
    shown = ", ".join(names[:3])
    return f"{shown} and {len(names) - 3} more" if len(names) > 3 else shown
