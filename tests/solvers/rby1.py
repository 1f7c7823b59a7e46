# SPDX-License-Identifier: Apache-2.0
"""The RB-Y1 for the solver tests: figures of its data sheet, targets, and oracles.

Nothing in here uses the solvers' own limits, kinematics or distances.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from teleop_system.interfaces import IIKSolver, Pose6D
from teleop_system.solvers import ChainConfig

Array = NDArray[np.float64]

URDF = str(Path(__file__).parents[2] / "models" / "rby1" / "rby1.urdf")
MJCF = str(Path(__file__).parents[2] / "models" / "rby1" / "model_teleop.xml")
DT = 0.01
FULL = os.environ.get("TELEOP_FULL") == "1"

TORSO = tuple(f"torso_{i}" for i in range(6))
RIGHT = tuple(f"right_arm_{i}" for i in range(7))
LEFT = tuple(f"left_arm_{i}" for i in range(7))
JOINTS = (*TORSO, *RIGHT, *LEFT)
FRAMES = {"right_arm": "ee_right", "left_arm": "ee_left", "torso": "link_torso_5"}

_ARM = np.deg2rad([[-180, 180], [-180, 1], [-180, 180], [-150, 1], [-180, 180], [-90, 110]])
_WRIST = np.deg2rad([[-155, 155]])
_TORSO = np.deg2rad([[-15, 15], [-30, 90], [-150, 90], [-45, 90], [-30, 30], [-135, 135]])
_LEFT_ARM = _ARM.copy()
_LEFT_ARM[1] = np.deg2rad([-1, 180])
_RANGES = np.vstack([_TORSO, _ARM, _WRIST, _LEFT_ARM, _WRIST])
LOWER, UPPER = _RANGES.T
_ARM_SPEED = [3.141592654] * 4 + [6.283185308] * 2 + [2.094395102]
SPEED = np.array([2.0943951] * 3 + [3.141592654] * 3 + _ARM_SPEED * 2)
ACCELERATION = np.array([5.0] * 6 + [10.0] * 14)

READY_POSE = {
    "torso_1": 0.785398, "torso_2": -1.570796, "torso_3": 0.785398,
    "right_arm_1": -0.087266, "right_arm_3": -2.094395, "right_arm_5": 1.221730,
    "left_arm_1": 0.087266, "left_arm_3": -2.094395, "left_arm_5": 1.221730,
}  # fmt: skip
READY = np.array([READY_POSE.get(name, 0.0) for name in JOINTS])

_TRUNK = tuple(f"link_torso_{i}" for i in (1, 2, 4, 5))
_SIDES = ("right", "left")
PAIRS = (
    *((f"link_{side}_arm_{i}", link) for side in _SIDES for i in (3, 4, 5) for link in _TRUNK),
    *((f"link_{side}_arm_5", "link_torso_0") for side in _SIDES),
    *((f"link_left_arm_{i}", f"link_right_arm_{j}") for i in (1, 2) for j in (4, 5)),
    *(("link_left_arm_3", f"link_right_arm_{j}") for j in (3, 4, 5)),
    *((f"link_left_arm_{i}", f"link_right_arm_{j}") for i in (4, 5) for j in range(1, 6)),
)
"""The vendor's 43 pairs."""


def options(**changes: Any) -> dict[str, Any]:
    """Return the options of a whole-body solver, with changes."""
    chains = {name: ChainConfig(frame) for name, frame in FRAMES.items()}
    accelerations = dict(zip(JOINTS, ACCELERATION.tolist(), strict=True))
    base = {
        "chains": chains,
        "joint_names": JOINTS,
        "reference_posture": READY_POSE,
        "acceleration_limits": accelerations,
        "collision_pairs": PAIRS,
    }
    return base | changes


def create(solver_class: type[IIKSolver], **changes: Any) -> Any:
    """Return a whole-body solver, initialised."""
    solver = solver_class()
    assert solver.initialize(URDF, **options(**changes))
    return solver


class Oracle:
    """Forward kinematics and distances by Pinocchio and coal, joints by name."""

    def __init__(self) -> None:
        full = pin.buildModelFromUrdf(URDF)
        shapes = pin.buildGeomFromUrdf(full, URDF, pin.GeometryType.COLLISION)
        locked = [full.getJointId(name) for name in full.names[1:] if name not in JOINTS]
        self.model, self.shapes = pin.buildReducedModel(full, shapes, locked, pin.neutral(full))
        self._data = self.model.createData()
        self._order = [JOINTS.index(name) for name in self.model.names[1:]]
        of_link: dict[str, list[int]] = {}
        for index, shape in enumerate(self.shapes.geometryObjects):
            of_link.setdefault(self.model.frames[shape.parentFrame].name, []).append(index)
        for first, second in PAIRS:
            for a in of_link[first]:
                for b in of_link[second]:
                    self.shapes.addCollisionPair(pin.CollisionPair(a, b))
        self._placed = self.shapes.createData()

    def poses(self, joints: Array) -> dict[str, Pose6D]:
        """Return the pose of every chain's frame."""
        pin.framesForwardKinematics(self.model, self._data, joints[self._order])
        placements = {
            name: self._data.oMf[self.model.getFrameId(frame)] for name, frame in FRAMES.items()
        }
        return {
            name: Pose6D(placement.translation, pin.Quaternion(placement.rotation).coeffs())
            for name, placement in placements.items()
        }

    def distance(self, joints: Array) -> float:
        """Return the smallest distance of all pairs [m]."""
        pin.updateGeometryPlacements(
            self.model, self._data, self.shapes, self._placed, joints[self._order]
        )
        pin.computeDistances(self.shapes, self._placed)
        return min(result.min_distance for result in self._placed.distanceResults)


def errors(poses: dict[str, Pose6D], targets: dict[str, Pose6D]) -> tuple[float, float]:
    """Return the largest distance [m] and angle [rad] between poses and targets."""
    distance = angle = 0.0
    for name, target in targets.items():
        distance = max(distance, float(np.linalg.norm(poses[name].position - target.position)))
        cosine = min(1.0, abs(float(poses[name].orientation @ target.orientation)))
        # The arc cosine is inaccurate near 1; the chord is not.
        chord = np.sqrt(max(0.0, 2.0 - 2.0 * cosine))
        angle = max(angle, 4.0 * float(np.arcsin(min(1.0, chord / 2.0))))
    return distance, angle


def smooth_targets(
    oracle: Oracle, ticks: int, *, seed: int = 0, reach: float = 0.2
) -> list[dict[str, Pose6D]]:
    """Return reachable targets of sinusoidal joint motion that begins at rest in READY."""
    random = np.random.default_rng(seed)
    phase, size = random.uniform(0.0, 2.0 * np.pi, 20), random.uniform(0.05, reach, 20)
    pace = 2.0 * np.pi * random.uniform(0.1, 0.25, 20)
    targets = []
    for tick in range(1, ticks + 1):
        time = tick * DT
        begin = min(time / 2.0, 1.0)
        share = begin**3 * (10.0 - 15.0 * begin + 6.0 * begin**2)
        swing = size * (np.sin(pace * time + phase) - np.sin(phase))
        joints = np.clip(READY + share * swing, LOWER + 0.05, UPPER - 0.05)
        targets.append(oracle.poses(joints))
    return targets


def hostile_targets(oracle: Oracle, ticks: int, *, seed: int = 0) -> list[dict[str, Pose6D]]:
    """Return targets that jump: far, flipping, through the body, at full stretch."""
    random = np.random.default_rng(seed)
    ready = oracle.poses(READY)
    targets: list[dict[str, Pose6D]] = []
    current = ready
    for _ in range(ticks):
        if random.random() < 0.05:
            kind = random.integers(6)
            current = {name: _hostile(kind, pose, random) for name, pose in ready.items()}
            if random.random() < 0.2:
                del current["torso"]
        if random.random() < 0.1:  # The same rotation, written with the other sign.
            current = {
                name: Pose6D(pose.position, -pose.orientation) for name, pose in current.items()
            }
        targets.append(current)
    return targets


def _hostile(kind: int, pose: Pose6D, random: np.random.Generator) -> Pose6D:
    orientation = random.normal(size=4)
    orientation /= np.linalg.norm(orientation)
    upright = np.array([0.0, 0.0, 0.0, 1.0])
    middle = np.array([0.0, 0.0, 0.9])
    if kind == 0:
        return Pose6D(random.normal(size=3) * 10.0 ** random.integers(0, 7), orientation)
    if kind == 1:
        return Pose6D(pose.position + 0.3 * random.normal(size=3), orientation)
    if kind == 2:
        return Pose6D(middle + random.uniform(-0.5, 0.5, 3), orientation)
    if kind == 3:  # Rotated by exactly 180 degrees, where the shortest rotation is not unique.
        return Pose6D(pose.position, upright if random.random() < 0.5 else upright[::-1].copy())
    if kind == 4:
        return Pose6D(middle + 0.05 * random.normal(size=3), orientation)
    return Pose6D(
        np.array([0.0, np.sign(pose.position[1]) * 0.22, random.uniform(0.5, 2.5)]), upright
    )
