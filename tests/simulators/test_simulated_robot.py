# SPDX-License-Identifier: Apache-2.0
"""Simulated arms, hands and bases keep the promises of their interfaces, and move."""

from collections.abc import Iterator

import numpy as np
import pytest

from teleop_system.exceptions import UnknownNameError
from teleop_system.interfaces import ArmSide
from teleop_system.robots import load_robot
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
from teleop_system.simulators.simulated_robot import SimulatedRobot
from teleop_system.simulators.simulated_slaves import (
    SimulatedMobileBase,
    SimulatedSlaveArm,
    SimulatedSlaveHand,
)
from teleop_system.testing import MobileBaseSuite, SlaveArmSuite, SlaveHandSuite

RBY1 = load_robot("rby1")


def simulate() -> MuJoCoSimulator:
    simulator = MuJoCoSimulator()
    simulator.initialize(
        {
            "mjcf_path": str(RBY1.mjcf),
            "scene": "floor",
            "initial_pose": dict(RBY1.pose("ready")),
            "base": RBY1.base,
            "render": False,
        }
    )
    return simulator


@pytest.fixture(scope="module")
def simulator() -> Iterator[MuJoCoSimulator]:
    simulator = simulate()
    yield simulator
    simulator.shutdown()


@pytest.fixture
def robot(simulator: MuJoCoSimulator) -> SimulatedRobot:
    simulator.reset()
    return SimulatedRobot(simulator)


class _OnOneRobot:
    """Provides the suites with a robot for their parts, as they use no fixtures."""

    robot: SimulatedRobot

    @pytest.fixture(autouse=True)
    def _take_robot(self, robot: SimulatedRobot) -> None:
        self.robot = robot


class TestSimulatedArm(_OnOneRobot, SlaveArmSuite):
    def create(self) -> SimulatedSlaveArm:
        return SimulatedSlaveArm(self.robot, RBY1.chains["left_arm"].joints, ArmSide.LEFT)


class TestSimulatedTorso(_OnOneRobot, SlaveArmSuite):
    def create(self) -> SimulatedSlaveArm:
        return SimulatedSlaveArm(self.robot, RBY1.chains["torso"].joints, ArmSide.TORSO)


class TestSimulatedGrasp(_OnOneRobot, SlaveHandSuite):
    def create(self) -> SimulatedSlaveHand:
        return SimulatedSlaveHand(self.robot, RBY1.hands["right"].joints, "right")


class TestSimulatedBase(_OnOneRobot, MobileBaseSuite):
    def create(self) -> SimulatedMobileBase:
        return SimulatedMobileBase(self.robot)


def test_two_arms_move_to_their_own_commands_at_once(robot: SimulatedRobot) -> None:
    arms = [
        SimulatedSlaveArm(robot, RBY1.chains[f"{side.value}_arm"].joints, side)
        for side in (ArmSide.LEFT, ArmSide.RIGHT)
    ]
    wanted = []
    for arm, step in zip(arms, (0.1, -0.1), strict=True):
        arm.initialize()
        wanted.append(arm.get_joint_state().positions + step)
        arm.send_joint_command(wanted[-1])
    robot.advance(robot.simulator.get_time() + 1.0, 1.0)
    for arm, positions in zip(arms, wanted, strict=True):
        # The drives of the model hold a load to within a few milliradians.
        np.testing.assert_allclose(arm.get_joint_state().positions, positions, atol=0.01)


def test_joints_without_commands_hold_their_position(robot: SimulatedRobot) -> None:
    torso = SimulatedSlaveArm(robot, RBY1.chains["torso"].joints, ArmSide.TORSO)
    before = torso.get_joint_state().positions
    gripper = SimulatedSlaveHand(robot, RBY1.hands["left"].joints, "left")
    gripper.initialize()
    gripper.send_joint_command(np.array(RBY1.hands["left"].closed))
    robot.advance(robot.simulator.get_time() + 1.0, 1.0)
    np.testing.assert_allclose(torso.get_joint_state().positions, before, atol=0.01)
    np.testing.assert_allclose(gripper.get_joint_state().positions, [0.0], atol=0.005)


def test_a_state_is_stamped_with_simulated_time(robot: SimulatedRobot) -> None:
    arm = SimulatedSlaveArm(robot, RBY1.chains["left_arm"].joints, ArmSide.LEFT)
    robot.advance(robot.simulator.get_time() + 0.25, 0.25)
    assert arm.get_joint_state().timestamp == pytest.approx(0.25)


def test_a_disconnected_part_holds_its_last_command(robot: SimulatedRobot) -> None:
    arm = SimulatedSlaveArm(robot, RBY1.chains["left_arm"].joints, ArmSide.LEFT)
    arm.initialize()
    wanted = arm.get_joint_state().positions + 0.1
    arm.send_joint_command(wanted)
    arm.shutdown()
    robot.advance(robot.simulator.get_time() + 1.0, 1.0)
    np.testing.assert_allclose(arm.get_joint_state().positions, wanted, atol=0.01)


def test_odometry_starts_at_zero_when_the_base_is_initialised(robot: SimulatedRobot) -> None:
    base = SimulatedMobileBase(robot)
    base.initialize()
    for _ in range(100):
        base.send_velocity(0.2, 0.0, 0.0)
        robot.advance(robot.simulator.get_time() + 0.02, 0.02)
    position, orientation = base.get_odometry()
    # Two seconds at 0.2 m/s, less the distance lost while accelerating.
    np.testing.assert_allclose(position[:2], [0.4, 0.0], atol=0.03)
    np.testing.assert_allclose(orientation, [0.0, 0.0, 0.0, 1.0], atol=0.02)


def test_a_base_stops_when_its_commands_end(robot: SimulatedRobot) -> None:
    base = SimulatedMobileBase(robot)
    base.initialize()
    for _ in range(50):
        base.send_velocity(0.3, 0.0, 0.0)
        robot.advance(robot.simulator.get_time() + 0.02, 0.02)
    for _ in range(50):
        robot.advance(robot.simulator.get_time() + 0.02, 0.02)
    stopped = base.get_odometry()[0]
    for _ in range(25):
        robot.advance(robot.simulator.get_time() + 0.02, 0.02)
    np.testing.assert_allclose(base.get_odometry()[0], stopped, atol=1e-3)


def test_a_joint_missing_in_the_simulator_is_reported(robot: SimulatedRobot) -> None:
    with pytest.raises(UnknownNameError, match="left_arm_9"):
        SimulatedSlaveArm(robot, ["left_arm_9"], ArmSide.LEFT)
