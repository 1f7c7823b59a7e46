# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from teleop_system.exceptions import (
    InvalidValueError,
    RenderingUnavailableError,
    UnknownNameError,
)
from teleop_system.robots import RobotDescription
from teleop_system.tools.robot_view import ViewOptions, draw_robot, save_view, show_robot
from tests.robots.models import SIX_AXIS
from tests.tools.conftest import MakeRobot

SMALL = {"width": 96, "height": 64}


@pytest.fixture
def arm(make_robot: MakeRobot) -> RobotDescription:
    return make_robot(arm_xml=SIX_AXIS, robot_yaml="poses: {up: {}}")


def draw(robot: RobotDescription, **options: object) -> NDArray[np.uint8]:
    try:
        return draw_robot(robot, ViewOptions(**{**SMALL, **options}))  # type: ignore[arg-type]
    except RenderingUnavailableError as error:
        pytest.skip(str(error))


def test_a_picture_shows_the_robot_in_the_middle(arm: RobotDescription) -> None:
    picture = draw(arm)
    assert picture.shape == (64, 96, 3)
    assert picture[16:48, 24:72].std() > 10.0


def test_poses_look_different(arm: RobotDescription) -> None:
    assert (draw(arm, pose="home") != draw(arm, pose="up")).any()


@pytest.mark.parametrize("camera", ["front", "left", "top"])
def test_views_look_different(arm: RobotDescription, camera: str) -> None:
    assert (draw(arm) != draw(arm, camera=camera)).any()


def test_collision_shapes_are_orange(arm: RobotDescription) -> None:
    picture = draw(arm, collision=True).astype(int)
    red, blue = picture[..., 0], picture[..., 2]
    assert (red - blue > 60).sum() > 20
    plain = draw(arm).astype(int)
    assert not (plain[..., 0] - plain[..., 2] > 60).any()


def test_shapes_without_contacts_are_not_shown_as_collision_shapes(
    make_robot: MakeRobot,
) -> None:
    ghost = '<geom type="sphere" size="0.3" rgba="0 0 1 1" contype="0" conaffinity="0"/>'
    text = SIX_AXIS.replace("<worldbody>", f"<worldbody>{ghost}")
    robot = make_robot(arm_xml=text)
    blue = draw(robot).astype(int)
    assert (blue[..., 2] - blue[..., 0] > 60).any()
    shapes = draw(robot, collision=True).astype(int)
    assert not (shapes[..., 2] - shapes[..., 0] > 60).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pose": "hoem"}, "no pose named 'hoem'.*'home'"),
        ({"camera": "frnt"}, "no camera named 'frnt'.*'front'"),
        ({"scene": "moon"}, "no scene named 'moon'"),
    ],
)
def test_an_unknown_name_lists_the_choices(
    arm: RobotDescription, options: dict[str, str], message: str
) -> None:
    with pytest.raises(UnknownNameError, match=message):
        draw_robot(arm, ViewOptions(**options))  # type: ignore[arg-type]


def test_a_saved_picture_can_be_read_back(tmp_path: Path) -> None:
    from PIL import Image

    picture = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)
    save_view(picture, tmp_path / "new" / "picture.png")
    with Image.open(tmp_path / "new" / "picture.png") as image:
        np.testing.assert_array_equal(np.asarray(image), picture)


def test_an_unknown_picture_format_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match=r"picture\.odd: .*cannot be written"):
        save_view(np.zeros((4, 4, 3), np.uint8), tmp_path / "picture.odd")


def test_without_a_screen_there_is_no_window(
    arm: RobotDescription, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    with pytest.raises(RenderingUnavailableError, match="no display"):
        show_robot(arm, ViewOptions())
