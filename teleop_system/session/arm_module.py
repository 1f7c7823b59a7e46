# SPDX-License-Identifier: Apache-2.0
"""Arms and torso as a module of a session."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from teleop_system.calibration import ArmCalibration, calibrate_a_pose
from teleop_system.interfaces import IIKSolver, Pose6D, TrackerRole
from teleop_system.modules.arm_teleop.arm_controller import ArmController
from teleop_system.modules.arm_teleop.config import ArmTeleopConfig
from teleop_system.modules.arm_teleop.joint_motion import columns_of
from teleop_system.robots import RobotDescription
from teleop_system.safety import PartCommand, RobotParts
from teleop_system.session.modules import ModuleOutput, TeleopModule
from teleop_system.session.signals import Samples
from teleop_system.solvers import make_solver

if TYPE_CHECKING:
    from teleop_system.settings import SolverSettings

Array = NDArray[np.float64]

ROLES = tuple((role, role.value) for role in TrackerRole)


class ArmModule(TeleopModule):
    """Arms and torso.

    Args:
        robot: The robot.
        parts: Its parts; commands are in their joint order.
        config: Parameters of the controller.
        solver: An initialised solver that nothing else uses.
    """

    name = "arm"

    def __init__(
        self,
        robot: RobotDescription,
        parts: RobotParts,
        config: ArmTeleopConfig,
        solver: IIKSolver,
    ) -> None:
        self._controller = ArmController(config, robot, solver)
        self.rate = config.rate
        self.chains = tuple(self._controller.limbs)
        names = self._controller.joint_names
        self._commanded_columns = columns_of([parts.joints.index(joint) for joint in names])
        moved = set(names)
        self._joints = {
            name: part.joints for name, part in parts.items() if moved.issuperset(part.joints)
        }
        self._columns = {
            name: columns_of([names.index(joint) for joint in joints])
            for name, joints in self._joints.items()
        }
        self.parts = tuple(self._joints)
        self._calibration: ArmCalibration | None = None

    @override
    def reset(self, positions: Mapping[str, float]) -> None:
        self._controller.reset()

    def calibrate(self, samples: Sequence[Mapping[TrackerRole, Pose6D]]) -> ArmCalibration:
        """Calibrate from an operator in the A-pose, and return the result.

        Args:
            samples: Poses of the trackers, over about a second.

        Raises:
            InvalidPoseError: A tracker was never seen, or they lie too close together.
            UnknownNameError: The robot has no A-pose.
        """
        self.calibration = calibrate_a_pose(samples, self._controller.tools_at())
        return self.calibration

    @property
    def calibration(self) -> ArmCalibration | None:
        """The calibration that absolute mapping uses, or None."""
        return self._calibration

    @calibration.setter
    def calibration(self, calibration: ArmCalibration | None) -> None:
        self._calibration = calibration
        self._controller.calibrate(calibration)

    @override
    def update(
        self, samples: Samples, *, now: float, dt: float, engaged: bool, commanded: Array
    ) -> ModuleOutput:
        poses: dict[TrackerRole, Pose6D | None] = {
            role: pose for role, name in ROLES if isinstance(pose := samples.get(name), Pose6D)
        }
        output = self._controller.update(
            poses,
            commanded[self._commanded_columns],
            now=now,
            dt=dt,
            engaged=self.chains if engaged else (),
        )
        result = ModuleOutput(causes=output.causes)
        if output.active:
            # A limb that holds has a target too, but it is not the operator's.
            result.targets = {name: output.targets[name] for name in output.following}
            for name, columns in self._columns.items():
                stamp = output.stamps.get(name, now)
                result.commands[name] = PartCommand(output.positions[columns], stamp)
        return result


def solver_for(robot: RobotDescription, settings: "SolverSettings") -> IIKSolver:
    """Return the solver of the settings for the arms and the torso of a robot.

    Raises:
        TeleopError: There is no such solver, or its library is missing.
    """
    return make_solver(robot, settings.name, weights=settings.chains, **settings.options())
