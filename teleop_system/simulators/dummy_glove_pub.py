# SPDX-License-Identifier: Apache-2.0
"""The two gloves of a simulated operator as a lifecycle node."""

from collections.abc import Sequence
from typing import Any

from typing_extensions import override

from teleop_system.interfaces.master_device import HAND_SIDES
from teleop_system.modules.hand_teleop.ros2_adapters import GlovePublisher
from teleop_system.ros2.simulated_operator import SimulatedOperatorNode, Source
from teleop_system.ros2.teleop_node import run_node
from teleop_system.simulators.simulated_hand import SimulatedHand

RATE = 100.0
MOTION = "gestures"


class DummyGlovePublisher(SimulatedOperatorNode):
    """Publishes the finger angles of a simulated person."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__("dummy_glove_pub", RATE, **keywords)

    @property
    @override
    def motion(self) -> str:
        return self._motion or MOTION  # The motions of the settings are for trackers.

    @override
    def make_sources(self) -> Sequence[Source]:
        person = self.operator
        gloves = [
            SimulatedHand(
                side,
                motion=self.motion,
                seed=person.seed,
                frequency=person.frequency,
                with_tips=False,  # The topic carries angles only.
                clock=self.now,
            )
            for side in HAND_SIDES
        ]
        for glove in gloves:
            glove.initialize()
        return [GlovePublisher(self, glove) for glove in gloves]


def main(args: list[str] | None = None) -> None:
    """Run the node."""
    run_node(DummyGlovePublisher, args)


if __name__ == "__main__":
    main()
