# SPDX-License-Identifier: Apache-2.0
"""An end effector does not leave its box, and returns if it starts outside."""

import mujoco
import numpy as np
import pytest

from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.safety import SafetyConfig, WorkspaceBox
from tests.safety.rig import Rig, causes_of
from tests.safety.test_rate_limits import free_robot


class Hand:
    """The right hand in the frame of the root link, computed by MuJoCo."""

    def __init__(self, rig: Rig) -> None:
        self._model = mujoco.MjModel.from_xml_path(str(rig.robot.mjcf))
        self._data = mujoco.MjData(self._model)
        self._qpos = [self._model.joint(name).qposadr[0] for name in rig.names]

    def at(self, positions: np.ndarray) -> np.ndarray:
        self._data.qpos[self._qpos] = positions
        mujoco.mj_kinematics(self._model, self._data)
        base = self._data.body("base")
        inverse = base.xmat.reshape(3, 3).T
        return inverse @ (self._data.body("ee_right").xpos - base.xpos)


def boxed(upper_z: float) -> Rig:
    box = WorkspaceBox((-2.0, -2.0, -2.0), (2.0, 2.0, upper_z))
    return Rig(free_robot(), SafetyConfig(workspace={"right_arm": box}))


def test_the_hand_stops_at_the_wall_with_its_cause() -> None:
    height = Hand(boxed(2.0)).at(boxed(2.0).start)[2]
    rig = boxed(height + 0.1)
    hand = Hand(rig)
    rig.run(1.0)
    rig.aim(right_arm_0=-1.2)
    rig.run(3.0)
    heights = [hand.at(row)[2] for row in rig.positions]
    assert max(heights) <= height + 0.1 + 1e-4
    assert heights[-1] == pytest.approx(height + 0.1, abs=2e-3)
    (cause,) = causes_of(rig.outputs[-1], Rule.WORKSPACE)
    assert (cause.subject, cause.severity) == ("right_arm", Severity.HOLD)
    rig.aim(right_arm_0=0.0)
    assert rig.run(2.0).positions[rig.column("right_arm_0")] == pytest.approx(0.0, abs=1e-3)


def test_the_torso_does_not_carry_the_hand_out() -> None:
    height = Hand(boxed(2.0)).at(boxed(2.0).start)[2]
    rig = boxed(height + 0.05)
    hand = Hand(rig)
    rig.run(1.0)
    rig.aim(torso_1=0.2, torso_2=-0.4, torso_3=0.2)
    rig.run(3.0)
    assert max(hand.at(row)[2] for row in rig.positions) <= height + 0.05 + 1e-4


def test_a_hand_outside_comes_back_in() -> None:
    height = Hand(boxed(2.0)).at(boxed(2.0).start)[2]
    rig = boxed(height - 0.1)
    hand = Hand(rig)
    rig.run(1.0)
    rig.aim(right_arm_0=-0.5)
    rig.run(1.0)
    assert max(hand.at(row)[2] for row in rig.positions) <= height + 1e-4
    rig.aim(right_arm_0=0.6)
    assert rig.run(2.0).positions[rig.column("right_arm_0")] == pytest.approx(0.6, abs=1e-3)
