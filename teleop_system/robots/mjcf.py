# SPDX-License-Identifier: Apache-2.0
"""Compiles an MJCF file and lists its contents as plain values."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from teleop_system.exceptions import MissingExtraError, ModelError
from teleop_system.robots.description import Actuator

if TYPE_CHECKING:
    import mujoco

JOINT_KINDS = ("free", "ball", "slide", "hinge")  # In the order of MuJoCo's mjtJoint.


@dataclass(frozen=True, slots=True)
class MjcfBody:
    """One body in the reference pose of the file.

    Attributes:
        name: Name; empty for an unnamed one.
        parent: Index of its parent; the world is body 0.
        position: Origin in the world in [m].
        extent: Largest distance in [m] from the origin to a point of its shapes.
        radius: Radius of its largest round shape in [m]; 0 without one.
    """

    name: str
    parent: int
    position: tuple[float, float, float]
    extent: float
    radius: float


@dataclass(frozen=True, slots=True)
class MjcfJoint:
    """One joint in the reference pose of the file.

    Attributes:
        name: Name; empty for an unnamed one.
        kind: "hinge", "slide", "ball" or "free".
        body: Index of the moved body.
        axis: Axis in the world.
        lower: Smallest position in [rad] or [m]; minus infinity without a limit.
        upper: Largest position in [rad] or [m]; infinity without a limit.
        velocity: Largest speed of a velocity actuator in [rad/s] or [m/s], or None.
        effort: Largest torque in [N m] or force in [N] of its actuators, or None.
    """

    name: str
    kind: str
    body: int
    axis: tuple[float, float, float]
    lower: float
    upper: float
    velocity: float | None
    effort: float | None


@dataclass(frozen=True, slots=True)
class MjcfModel:
    """The contents of a compiled MJCF file.

    Attributes:
        path: The file.
        bodies: Bodies in the order of the file, the world first.
        joints: Joints in the order of the file.
        actuators: Actuators of hinge and slide joints, in the order of the file.
        driven: Names of the joints with an actuator, direct or through a tendon.
        sites: Body of every named site.
        cameras: Body of every named camera.
        keyframes: Joint positions of every keyframe, by name.
        mass: Total mass in [kg].
    """

    path: Path
    bodies: tuple[MjcfBody, ...]
    joints: tuple[MjcfJoint, ...]
    actuators: tuple[Actuator, ...]
    driven: tuple[str, ...]
    sites: Mapping[str, int] = field(default_factory=dict)
    cameras: Mapping[str, int] = field(default_factory=dict)
    keyframes: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    mass: float = 0.0

    def joint(self, name: str) -> MjcfJoint | None:
        """Return a joint by name, or None."""
        return next((joint for joint in self.joints if joint.name == name), None)

    def body_names(self) -> tuple[str, ...]:
        """Return the names of all named bodies except the world."""
        return tuple(body.name for body in self.bodies[1:] if body.name)

    def ancestors(self, body: int) -> Iterator[int]:
        """Yield a body and its ancestors, the world last."""
        while body != 0:
            yield body
            body = self.bodies[body].parent
        yield 0

    def subtree(self, body: int) -> tuple[int, ...]:
        """Return a body and its descendants."""
        # In the order of the file a parent precedes its children.
        inside = {body}
        for index in range(body + 1, len(self.bodies)):
            if self.bodies[index].parent in inside:
                inside.add(index)
        return tuple(sorted(inside))


def compile_mjcf(path: Path) -> "mujoco.MjModel":
    """Compile an MJCF file with MuJoCo.

    Raises:
        MissingExtraError: MuJoCo is not installed.
        ModelError: The file is missing or MuJoCo rejects it; the message is MuJoCo's.
    """
    from teleop_system.robots.mujoco_library import mujoco

    if mujoco is None:
        raise MissingExtraError("mujoco", "sim")
    if not path.is_file():
        raise ModelError("no such file", path)
    try:
        return mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        reason = " ".join(str(error).split())
        raise ModelError(f"MuJoCo cannot load the file: {reason}", path) from error


def read_mjcf(path: Path) -> MjcfModel:
    """Compile an MJCF file and list its contents.

    Raises:
        MissingExtraError: MuJoCo is not installed.
        ModelError: The file is missing or MuJoCo rejects it; the message is MuJoCo's.
    """
    model = compile_mjcf(path)
    from teleop_system.robots.mujoco_library import mujoco

    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    drives = list(_drives(model))
    names = [model.joint(index).name for index in range(model.njnt)]
    return MjcfModel(
        path,
        bodies=tuple(_body(model, data, index) for index in range(model.nbody)),
        joints=tuple(_joint(model, data, index, drives) for index in range(model.njnt)),
        actuators=tuple(
            Actuator(model.actuator(index).name, names[joints[0]], _kind(model, index))
            for index, joints in drives
        ),
        driven=tuple(
            name
            for index, name in enumerate(names)
            if any(index in joints for _, joints in drives)
        ),
        sites=_owners(model, model.nsite, model.site),
        cameras=_owners(model, model.ncam, model.camera),
        keyframes={
            model.key(index).name or f"key_{index}": _positions(model, model.key_qpos[index])
            for index in range(model.nkey)
        },
        mass=float(model.body_mass.sum()),
    )


def _drives(model: "mujoco.MjModel") -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield each actuator with its hinge and slide joints."""
    from teleop_system.robots.mujoco_library import mujoco

    direct = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
    for index in range(model.nu):
        target = int(model.actuator_trnid[index, 0])
        if model.actuator_trntype[index] in direct:
            joints: tuple[int, ...] = (target,)
        elif model.actuator_trntype[index] == int(mujoco.mjtTrn.mjTRN_TENDON):
            start = model.tendon_adr[target]
            wraps = range(start, start + model.tendon_num[target])
            joints = tuple(
                int(model.wrap_objid[wrap])
                for wrap in wraps
                if model.wrap_type[wrap] == int(mujoco.mjtWrap.mjWRAP_JOINT)
            )
        else:
            joints = ()
        joints = tuple(j for j in joints if JOINT_KINDS[model.jnt_type[j]] in ("hinge", "slide"))
        if joints:
            yield index, joints


def _kind(model: "mujoco.MjModel", actuator: int) -> str:
    """Return the meaning of an actuator's control signal, derived from its gains."""
    from teleop_system.robots.mujoco_library import mujoco

    if model.actuator_biastype[actuator] != int(mujoco.mjtBias.mjBIAS_AFFINE):
        return "effort"
    _, stiffness, damping = model.actuator_biasprm[actuator, :3]
    if stiffness != 0.0:
        return "position"
    return "velocity" if damping != 0.0 else "effort"


def _body(model: "mujoco.MjModel", data: "mujoco.MjData", index: int) -> MjcfBody:
    from teleop_system.robots.mujoco_library import mujoco

    round_types = (
        int(mujoco.mjtGeom.mjGEOM_SPHERE),
        int(mujoco.mjtGeom.mjGEOM_CYLINDER),
        int(mujoco.mjtGeom.mjGEOM_CAPSULE),
    )
    first = model.body_geomadr[index]
    geoms = range(first, first + model.body_geomnum[index]) if first >= 0 else range(0)
    extents = [math.hypot(*model.geom_pos[g]) + float(model.geom_rbound[g]) for g in geoms]
    radii = [float(model.geom_size[g, 0]) for g in geoms if model.geom_type[g] in round_types]
    return MjcfBody(
        model.body(index).name,
        int(model.body_parentid[index]),
        _triple(data.xpos[index]),
        extent=max(extents, default=0.0),
        radius=max(radii, default=0.0),
    )


def _joint(
    model: "mujoco.MjModel",
    data: "mujoco.MjData",
    index: int,
    drives: Iterable[tuple[int, tuple[int, ...]]],
) -> MjcfJoint:
    limited = bool(model.jnt_limited[index])
    actuators = [actuator for actuator, joints in drives if joints[0] == index]
    return MjcfJoint(
        model.joint(index).name,
        JOINT_KINDS[model.jnt_type[index]],
        int(model.jnt_bodyid[index]),
        _triple(data.xaxis[index]),
        lower=float(model.jnt_range[index, 0]) if limited else -math.inf,
        upper=float(model.jnt_range[index, 1]) if limited else math.inf,
        velocity=_speed(model, actuators),
        effort=_effort(model, index, actuators),
    )


def _speed(model: "mujoco.MjModel", actuators: Iterable[int]) -> float | None:
    speeds = [
        _largest(model.actuator_ctrlrange[actuator]) / abs(float(model.actuator_gear[actuator, 0]))
        for actuator in actuators
        if _kind(model, actuator) == "velocity" and model.actuator_ctrllimited[actuator]
    ]
    return min(speeds, default=None)


def _effort(model: "mujoco.MjModel", joint: int, actuators: Iterable[int]) -> float | None:
    efforts = [
        _largest(model.actuator_forcerange[actuator])
        * abs(float(model.actuator_gear[actuator, 0]))
        for actuator in actuators
        if model.actuator_forcelimited[actuator]
    ]
    if model.jnt_actfrclimited[joint]:
        efforts.append(_largest(model.jnt_actfrcrange[joint]))
    return min((effort for effort in efforts if effort > 0.0), default=None)


def _largest(values: Iterable[float]) -> float:
    return max(abs(float(value)) for value in values)


def _owners(model: "mujoco.MjModel", count: int, access: Any) -> dict[str, int]:
    """Return the body of every named site or camera."""
    items = (access(index) for index in range(count))
    return {item.name: int(item.bodyid[0]) for item in items if item.name}


def _positions(model: "mujoco.MjModel", qpos: Iterable[float]) -> dict[str, float]:
    values = list(qpos)
    return {
        model.joint(index).name: float(values[model.jnt_qposadr[index]])
        for index in range(model.njnt)
        if JOINT_KINDS[model.jnt_type[index]] in ("hinge", "slide") and model.joint(index).name
    }


def _triple(values: Iterable[float]) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in values)
    return x, y, z
