# SPDX-License-Identifier: Apache-2.0
"""A robot that consists of one MJCF file can be listed, loaded and moved."""

from pathlib import Path

import numpy as np
import pytest

from teleop_system.interfaces import Pose6D
from teleop_system.robots import discover_robots, load_robot
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
from teleop_system.solvers import make_solver
from teleop_system.utils.transforms import homogeneous_to_pose
from tests.robots.models import SIX_AXIS, write_robot

PERIOD = 0.01


def tool_pose(simulator: MuJoCoSimulator) -> Pose6D:
    site = simulator.data.site("attachment_site")
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = site.xmat.reshape(3, 3), site.xpos
    return Pose6D(*homogeneous_to_pose(matrix))


@pytest.mark.parametrize("offset", [[0.05, 0.0, 0.05], [-0.05, 0.1, 0.0]])
def test_a_third_party_arm_follows_its_tool_target_in_simulation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, offset: list[float]
) -> None:
    write_robot(tmp_path / "six_axis", arm_xml=SIX_AXIS)
    monkeypatch.setenv("TELEOP_MODELS_DIR", str(tmp_path))
    assert "six_axis" in discover_robots()
    robot = load_robot("six_axis")

    simulator = MuJoCoSimulator()
    simulator.initialize({"mjcf_path": str(robot.mjcf), "render": False})
    solver = make_solver(robot, "qp")
    start = robot.pose("home")
    joints = np.array([start[name] for name in solver.get_joint_names()])
    simulator.step()
    target = tool_pose(simulator).translated(np.array(offset))
    for _ in range(300):
        joints = solver.solve_multi({"arm": target}, joints, PERIOD).joint_positions
        commands = dict(zip(solver.get_joint_names(), joints, strict=True))
        simulator.set_joint_positions(
            np.array([commands[name] for name in simulator.get_joint_names()])
        )
        simulator.step(PERIOD)

    reached = tool_pose(simulator)
    # The servos deflect by less than a millimetre under the weight of the arm.
    np.testing.assert_allclose(reached.position, target.position, atol=2e-3)
