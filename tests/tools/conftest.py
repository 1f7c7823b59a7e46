# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable
from pathlib import Path

import pytest

from teleop_system.robots import RobotDescription, load_robot
from tests.robots.models import write_robot

MakeRobot = Callable[..., RobotDescription]


@pytest.fixture
def make_robot(tmp_path: Path) -> MakeRobot:
    """Return a function that loads a robot from the texts of its files."""

    def make(**files: str) -> RobotDescription:
        return load_robot(str(write_robot(tmp_path / "robot", **files)))

    return make
