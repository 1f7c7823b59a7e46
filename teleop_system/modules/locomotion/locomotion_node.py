# SPDX-License-Identifier: Apache-2.0
"""The locomotion module as a lifecycle node."""

from collections.abc import Mapping
from typing import Any

from typing_extensions import override

from teleop_system.interfaces import TrackerRole
from teleop_system.modules.arm_teleop.ros2_adapters import TrackerTopic
from teleop_system.modules.locomotion.ros2_adapters import VelocityWriter
from teleop_system.ros2.joint_topics import JointWriter
from teleop_system.ros2.module_node import ModuleNode
from teleop_system.ros2.robot_link import TargetUse
from teleop_system.ros2.sample_topic import SampleTopic
from teleop_system.ros2.teleop_node import run_node
from teleop_system.session.modules import ModuleOutput


class LocomotionNode(ModuleNode):
    """Drives the base as the operator walks and turns."""

    module_name = "locomotion"
    sections = ("locomotion",)
    fixed = ("locomotion.rate", "locomotion.drive")
    targets = TargetUse.NEVER

    def __init__(self, **keywords: Any) -> None:
        super().__init__("locomotion_node", **keywords)

    @override
    def open_input(self, signal: str, *, wakes: bool = True) -> SampleTopic[Any]:
        return TrackerTopic(self, TrackerRole(signal), self.on_sample if wakes else None)

    @override
    def open_writers(self) -> Mapping[str, JointWriter]:
        self._velocity = VelocityWriter(self)
        return {}

    @override
    def send_base(self, output: ModuleOutput) -> None:
        if output.base is not None:
            self._velocity.send(output.base)


def main(args: list[str] | None = None) -> None:
    """Run the node."""
    run_node(LocomotionNode, args)


if __name__ == "__main__":
    main()
