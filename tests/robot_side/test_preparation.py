# SPDX-License-Identifier: Apache-2.0
import numpy as np

from teleop_system.robot_side.engagement_table import EngagementState
from teleop_system.robot_side.preparation import HOMING_SPEED, Preparation
from teleop_system.robots import load_robot
from teleop_system.safety import RobotParts

DT = 0.01
ROBOT = load_robot("rby1")
PARTS = RobotParts(ROBOT)


def pose(name: str) -> np.ndarray:
    named = ROBOT.pose(name)
    return np.array([named[joint] for joint in PARTS.joints])


def homing_of(start: np.ndarray, seconds: float) -> np.ndarray:
    """Return the commands of every tick for a robot that stands at `start`."""
    preparation = Preparation(ROBOT, PARTS, "ready", tolerance=0.05)
    rows = []
    for tick in range(int(seconds / DT)):
        commands = preparation.commands(EngagementState.HOMING, start, tick * DT)
        row = np.empty(PARTS.size)
        for name, part in PARTS.items():
            row[part.columns] = commands[name].positions
        rows.append(row)
    return np.array(rows)


def test_all_joints_come_home_together_and_no_faster_than_allowed() -> None:
    start, home = pose("a_pose"), pose("ready")
    rows = homing_of(start, 8.0)
    np.testing.assert_allclose(rows[0], start, atol=1e-12)
    np.testing.assert_allclose(rows[-1], home, atol=1e-12)
    moving = np.abs(home - start) > 0.01
    shares = (rows - start)[:, moving] / (home - start)[moving]
    np.testing.assert_allclose(shares, shares[:, :1] * np.ones(shares.shape[1]), atol=1e-9)
    # The last digits of a difference quotient are rounding.
    assert np.abs(np.diff(rows, axis=0)).max() <= HOMING_SPEED * DT * (1.0 + 1e-6)


def test_after_a_break_the_way_begins_where_the_robot_is() -> None:
    preparation = Preparation(ROBOT, PARTS, "ready", tolerance=0.05)
    preparation.commands(EngagementState.HOMING, pose("a_pose"), 0.0)
    elsewhere = pose("zero") if "zero" in ROBOT.poses else 0.5 * pose("ready")
    commands = preparation.commands(EngagementState.HOMING, elsewhere, 5.0)
    part = PARTS["torso"]
    np.testing.assert_allclose(np.asarray(commands["torso"].positions), elsewhere[part.columns])
