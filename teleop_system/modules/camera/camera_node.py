# SPDX-License-Identifier: Apache-2.0
"""The camera module as a lifecycle node."""

from collections.abc import Mapping
from typing import Any

from typing_extensions import override

from teleop_system.modules.camera.ros2_adapters import HeadOrientationTopic, PanTiltTopic
from teleop_system.ros2.joint_topics import JointWriter
from teleop_system.ros2.module_node import ModuleNode
from teleop_system.ros2.robot_link import TargetUse
from teleop_system.ros2.sample_topic import SampleTopic
from teleop_system.ros2.teleop_node import run_node
from teleop_system.safety.parts import HEAD


class CameraNode(ModuleNode):
    """Turns the robot's head with the operator's head."""

    module_name = "camera"
    sections = ("camera",)
    fixed = ("camera.rate",)
    targets = TargetUse.ON_ENGAGE

    def __init__(self, **keywords: Any) -> None:
        super().__init__("camera_node", **keywords)

    @override
    def open_input(self, signal: str, *, wakes: bool = True) -> SampleTopic[Any]:
        return HeadOrientationTopic(self, self.on_sample if wakes else None)

    @override
    def open_writers(self) -> Mapping[str, JointWriter]:
        return {HEAD: PanTiltTopic(self, self.parts[HEAD].joints)}


def main(args: list[str] | None = None) -> None:
    """Run the node."""
    run_node(CameraNode, args)


if __name__ == "__main__":
    main()
