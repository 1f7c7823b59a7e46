# SPDX-License-Identifier: Apache-2.0
"""Loading models and putting them into scenes."""

from pathlib import Path

import mujoco
import numpy as np
import pytest

from teleop_system.exceptions import ModelError, UnknownNameError
from teleop_system.simulators.mujoco_model import load_model
from teleop_system.utils.paths import models_dir
from tests.simulators.small_models import ARM, CART

TABLE = """
<mujoco model="table">
  <worldbody>
    <light pos="0 0 3"/>
    <geom name="ground" type="plane" size="0 0 1"/>
    <body name="cube" pos="1 0 0.5"><freejoint/><geom type="box" size="0.02 0.02 0.02"/></body>
  </worldbody>
</mujoco>
"""

SCENES = sorted(path.stem for path in (models_dir() / "scenes").glob("*.xml"))


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def planes(model: mujoco.MjModel) -> int:
    return int((model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE.value).sum())


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"absent\.xml: no such file"):
        load_model(tmp_path / "absent.xml")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<mujoco><worldbody>", "XML_ERROR"),
        ("<mujoco><worldbody><bodi/></worldbody></mujoco>", "unrecognized element"),
        ("<mujoco><worldbody><geom size='-1'/></worldbody></mujoco>", "size"),
        ("not xml", "XML"),
    ],
)
def test_the_error_of_mujoco_is_quoted_in_one_line(tmp_path: Path, text: str, reason: str) -> None:
    path = write(tmp_path, "broken.xml", text)
    with pytest.raises(ModelError, match=reason) as caught:
        load_model(path)
    assert "broken.xml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_keyframes_survive_a_scene_with_joints_of_its_own(tmp_path: Path) -> None:
    scene = write(tmp_path, "scene.xml", TABLE)
    model = load_model(write(tmp_path, "arm.xml", ARM), scene)
    assert model.nq == 2 + 7
    np.testing.assert_allclose(model.key("ready").qpos, [0.2, -0.4, 1, 0, 0.5, 1, 0, 0, 0])
    assert model.joint(0).name == "shoulder"


def test_names_of_a_scene_cannot_clash_with_the_robots(tmp_path: Path) -> None:
    scene = write(tmp_path, "scene.xml", TABLE.replace('name="cube"', 'name="upper"'))
    model = load_model(write(tmp_path, "arm.xml", ARM), scene)
    assert model.body("upper").id != model.body("scene/upper").id


def test_a_robot_that_could_fall_is_given_a_floor(tmp_path: Path) -> None:
    assert planes(load_model(write(tmp_path, "cart.xml", CART), "auto")) == 1


def test_a_robot_that_cannot_fall_is_given_no_floor(tmp_path: Path) -> None:
    assert planes(load_model(write(tmp_path, "arm.xml", ARM), "auto")) == 0


def test_a_robot_with_a_floor_is_given_no_second_one(rby1_path: Path, tmp_path: Path) -> None:
    assert planes(load_model(rby1_path, "auto")) == 1
    assert planes(load_model(rby1_path, write(tmp_path, "scene.xml", TABLE))) == 1


@pytest.mark.parametrize("scene", SCENES)
def test_every_scene_we_ship_takes_the_robot(rby1_path: Path, scene: str) -> None:
    alone, together = load_model(rby1_path), load_model(rby1_path, scene)
    assert together.nu == alone.nu
    assert planes(together) == 1
    np.testing.assert_array_equal(together.key_qpos[:, : alone.nq], alone.key_qpos)


def test_an_unknown_scene_is_reported_with_the_valid_ones(rby1_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"flor.*did you mean 'floor'"):
        load_model(rby1_path, "flor")
