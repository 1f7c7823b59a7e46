# SPDX-License-Identifier: Apache-2.0
"""A Pinocchio model of an MJCF file.

Pinocchio's own MJCF parser supports neither `<include>` nor several defaults, so MuJoCo compiles
the file, and the tree is built from the result. A free root joint is left out: its body is the
origin, like the root link of a URDF.
"""

from pathlib import Path
from typing import Any

import coal
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from teleop_system.exceptions import ModelError
from teleop_system.robots.mjcf import compile_mjcf

FREE, BALL, SLIDE, HINGE = range(4)  # MuJoCo's mjtJoint.
SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = range(2, 8)  # MuJoCo's mjtGeom.


def build_from_mjcf(path: Path) -> tuple[Any, Any]:
    """Return the Pinocchio model of an MJCF file and its collision geometry.

    Raises:
        ModelError: The file is missing or broken, or has a joint other than hinges and slides.
        MissingExtraError: MuJoCo is not installed.
    """
    tree = _Tree(compile_mjcf(path), path)
    return tree.model, tree.geometry


class _Tree:
    """The model under construction."""

    def __init__(self, source: Any, path: Path) -> None:
        self.model = pin.Model()
        self.geometry = pin.GeometryModel()
        self._source = source
        self._path = path
        # For each MuJoCo body: Pinocchio's joint, the body's placement on it, and its frame.
        self._bodies: list[tuple[int, Any, int]] = [(0, pin.SE3.Identity(), 0)]
        for body in range(1, source.nbody):
            self._add_body(body)
        for site in range(source.nsite):
            joint, placement, frame = self._bodies[source.site_bodyid[site]]
            offset = _transform(source.site_pos[site], source.site_quat[site])
            self._add_frame(source.site(site).name, joint, frame, placement * offset)
        for geom in range(source.ngeom):
            self._add_shape(geom)

    def _add_body(self, body: int) -> None:
        source = self._source
        joint, placement, frame = self._bodies[source.body_parentid[body]]
        placement = placement * _transform(source.body_pos[body], source.body_quat[body])
        first = source.body_jntadr[body]
        for index in range(first, first + source.body_jntnum[body]):
            if source.jnt_type[index] == FREE:
                placement = pin.SE3.Identity()
            else:
                joint, placement = self._add_joint(index, joint, placement)
        name = source.body(body).name
        frame = self._add_frame(name, joint, frame, placement, pin.FrameType.BODY)
        self._bodies.append((joint, placement, frame))

    def _add_joint(self, index: int, parent: int, placement: Any) -> tuple[int, Any]:
        source = self._source
        kind, axis = source.jnt_type[index], source.jnt_axis[index].copy()
        name = source.joint(index).name or f"joint_{index}"
        if kind == BALL:
            raise ModelError(f"joint {name!r} is a ball joint; hinges and slides can be solved")
        anchor = pin.SE3(np.eye(3), source.jnt_pos[index].copy())
        at_zero = _moved(kind, axis, -float(source.qpos0[source.jnt_qposadr[index]]))
        made = (
            pin.JointModelRevoluteUnaligned(axis)
            if kind == HINGE
            else pin.JointModelPrismaticUnaligned(axis)
        )
        low, high = source.jnt_range[index] if source.jnt_limited[index] else (-np.inf, np.inf)
        unlimited = np.full(1, np.inf)
        joint = self.model.addJoint(
            parent, made, placement * anchor * at_zero, name, unlimited, unlimited,
            np.full(1, low), np.full(1, high),
        )  # fmt: skip
        self.model.addJointFrame(joint)
        return joint, anchor.inverse()

    def _add_frame(
        self, name: str, joint: int, parent: int, placement: Any, kind: Any = None
    ) -> int:
        if not name:
            return parent
        kind = pin.FrameType.OP_FRAME if kind is None else kind
        return int(self.model.addFrame(pin.Frame(name, joint, parent, placement, kind)))

    def _add_shape(self, geom: int) -> None:
        source = self._source
        if not (source.geom_contype[geom] or source.geom_conaffinity[geom]):
            return
        shape, offset = _shape(source, geom)
        if shape is None:
            return
        joint, placement, frame = self._bodies[source.geom_bodyid[geom]]
        on_body = _transform(source.geom_pos[geom], source.geom_quat[geom]) * offset
        name = source.geom(geom).name or f"geom_{geom}"
        self.geometry.addGeometryObject(
            pin.GeometryObject(name, joint, frame, placement * on_body, shape)
        )


def _shape(source: Any, geom: int) -> tuple[Any, Any]:
    kind, size, centred = source.geom_type[geom], source.geom_size[geom], pin.SE3.Identity()
    if kind == SPHERE:
        return coal.Sphere(size[0]), centred
    if kind == CAPSULE:
        return coal.Capsule(size[0], 2.0 * size[1]), centred
    if kind == CYLINDER:
        return coal.Cylinder(size[0], 2.0 * size[1]), centred
    if kind == BOX:
        return coal.Box(*(2.0 * size)), centred
    if kind in (ELLIPSOID, MESH):
        # The bounding box: a little larger than the shape, never smaller.
        centre, half = source.geom_aabb[geom][:3], source.geom_aabb[geom][3:]
        return coal.Box(*(2.0 * half)), pin.SE3(np.eye(3), centre.copy())
    return None, centred


def _transform(position: NDArray[np.float64], wxyz: NDArray[np.float64]) -> Any:
    w, x, y, z = wxyz
    return pin.SE3(pin.Quaternion(w, x, y, z).normalized().matrix(), np.array(position))


def _moved(kind: int, axis: NDArray[np.float64], by: float) -> Any:
    if kind == HINGE:
        return pin.SE3(pin.exp3(axis * by), np.zeros(3))
    return pin.SE3(np.eye(3), axis * by)
