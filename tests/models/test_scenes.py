# SPDX-License-Identifier: Apache-2.0
"""Scenes can be attached to any robot, and do not change it."""

import mujoco
import numpy as np
import pytest

from tests.models.loading import MJCF, MODELS, MuJoCoRobot

OBJECTS = ("cube", "can", "bottle")


def compose(robot: str, scene: str) -> mujoco.MjModel:
    spec = mujoco.MjSpec.from_file(str(MJCF[robot]))
    part = mujoco.MjSpec.from_file(str(MODELS / "scenes" / f"{scene}.xml"))
    # Without a prefix two parts may share a name, and MuJoCo warns.
    spec.attach(part, frame=spec.worldbody.add_frame(), prefix="scene/")
    return spec.compile()


@pytest.mark.parametrize("robot", ("rby1", "rby1_dg5f"))
def test_table_keeps_keyframes_and_actuators_of_the_robot(robot: str) -> None:
    alone, together = MuJoCoRobot(robot).model, compose(robot, "table")
    assert together.nkey == alone.nkey
    for key in range(alone.nkey):
        assert together.key(key).name == alone.key(key).name
        np.testing.assert_array_equal(together.key_qpos[key][: alone.nq], alone.key_qpos[key])
        np.testing.assert_array_equal(together.key_ctrl[key], alone.key_ctrl[key])
        np.testing.assert_array_equal(
            together.key_qpos[key][alone.nq :], together.qpos0[alone.nq :]
        )


@pytest.mark.parametrize("robot", ("rby1", "rby1_dg5f"))
def test_objects_rest_on_the_table_while_the_robot_stands_ready(robot: str) -> None:
    model = compose(robot, "table")
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("ready").id)
    mujoco.mj_forward(model, data)
    start = {name: data.body(f"scene/{name}").xpos.copy() for name in OBJECTS}
    mujoco.mj_step(model, data, nstep=1000)
    for name, position in start.items():
        np.testing.assert_allclose(data.body(f"scene/{name}").xpos, position, atol=1e-3)


def test_gripper_lifts_the_cube() -> None:
    model = compose("rby1", "table")
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("ready").id)
    data.actuator("right_gripper").ctrl = -0.05
    mujoco.mj_step(model, data, nstep=300)
    # Put the cube between the open fingers, close, and take the table's support away.
    hand = data.body("ee_right")
    grasp = hand.xpos + hand.xmat.reshape(3, 3) @ np.array([0.0, 0.0, -0.115])
    data.joint("scene/cube").qpos[:] = [*grasp, *hand.xquat]
    data.joint("scene/cube").qvel[:] = 0.0
    model.opt.gravity[:] = 0.0
    data.actuator("right_gripper").ctrl = 0.0
    mujoco.mj_step(model, data, nstep=500)
    model.opt.gravity[2] = -9.81
    mujoco.mj_step(model, data, nstep=1500)
    assert np.linalg.norm(data.body("scene/cube").xpos - grasp) < 5e-3


def test_floor_alone_is_a_complete_model() -> None:
    model = mujoco.MjModel.from_xml_path(str(MODELS / "scenes" / "floor.xml"))
    assert model.geom("floor").type[0] == mujoco.mjtGeom.mjGEOM_PLANE
    assert model.nlight == 2
