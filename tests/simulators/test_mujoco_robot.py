# SPDX-License-Identifier: Apache-2.0
"""A MuJoCo robot behind a robot side, controlled between two half steps, in three modes."""

from collections.abc import Iterator

import numpy as np
import pytest

from teleop_system.exceptions import UnknownNameError
from teleop_system.robot_side.drive import simulated_drive
from teleop_system.robot_side.requests import Requests
from teleop_system.robot_side.robot_side import RobotSide
from teleop_system.safety import PartCommand, RobotParts
from teleop_system.session.build import make_simulator
from teleop_system.simulators.mujoco_robot import FEED_FORWARD_SHARE, MODES, MuJoCoRobot
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
from tests.robot_side.robot_sides import rby1
from tests.session.sessions import settings_with

ARM, ELBOW = "right_arm", "right_arm_3"
CYCLE = 5


class Rig:
    """A driven robot that an operator commands."""

    def __init__(self, simulator: MuJoCoSimulator, mode: str) -> None:
        self.simulator = simulator
        simulator.reset()
        self.simulated = MuJoCoRobot(simulator, rby1(), RobotParts(rby1()).joints)
        self.simulated.set_mode(mode)
        self.drive = simulated_drive(rby1(), self.simulated)
        settings = settings_with()
        self.robot_side = RobotSide(rby1(), self.drive, settings.session, settings.safety)
        self.now = 10.0
        self.offset = self.push = 0.0
        self.stopped = False

    def run(self, seconds: float) -> list[float]:
        """Run cycles; return the position of the elbow after each one [rad]."""
        found = []
        for _ in range(round(seconds * 100)):
            self.now += 0.01
            self.simulated.cycle(self.now, CYCLE, self._control)
            found.append(self.elbow())
        return found

    def push_arm(self, stamp: float) -> None:
        """Add an effort at the elbow to the command of a stamp."""
        joints = self.robot_side.safety.parts[ARM].joints
        efforts = np.array([self.push if joint == ELBOW else 0.0 for joint in joints])
        self.drive.add_efforts(ARM, stamp, efforts)

    def elbow(self) -> float:
        positions = np.empty(len(self.simulator.get_joint_names()))
        self.simulator.read_joint_positions(positions)
        return float(positions[self.simulator.joint_indices([ELBOW])[0]])

    def _control(self) -> None:
        home = rby1().pose(rby1().initial_pose)
        commands = {
            name: PartCommand(
                [home[j] + (self.offset if j == ELBOW else 0.0) for j in part.joints], self.now
            )
            for name, part in self.robot_side.safety.parts.items()
        }
        if self.push:
            self.push_arm(self.now)
        ready = self.robot_side.status.state.value == "ready"
        requests = Requests(engage=ready, estop=self.stopped)
        self.robot_side.step(self.now, commands, None, requests, inputs_fresh=True)


@pytest.fixture(scope="module")
def simulator() -> Iterator[MuJoCoSimulator]:
    made = make_simulator(settings_with())
    assert isinstance(made, MuJoCoSimulator)
    yield made
    made.shutdown()


@pytest.mark.parametrize("mode", MODES)
def test_the_robot_reaches_its_command_in_every_mode(
    simulator: MuJoCoSimulator, mode: str
) -> None:
    rig = Rig(simulator, mode)
    start = rig.elbow()
    rig.run(0.5)
    assert rig.elbow() == pytest.approx(start, abs=0.01)
    rig.offset = 0.3
    positions = np.array(rig.run(3.0))
    assert positions[-1] == pytest.approx(start + 0.3, abs=0.02)
    limit = rby1().limits(ELBOW).velocity
    assert np.abs(np.diff(positions)).max() * 100.0 < 1.2 * limit


@pytest.mark.parametrize("mode", MODES)
def test_a_change_of_mode_does_not_move_the_robot(simulator: MuJoCoSimulator, mode: str) -> None:
    rig = Rig(simulator, MODES[0])
    before = rig.run(0.5)[-1]
    rig.simulated.set_mode(mode)
    positions = rig.run(0.5)
    assert max(abs(position - before) for position in positions) < 0.01


def test_an_unknown_mode_is_refused_with_the_valid_ones(simulator: MuJoCoSimulator) -> None:
    with pytest.raises(UnknownNameError, match="effort"):
        Rig(simulator, "position").simulated.set_mode("magic")


def test_an_effort_command_is_limited_to_its_share(simulator: MuJoCoSimulator) -> None:
    rig = Rig(simulator, "effort")
    before = rig.run(1.0)[-1]
    column = rig.drive.joints.index(ELBOW)
    rig.push = 1e6
    pushed = rig.run(2.0)[-1] - before
    gains = rig.simulated.gains
    allowed = FEED_FORWARD_SHARE * gains.effort[column] / gains.p[column]
    # The weight of the arm still moves it a little towards its resting position, too.
    assert 0.0 < pushed <= allowed + 5e-4


def test_efforts_act_only_while_their_own_command_is_followed(
    simulator: MuJoCoSimulator,
) -> None:
    rig = Rig(simulator, "effort")
    rig.push = 1e6
    rig.run(1.0)
    assert rig.simulated.feed_forward.any()
    rig.stopped = True
    rig.run(0.02)
    assert not rig.simulated.feed_forward.any(), "neither old nor new efforts act during a stop"


@pytest.mark.parametrize("stamp", [0.0, 1e6])
def test_efforts_of_a_command_that_is_not_followed_do_not_act(
    simulator: MuJoCoSimulator, stamp: float
) -> None:
    rig = Rig(simulator, "effort")
    rig.run(0.5)
    rig.push = 1e6
    rig.push_arm(stamp)
    rig.push = 0.0
    rig.run(0.02)
    assert not rig.simulated.feed_forward.any()


def test_a_refused_mode_does_not_change_the_gains(simulator: MuJoCoSimulator) -> None:
    robot = Rig(simulator, "effort").simulated
    before = robot.gains
    with pytest.raises(UnknownNameError, match="magic"):
        robot.set_mode("magic", before.changed(p=[0.0]))
    assert robot.gains is before


def test_a_reset_keeps_the_mode_and_drops_the_commands(simulator: MuJoCoSimulator) -> None:
    rig = Rig(simulator, "effort")
    start = rig.elbow()
    rig.offset = 0.3
    rig.run(2.0)
    simulator.reset()
    rig.simulated.restart()
    rig.robot_side.restart()
    assert rig.simulated.mode == "effort"
    rig.offset = 0.0
    assert max(abs(position - start) for position in rig.run(0.3)) < 0.02


def test_several_cycles_under_one_decision_take_as_much_time(simulator: MuJoCoSimulator) -> None:
    rig = Rig(simulator, "position")
    before = simulator.get_time()
    rig.simulated.cycle(rig.now, 3 * CYCLE, rig._control)
    assert simulator.get_time() - before == pytest.approx(3 * CYCLE * simulator.timestep)
