# SPDX-License-Identifier: Apache-2.0
"""Whether a robot can reach hand poses, found by a slow search.

Nonlinear least squares over all joints of arms and torso at once, with their limits and the
distances of all collision pairs, from several starts. It shares nothing with the solvers but the
model files, and knows neither velocities nor the past.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from teleop_system.interfaces import Pose6D
from teleop_system.robots import RobotDescription

Array = NDArray[np.float64]

CLEAR = 0.010
"""Distance that links have to keep in [m], as the safety manager promises."""
WITHIN = (0.005, np.radians(1.0))
"""Distance [m] and angle [rad] from a target that count as reached."""
ANGLE_WEIGHT = 0.3
"""Length [m] that counts as much as an angle of 1 rad."""
REPULSION = 10.0
"""Weight of a distance [m] below the allowed one, relative to a distance from a target."""


@dataclass(frozen=True)
class Verdict:
    """The result of the best start; distances in [m], the angle in [rad]."""

    joints: Array
    position: float
    angle: float
    clearance: float

    @property
    def is_reachable(self) -> bool:
        return self.position <= WITHIN[0] and self.angle <= WITHIN[1] and self.clearance >= CLEAR


class Reachability:
    """Searches postures of a robot; joint vectors are in the order of `joints`."""

    def __init__(self, robot: RobotDescription, joints: Sequence[str]) -> None:
        urdf = str(robot.urdf)
        full = pin.buildModelFromUrdf(urdf)
        shapes = pin.buildGeomFromUrdf(full, urdf, pin.GeometryType.COLLISION)
        locked = [full.getJointId(name) for name in full.names[1:] if name not in joints]
        rest = pin.neutral(full)
        self._model, self._shapes = pin.buildReducedModel(full, shapes, locked, rest)
        self._data = self._model.createData()
        self._add_pairs(robot)
        self._placed = self._shapes.createData()
        self._to_model = np.array([list(joints).index(n) for n in self._model.names[1:]])
        limits = [robot.limits(name) for name in self._model.names[1:]]
        self._lower = np.array([limit.lower for limit in limits])
        self._upper = np.array([limit.upper for limit in limits])
        self._frames = {
            chain.name: self._model.getFrameId(chain.end_effector)
            for chain in robot.chains.values()
            if chain.kind == "arm"
        }
        self._last: Array | None = None

    def _add_pairs(self, robot: RobotDescription) -> None:
        of_link: dict[str, list[int]] = {}
        objects = self._shapes.geometryObjects
        for index, shape in enumerate(objects):
            of_link.setdefault(self._model.frames[shape.parentFrame].name, []).append(index)
        self._shapes.removeAllCollisionPairs()
        for first, second in robot.collision_pairs:
            for a in of_link.get(first, []):
                for b in of_link.get(second, []):
                    if objects[a].parentJoint != objects[b].parentJoint:
                        self._shapes.addCollisionPair(pin.CollisionPair(a, b))

    def search(
        self, targets: Mapping[str, Pose6D], near: Array, *, starts: int = 6, seed: int = 0
    ) -> Verdict:
        """Search a posture with all hands at their targets, first near a given one."""
        random, around = np.random.default_rng(seed), near[self._to_model]
        first = [around] if self._last is None else [around, self._last]
        scattered = around + 0.6 * random.normal(size=(starts, around.size))
        best: Verdict | None = None
        for start in (*first, *scattered):
            found = self._descend(targets, start)
            if best is None or found.position < best.position:
                best = found
            if found.is_reachable:
                self._last = found.joints
                return found
        assert best is not None
        return best

    def poses(self, joints: Array) -> dict[str, Pose6D]:
        """Return the poses of the hands at joint positions [rad]."""
        pin.framesForwardKinematics(self._model, self._data, joints[self._to_model])
        frames = {name: self._data.oMf[frame] for name, frame in self._frames.items()}
        return {
            name: Pose6D(frame.translation, pin.Quaternion(frame.rotation).coeffs())
            for name, frame in frames.items()
        }

    def _descend(self, targets: Mapping[str, Pose6D], start: Array) -> Verdict:
        wanted = {
            name: (pose.position, Rotation.from_quat(pose.orientation).as_matrix())
            for name, pose in targets.items()
        }
        room = 1e-6
        found = least_squares(
            lambda x: self._residuals(x, wanted),
            np.clip(start, self._lower + room, self._upper - room),
            jac=lambda x: self._slopes(x, wanted),
            bounds=(self._lower, self._upper),
            max_nfev=60,
            xtol=1e-10,
        )
        rows = found.fun[:-1].reshape(len(wanted), 2, 3)
        away = np.linalg.norm(rows, axis=2).max(axis=0)
        self._measure(found.x)
        clearance = min(result.min_distance for result in self._placed.distanceResults)
        return Verdict(found.x, float(away[0]), float(away[1]) / ANGLE_WEIGHT, clearance)

    def _measure(self, joints: Array) -> None:
        pin.computeJointJacobians(self._model, self._data, joints)
        pin.updateFramePlacements(self._model, self._data)
        pin.updateGeometryPlacements(self._model, self._data, self._shapes, self._placed)
        pin.computeDistances(self._shapes, self._placed)

    def _residuals(self, joints: Array, wanted: Mapping[str, tuple[Array, Array]]) -> Array:
        self._measure(joints)
        rows = []
        for name, (position, rotation) in wanted.items():
            frame = self._data.oMf[self._frames[name]]
            rows += [
                frame.translation - position,
                ANGLE_WEIGHT * pin.log3(frame.rotation @ rotation.T),
            ]
        missing = sum(
            max(0.0, 1.2 * CLEAR - result.min_distance) for result in self._placed.distanceResults
        )
        return np.concatenate([*rows, [REPULSION * missing]])

    def _slopes(self, joints: Array, wanted: Mapping[str, tuple[Array, Array]]) -> Array:
        self._measure(joints)
        model, data, rows = self._model, self._data, []
        for name, (_, rotation) in wanted.items():
            frame = self._frames[name]
            jacobian = pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
            error = data.oMf[frame].rotation @ rotation.T
            rows += [jacobian[:3], ANGLE_WEIGHT * pin.Jlog3(error) @ error.T @ jacobian[3:]]
        repulsion = np.zeros(model.nv)
        for pair, result in zip(
            self._shapes.collisionPairs, self._placed.distanceResults, strict=True
        ):
            if result.min_distance < 1.2 * CLEAR:
                repulsion -= self._gradient(pair, result)
        return np.vstack([*rows, REPULSION * repulsion[None]])

    def _gradient(self, pair: pin.CollisionPair, result: pin.hppfcl.DistanceResult) -> Array:
        """Return the gradient of the distance of a pair."""
        gradient, normal = np.zeros(self._model.nv), np.array(result.normal)
        ends = (
            (-1.0, pair.first, result.getNearestPoint1()),
            (1.0, pair.second, result.getNearestPoint2()),
        )
        for sign, shape, point in ends:
            joint = self._shapes.geometryObjects[shape].parentJoint
            if joint:
                jacobian = pin.getJointJacobian(self._model, self._data, joint, pin.WORLD)
                moved = jacobian[:3] - pin.skew(np.array(point)) @ jacobian[3:]
                gradient += sign * normal @ moved
        return gradient
