# SPDX-License-Identifier: Apache-2.0
"""The headset of a simulated operator as a lifecycle node."""

from collections.abc import Sequence
from typing import Any

from typing_extensions import override

from teleop_system.interfaces import TrackerRole
from teleop_system.modules.camera.ros2_adapters import HeadPublisher
from teleop_system.ros2.simulated_operator import SimulatedOperatorNode, Source
from teleop_system.ros2.teleop_node import run_node
from teleop_system.simulators.simulated_tracker import SimulatedTracker

RATE = 90.0


class DummyHmdPublisher(SimulatedOperatorNode):
    """Publishes the head orientation of a simulated person."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__("dummy_hmd_pub", RATE, **keywords)

    @override
    def make_sources(self) -> Sequence[Source]:
        person = self.operator
        tracker = SimulatedTracker(
            TrackerRole.HEAD,
            motion=self.motion,
            seed=person.seed,
            amplitude=person.amplitude,
            frequency=person.frequency,
            clock=self.now,
        )
        tracker.initialize()
        return [HeadPublisher(self, tracker)]


def main(args: list[str] | None = None) -> None:
    """Run the node."""
    run_node(DummyHmdPublisher, args)


if __name__ == "__main__":
    main()
