# SPDX-License-Identifier: Apache-2.0
"""The hand module as a lifecycle node."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from typing_extensions import override

from teleop_system.interfaces import HandJointState
from teleop_system.modules.hand_teleop.ros2_adapters import GloveTopic
from teleop_system.ros2.joint_topics import JointWriter
from teleop_system.ros2.module_node import ModuleNode
from teleop_system.ros2.robot_link import TargetUse
from teleop_system.ros2.sample_topic import SampleTopic
from teleop_system.ros2.teleop_node import run_node
from teleop_system.session.signals import DERIVATIONS, SIGNALS
from teleop_system.utils.ros2_helpers import TopicNames


class HandTeleopNode(ModuleNode):
    """Moves the robot's hands with the operator's."""

    module_name = "hand"
    sections = ("hand",)
    # The retargeter decides which signals are read.
    fixed = ("hand.rate", "hand.retargeter", "hand.mode")
    targets = TargetUse.ON_ENGAGE

    def __init__(self, **keywords: Any) -> None:
        super().__init__("hand_teleop_node", **keywords)

    @override
    def open_input(self, signal: str, *, wakes: bool = True) -> SampleTopic[Any]:
        # The topic carries angles only; finger tips are derived from them.
        derivation = DERIVATIONS.get(signal)
        complete = cast(
            "Callable[[HandJointState], HandJointState] | None",
            derivation.compute if derivation is not None else None,
        )
        return GloveTopic(
            self,
            SIGNALS[signal].worn_at,
            signal,
            complete=complete,
            on_sample=self.on_sample if wakes else None,
        )

    @override
    def open_writers(self) -> Mapping[str, JointWriter]:
        return {
            f"{hand.name}_hand": JointWriter(
                self, TopicNames.hand_command(hand.side), self.parts[f"{hand.name}_hand"].joints
            )
            for hand in self.robot.hands.values()
            if hand.side is not None
        }


def main(args: list[str] | None = None) -> None:
    """Run the node."""
    run_node(HandTeleopNode, args)


if __name__ == "__main__":
    main()
