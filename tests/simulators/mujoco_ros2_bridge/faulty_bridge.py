# SPDX-License-Identifier: Apache-2.0
"""A bridge with a bug: its first activation raises an unexpected error."""

from teleop_system.ros2.teleop_node import run_node
from teleop_system.simulators.mujoco_ros2_bridge import MuJoCoBridge

MODULE = "tests.simulators.mujoco_ros2_bridge.faulty_bridge"


class FaultyBridge(MuJoCoBridge):
    """Fails to activate once."""

    attempts = 0

    def activate(self) -> None:
        FaultyBridge.attempts += 1
        if FaultyBridge.attempts == 1:
            raise RuntimeError("a bug")
        super().activate()


def main() -> None:
    run_node(FaultyBridge)
