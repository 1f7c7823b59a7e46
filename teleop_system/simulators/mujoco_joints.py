# SPDX-License-Identifier: Apache-2.0
"""Which joints can be commanded, and where MuJoCo keeps their numbers."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import ModelError, UnknownNameError
from teleop_system.robots.mujoco_library import mujoco

IndexArray = NDArray[np.intp]


class JointTable:
    """The hinge and slide joints that actuators drive, in the order of the actuators.

    A joint with several actuators is commanded through the first of them. Actuators on tendons
    and bodies have no joint of their own and keep the control of the initial state.

    Attributes:
        names: Joint names.
        actuator_names: Name of the actuator of each joint.
        actuators: Actuator of each joint, shape (N,).
        joints: MuJoCo's number of each joint, shape (N,).
        positions: Place of each joint in qpos, shape (N,).
        dofs: Place of each joint in qvel, shape (N,).
        gears: Actuator length per joint position, shape (N,).
    """

    def __init__(self, model: Any) -> None:
        found = _driven_joints(model)
        if not found:
            raise ModelError("no actuator of the model drives a hinge or slide joint")
        self.actuators: IndexArray = np.array(list(found.values()), dtype=np.intp)
        self.joints: IndexArray = np.array(list(found), dtype=np.intp)
        self.positions: IndexArray = model.jnt_qposadr[self.joints].astype(np.intp)
        self.dofs: IndexArray = model.jnt_dofadr[self.joints].astype(np.intp)
        self.gears: NDArray[np.float64] = model.actuator_gear[self.actuators, 0].copy()
        self.names = tuple(_name(model.joint(j).name, "joint", j) for j in self.joints)
        self.actuator_names = tuple(
            _name(model.actuator(a).name, "actuator", a) for a in self.actuators
        )
        self._places = {name: place for place, name in enumerate(self.names)}
        self._looked_up: dict[tuple[str, ...], IndexArray] = {}

    def __len__(self) -> int:
        return len(self.names)

    def indices(self, names: Iterable[str]) -> IndexArray:
        """Return the places of joints in every joint vector; a repeated question costs little.

        Raises:
            UnknownNameError: A joint does not exist or has no actuator.
        """
        key = tuple(names)
        known = self._looked_up.get(key)
        if known is None:
            known = np.array([self.index(name) for name in key], dtype=np.intp)
            known.setflags(write=False)
            self._looked_up[key] = known
        return known

    def index(self, name: str) -> int:
        """Return the place of one joint in every joint vector.

        Raises:
            UnknownNameError: The joint does not exist or has no actuator.
        """
        place = self._places.get(name)
        if place is None:
            raise UnknownNameError("joint", name, self.names)
        return place


def camera_names(model: Any) -> tuple[str, ...]:
    """Return the names of the cameras, in the order of the model."""
    return _names(model.camera(index).name for index in range(model.ncam))


def keyframe_names(model: Any) -> tuple[str, ...]:
    """Return the names of the keyframes, in the order of the model."""
    return _names(model.key(index).name for index in range(model.nkey))


def free_joint(model: Any, root: int) -> int | None:
    """Return the free joint of a root body, or None where it is fixed to the world."""
    first = int(model.body_jntadr[root])
    if first >= 0 and model.jnt_type[first] == mujoco.mjtJoint.mjJNT_FREE:
        return first
    return None


def _driven_joints(model: Any) -> dict[int, int]:
    # As plain numbers: MuJoCo's enumerations do not compare with NumPy's integers on both sides.
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
