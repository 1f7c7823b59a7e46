# SPDX-License-Identifier: Apache-2.0
"""A bridge whose OpenGL fails for as long as a file exists."""

import os
from pathlib import Path
from typing import Any

import mujoco

from teleop_system.ros2.teleop_node import run_node
from teleop_system.simulators.mujoco_ros2_bridge import MuJoCoBridge

MODULE = "tests.simulators.mujoco_ros2_bridge.blind_bridge"
FAULT_FILE = "TELEOP_TEST_BLIND"
"""Environment variable that names the file."""
FAULT = "OpenGL lost its context"


def main() -> None:
    draw = mujoco.mjr_render
    fault = Path(os.environ[FAULT_FILE])

    def fallible(*arguments: Any) -> None:
        if fault.exists():
            raise mujoco.FatalError(FAULT)
        draw(*arguments)

    mujoco.mjr_render = fallible
    run_node(MuJoCoBridge)
