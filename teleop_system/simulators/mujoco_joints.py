# SPDX-License-Identifier: Apache-2.0
"""The joints that can be commanded, and their indices in MuJoCo's arrays."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import ModelError, UnknownNameError
from teleop_system.robots.mujoco_library import mujoco

IndexArray = NDArray[np.intp]


class JointTable:
    """The hinge and slide joints with an actuator, in the order of the actuators.

    A joint with several actuators is commanded through the first one. Actuators on tendons and
    bodies are not commanded and keep their initial control.

    Attributes:
        names: Joint names.
        actuators: Actuator of each joint, shape (N,).
        joints: MuJoCo's index of each joint, shape (N,).
        positions: Index of each joint in qpos, shape (N,).
        dofs: Index of each joint in qvel, shape (N,).
        gears: Actuator length per joint position, shape (N,).
    """

    def __init__(self, model: Any) -> None:
        found = _driven_joints(model)
        if not found:
            raise ModelError("the model has no actuator on a hinge or slide joint")
        self.actuators: IndexArray = np.array(list(found.values()), dtype=np.intp)
        self.joints: IndexArray = np.array(list(found), dtype=np.intp)
        self.positions: IndexArray = model.jnt_qposadr[self.joints].astype(np.intp)
        self.dofs: IndexArray = model.jnt_dofadr[self.joints].astype(np.intp)
        self.gears: NDArray[np.float64] = model.actuator_gear[self.actuators, 0].copy()
        self.names = tuple(_name(model.joint(j).name, "joint", j) for j in self.joints)
        self._indices = {name: index for index, name in enumerate(self.names)}
        self._cache: dict[tuple[str, ...], IndexArray] = {}

    def __len__(self) -> int:
        return len(self.names)

    def indices(self, names: Iterable[str]) -> IndexArray:
        """Return the indices of joints in every joint vector; results are cached.

        Raises:
            UnknownNameError: A joint does not exist or has no actuator.
        """
        key = tuple(names)
        known = self._cache.get(key)
        if known is None:
            known = np.array([self.index(name) for name in key], dtype=np.intp)
            known.setflags(write=False)
            self._cache[key] = known
        return known

    def index(self, name: str) -> int:
        """Return the index of a joint in every joint vector.

        Raises:
            UnknownNameError: The joint does not exist or has no actuator.
        """
        index = self._indices.get(name)
        if index is None:
            raise UnknownNameError("joint", name, self.names)
        return index


def camera_names(model: Any) -> tuple[str, ...]:
    """Return the names of the cameras, in the order of the model."""
    return _names(model.camera(index).name for index in range(model.ncam))


def keyframe_names(model: Any) -> tuple[str, ...]:
    """Return the names of the keyframes, in the order of the model."""
    return _names(model.key(index).name for index in range(model.nkey))


def free_joint(model: Any, root: int) -> int | None:
    """Return the free joint of a root body, or None if it is fixed to the world."""
    first = int(model.body_jntadr[root])
    if first >= 0 and model.jnt_type[first] == mujoco.mjtJoint.mjJNT_FREE:
        return first
    return None


def _driven_joints(model: Any) -> dict[int, int]:
    # As plain numbers: MuJoCo's enums and NumPy's integers do not compare reliably.
    transmissions = (mujoco.mjtTrn.mjTRN_JOINT.value, mujoco.mjtTrn.mjTRN_JOINTINPARENT.value)
    scalar = (mujoco.mjtJoint.mjJNT_HINGE.value, mujoco.mjtJoint.mjJNT_SLIDE.value)
    found: dict[int, int] = {}
    for actuator in range(model.nu):
        joint = int(model.actuator_trnid[actuator, 0])
        if model.actuator_trntype[actuator] in transmissions and model.jnt_type[joint] in scalar:
            found.setdefault(joint, actuator)
    return found


def _name(name: str, kind: str, number: int) -> str:
    return name or f"{kind}_{number}"


def _names(names: Iterable[str]) -> tuple[str, ...]:
    found: Sequence[str] = [name for name in names if name]
    return tuple(found)
