# SPDX-License-Identifier: Apache-2.0
"""Distances between links computed by MuJoCo, independently of the code under test.

The shapes are read from the robot's URDF and put onto the bodies of its MJCF, which agree in
their kinematics.
"""

import xml.etree.ElementTree as ET
from collections.abc import Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from teleop_system.robots.description import RobotDescription

FAR = 3.0
"""Distances beyond this are all alike [m]."""


class MujocoDistances:
    """The smallest distances of a robot's collision pairs."""

    def __init__(self, robot: RobotDescription, joints: Sequence[str]) -> None:
        assert robot.urdf is not None
        spec = mujoco.MjSpec.from_file(str(robot.mjcf))
        wanted = {link for pair in robot.collision_pairs for link in pair}
        count: dict[str, int] = {}
        for link in ET.parse(robot.urdf).getroot().iter("link"):
            name = link.get("name", "")
            body = spec.body(name)
            if name in wanted and body is not None:
                capsules = {c.get("name") for c in link.iterfind("collision_checking/capsule")}
                for shape in link.iterfind("collision"):
                    _add(body, shape, f"{name}#{count.get(name, 0)}", capsules)
                    count[name] = count.get(name, 0) + 1
        self._model = spec.compile()
        self._data = mujoco.MjData(self._model)
        self._qpos = [self._model.joint(joint).qposadr[0] for joint in joints]
        ids = {
            name: [self._model.geom(f"{name}#{i}").id for i in range(number)]
            for name, number in count.items()
        }
        self.pairs = [pair for pair in robot.collision_pairs if all(p in ids for p in pair)]
        self._geoms = [[(g, h) for g in ids[one] for h in ids[two]] for one, two in self.pairs]

    def least(self, positions: NDArray[np.float64]) -> tuple[float, tuple[str, str]]:
        """Return the smallest distance [m] at joint positions [rad], and its pair of links."""
        distances = self.all(positions)
        nearest = int(np.argmin(distances))
        return float(distances[nearest]), self.pairs[nearest]

    def all(self, positions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the distance of every pair [m] at joint positions [rad]."""
        model, data = self._model, self._data
        data.qpos[self._qpos] = positions
        mujoco.mj_kinematics(model, data)
        return np.array(
            [
                min(mujoco.mj_geomDistance(model, data, g, h, FAR, None) for g, h in geoms)
                for geoms in self._geoms
            ]
        )


def _add(body: object, shape: ET.Element, name: str, capsules: set[str | None]) -> None:
    origin = shape.find("origin")
    geometry = shape.find("geometry")
    assert origin is not None and geometry is not None
    position = [float(x) for x in origin.get("xyz", "0 0 0").split()]
    roll, pitch, yaw = (float(x) for x in origin.get("rpy", "0 0 0").split())
    quaternion = np.zeros(4)
    # URDF angles are rotations about fixed axes, the x axis first.
    mujoco.mju_euler2Quat(quaternion, [roll, pitch, yaw], "XYZ")
    box, cylinder = geometry.find("box"), geometry.find("cylinder")
    if box is not None:
        kind = mujoco.mjtGeom.mjGEOM_BOX
        size = [0.5 * float(x) for x in box.get("size", "").split()]
    else:
        assert cylinder is not None
        is_capsule = shape.get("name") in capsules
        kind = mujoco.mjtGeom.mjGEOM_CAPSULE if is_capsule else mujoco.mjtGeom.mjGEOM_CYLINDER
        size = [float(cylinder.get("radius", "")), 0.5 * float(cylinder.get("length", "")), 0.0]
    body.add_geom(name=name, type=kind, pos=position, quat=quaternion, size=size)  # type: ignore[attr-defined]
