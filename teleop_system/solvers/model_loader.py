# SPDX-License-Identifier: Apache-2.0
"""Loads a URDF or MJCF into Pinocchio and keeps only the joints that are to be moved."""

import os
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from teleop_system.exceptions import ConfigError, ModelError, UnknownNameError


def load_model(path: str | os.PathLike[str]) -> tuple[Any, Any]:
    """Return the Pinocchio model of a URDF or MJCF file and its collision geometry.

    Raises:
        ModelError: The file is missing, is not XML, or describes no robot.
    """
    file = Path(path)
    root = _root_tag(file)
    if root == "mujoco":
        from teleop_system.solvers.mjcf_model import build_from_mjcf

        return build_from_mjcf(file)
    if root != "robot":
        raise ModelError(f"neither URDF (<robot>) nor MJCF (<mujoco>), but <{root}>", file)
    try:
        model = pin.buildModelFromUrdf(str(file))
        geometry = pin.buildGeomFromUrdf(model, str(file), pin.GeometryType.COLLISION)
    except (ValueError, RuntimeError) as error:
        raise ModelError(f"Pinocchio cannot load it: {error}", file) from error
    return model, geometry


def movable_joints(model: Any) -> list[str]:
    """Return the joints with one degree of freedom, in Pinocchio's order, the root excluded."""
    return [
        str(name)
        for name, joint in list(zip(model.names, model.joints, strict=True))[1:]
        if joint.nv == 1
    ]


def find_frame(model: Any, name: str) -> int:
    """Return the index of a frame by name; a link wins over a joint of the same name.

    Raises:
        UnknownNameError: The model has no such frame.
    """
    found = [i for i, frame in enumerate(model.frames) if frame.name == name]
    if not found:
        raise UnknownNameError("frame", name, [frame.name for frame in model.frames])
    links = [i for i in found if model.frames[i].type == pin.FrameType.BODY]
    return (links or found)[0]


def joints_towards(model: Any, frame: int) -> list[str]:
    """Return the movable joints from the root to a frame."""
    supports = model.supports[model.frames[frame].parentJoint]
    return [str(model.names[joint]) for joint in supports if joint and model.joints[joint].nv == 1]


def posture_vector(model: Any, posture: Mapping[str, float]) -> Any:
    """Return the configuration with the named joints set and the others as near 0 as allowed.

    Raises:
        UnknownNameError: A name is not a movable joint of the model.
        ConfigError: A position is not a finite number.
    """
    known = movable_joints(model)
    configuration = pin.neutral(model)
    for name in posture:
        if name not in known:
            raise UnknownNameError("joint", name, known)
    for name in known:
        joint = model.joints[model.getJointId(name)]
        value = _position(name, posture.get(name, 0.0))
        if joint.nq == 2:  # Pinocchio keeps a continuous joint as cosine and sine.
            configuration[joint.idx_q : joint.idx_q + 2] = np.cos(value), np.sin(value)
        else:
            index = joint.idx_q
            limits = model.lowerPositionLimit[index], model.upperPositionLimit[index]
            configuration[index] = np.clip(value, *limits)
    return configuration


def reduce_model(
    model: Any, geometry: Any, keep: Iterable[str], posture: Mapping[str, float]
) -> tuple[Any, Any]:
    """Return model and geometry with every joint locked at `posture` except those to keep.

    Raises:
        UnknownNameError: A name is not a movable joint of the model.
    """
    known = movable_joints(model)
    keep = set(keep)
    for name in keep:
        if name not in known:
            raise UnknownNameError("joint", name, known)
    locked = [model.getJointId(name) for name in model.names[1:] if name not in keep]
    reduced: tuple[Any, Any] = pin.buildReducedModel(
        model, geometry, locked, posture_vector(model, posture)
    )
    return reduced


def _position(name: str, value: float) -> float:
    if not np.isfinite(value):
        raise ConfigError(f"reference_posture of {name!r} must be finite, got {value}")
    return float(value)


def _root_tag(file: Path) -> str:
    if not file.is_file():
        raise ModelError("there is no such file", file)
    try:
        return str(ET.parse(file).getroot().tag)
    except ET.ParseError as error:
        raise ModelError(f"it is not well-formed XML: {error}", file) from error
