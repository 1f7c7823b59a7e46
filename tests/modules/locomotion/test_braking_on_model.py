# SPDX-License-Identifier: Apache-2.0
"""The hardest stop of the controller on the model: no wheel lifts or slides."""

import math
from pathlib import Path

import numpy as np
import pytest

from teleop_system.modules.locomotion.config import LocomotionConfig
from teleop_system.modules.locomotion.locomotion_controller import LocomotionController
from tests.modules.locomotion.operators import Operator, stepping, walking

mujoco = pytest.importorskip("mujoco")

MODEL = Path(__file__).parents[3] / "models" / "rby1" / "model_teleop.xml"
WHEEL_RADIUS, HALF_TRACK = 0.1, 0.265
DT, SUBSTEPS = 0.02, 10
CASTERS = ("caster_left_collision", "caster_right_collision")
ARMS_AHEAD = {"right_arm_0": -1.57, "left_arm_0": -1.57, "right_arm_1": -0.1, "left_arm_1": 0.1}


class Robot:
    """The model with its arms held in a pose, driven by its wheels."""

    def __init__(self, pose: dict[str, float]) -> None:
        self.model = mujoco.MjModel.from_xml_path(str(MODEL))
        self.data = mujoco.MjData(self.model)
        mujoco.mj_resetDataKeyframe(self.model, self.data, self.model.key("zero").id)
        for name, angle in pose.items():
            self.data.qpos[self.model.joint(name).qposadr[0]] = angle
            self.data.ctrl[self.model.actuator(name).id] = angle
        self._casters = {self.model.geom(name).id for name in CASTERS}

    def drive(self, forward: float, yaw_rate: float) -> float:
        """Drive for one tick, and return the least load on the casters meanwhile in [N]."""
        for name, side in (("left_wheel", -1.0), ("right_wheel", 1.0)):
            # A positive wheel velocity drives backwards.
            speed = -(forward + side * yaw_rate * HALF_TRACK) / WHEEL_RADIUS
            self.data.ctrl[self.model.actuator(name).id] = speed
        loads = []
        for _ in range(SUBSTEPS):
            mujoco.mj_step(self.model, self.data)
            loads.append(self._caster_load())
        return min(loads)

    @property
    def speed(self) -> float:
        return math.hypot(*self.data.qvel[:2])

    @property
    def tilt(self) -> float:
        x, y = self.data.qpos[4:6]
        return 2.0 * math.hypot(x, y)

    def _caster_load(self) -> float:
        load, force = 0.0, np.zeros(6)
        for index in range(self.data.ncon):
            contact = self.data.contact[index]
            if {contact.geom1, contact.geom2} & self._casters:
                mujoco.mj_contactForce(self.model, self.data, index, force)
                load += force[0]
        return load


@pytest.mark.parametrize(
    ("operator", "pose"),
    [
        (stepping(2.2, start=0.1), {}),
        (stepping(2.2, start=0.1), ARMS_AHEAD),
        (walking(0.8, math.pi, start=0.1), ARMS_AHEAD),
    ],
    ids=["ahead", "ahead with outstretched arms", "backwards with outstretched arms"],
)
def test_the_hardest_stop_keeps_every_wheel_on_the_floor(
    operator: Operator, pose: dict[str, float]
) -> None:
    robot, controller = Robot(pose), LocomotionController(LocomotionConfig())
    for tick in range(1, 151):
        now = tick * DT
        command = controller.update(*operator(now).poses(now), now=now, dt=DT).command
        standing_load = robot.drive(command.linear_x, command.angular_z)
    assert abs(command.linear_x) == 0.5
    assert robot.speed == pytest.approx(0.5, abs=0.02)
    loads, tilts = [], []
    for tick in range(151, 176):
        command = controller.update(None, None, now=tick * DT, dt=DT).command
        loads.append(robot.drive(command.linear_x, command.angular_z))
        tilts.append(robot.tilt)
    # At a quarter of their load the casters are far from lifting.
    assert min(loads) > 0.25 * standing_load
    assert max(tilts) < 0.002
    assert robot.speed < 0.005
