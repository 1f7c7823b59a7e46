# SPDX-License-Identifier: Apache-2.0
"""An RB-Y1 with an arm controller, a computed operator, and helpers of the tests."""

import functools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from teleop_system.calibration import ArmCalibration
from teleop_system.interfaces import IIKSolver, IKResult, Pose6D, TrackerRole
from teleop_system.interfaces.causes import Rule
from teleop_system.modules.arm_teleop import ArmController, ArmOutput, ArmTeleopConfig
from teleop_system.robots import RobotDescription, load_robot
from teleop_system.solvers import ChainConfig, make_solver
from teleop_system.utils.transforms import quat_exp

Array = NDArray[np.float64]
Poses = dict[TrackerRole, Pose6D]

DT = 0.01
ALL = ("right_arm", "left_arm", "torso")
RIGHT, LEFT, WAIST = TrackerRole.RIGHT_HAND, TrackerRole.LEFT_HAND, TrackerRole.WAIST
UNIT = (0.0, 0.0, 0.0, 1.0)
POSITIONS = {RIGHT: (0.4, -0.3, 1.0), LEFT: (0.4, 0.3, 1.0), WAIST: (0.0, 0.0, 0.9)}


@functools.cache
def robot() -> RobotDescription:
    return load_robot("rby1")


def fresh_solver() -> IIKSolver:
    """Return a solver with the weights of `config/teleop/arm.yaml`."""
    weights = {"arm": (1.0, 0.5), "torso": (0.3, 0.2)}
    chains = sorted(robot().chains.values(), key=lambda chain: chain.kind)
    configs = {c.name: ChainConfig(c.end_effector, *weights[c.kind]) for c in chains}
    return make_solver(robot(), chains=configs, adaptive_damping=1.0)


@functools.cache
def solver() -> IIKSolver:
    """The one solver of a test run; every new controller resets it."""
    return fresh_solver()


def ready(names: tuple[str, ...] | list[str]) -> Array:
    pose = robot().pose("ready")
    return np.array([pose[name] for name in names])


class StillSolver(IIKSolver):
    """Moves nothing, for tests of targets alone."""

    @override
    def initialize(self, urdf_path: str, **kwargs: Any) -> bool:
        return True

    @override
    def solve(self, target_pose: Pose6D, current_joints: Array, dt: float = 0.01) -> IKResult:
        return IKResult(current_joints, True, 0.0, 0.0)

    @override
    def solve_multi(
        self, target_poses: dict[str, Pose6D], current_joints: Array, dt: float = 0.01
    ) -> IKResult:
        return IKResult(current_joints, True, 0.0, 0.0)

    @override
    def get_joint_names(self) -> list[str]:
        return [joint for chain in robot().chains.values() for joint in chain.joints]

    @override
    def get_joint_count(self) -> int:
        return len(self.get_joint_names())

    @override
    def set_posture_target(self, posture: Array) -> None:
        assert np.isfinite(posture).all()


def pose(
    role: TrackerRole,
    time: float,
    offset: object = (0.0, 0.0, 0.0),
    rotation: object = (0.0, 0.0, 0.0),
    yaw: float = 0.0,
) -> Pose6D:
    """Return a tracker moved and rotated from its reference, in a room rotated by `yaw`."""
    position = np.array(POSITIONS[role]) + np.asarray(offset, dtype=np.float64)
    c, s = math.cos(yaw), math.sin(yaw)
    position = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ position
    x, y, z, w = quat_exp(np.asarray(rotation, dtype=np.float64)).tolist()
    a, b = math.sin(0.5 * yaw), math.cos(0.5 * yaw)
    orientation = (b * x - a * y, b * y + a * x, b * z + a * w, b * w - a * z)
    return Pose6D(position, np.array(orientation), time)


class Rig:
    """A controller that is ticked; its commands are its measured joints."""

    def __init__(
        self,
        config: ArmTeleopConfig | None = None,
        *,
        real: bool | IIKSolver = False,
        calibration: ArmCalibration | None = None,
    ) -> None:
        part: IIKSolver = StillSolver() if real is False else solver() if real is True else real
        self.controller = ArmController(config or ArmTeleopConfig(), robot(), part, calibration)
        self.joints = ready(self.controller.joint_names)
        self.now = 0.0

    def tick(
        self,
        poses: Mapping[TrackerRole, Pose6D | None],
        engaged: object = ALL,
        *,
        dt: float = DT,
        frame: str = "ros",
    ) -> ArmOutput:
        """Run one tick, then advance time."""
        output = self.controller.update(
            poses,
            self.joints,
            now=self.now,
            dt=dt,
            engaged=engaged,  # type: ignore[arg-type]
            frame=frame,
        )
        assert np.isfinite(output.positions).all()
        self.joints = output.positions
        self.now += DT
        return output

    def rest(self, ticks: int = 1, engaged: object = ALL, **offsets: Any) -> ArmOutput:
        """Hold all trackers still for some ticks."""
        for _ in range(ticks):
            output = self.tick(self.poses(**offsets), engaged)
        return output

    def glide(self, ticks: int, engaged: object = ALL, **offsets: Any) -> ArmOutput:
        """Move trackers evenly from their references to an offset."""
        for k in range(1, ticks + 1):
            part: dict[str, Any] = {
                name: np.asarray(value) * (k / ticks) for name, value in offsets.items()
            }
            output = self.tick(self.poses(**part), engaged)
        return output

    def poses(self, yaw: float = 0.0, **offsets: Any) -> Poses:
        """Return all trackers now; `right=`, `left=` and `waist=` move one from its reference."""
        named = {"right": RIGHT, "left": LEFT, "waist": WAIST}
        return {
            role: pose(role, self.now, offsets.get(name, (0.0, 0.0, 0.0)), yaw=yaw)
            for name, role in named.items()
        }


def rules(output: ArmOutput, subject: str | None = None) -> set[Rule]:
    return {c.rule for c in output.causes if subject is None or c.subject == subject}


def step_between(a: ArmOutput, b: ArmOutput, chain: str) -> float:
    """Return how far a target moved from one output to the next in [m]."""
    return float(np.linalg.norm(b.targets[chain].position - a.targets[chain].position))
