# SPDX-License-Identifier: Apache-2.0
"""The five trackers of a simulated operator as a lifecycle node."""

from collections.abc import Sequence
from typing import Any

from typing_extensions import override

from teleop_system.interfaces import TrackerRole
from teleop_system.modules.arm_teleop.ros2_adapters import TrackerPublisher
from teleop_system.ros2.simulated_operator import SimulatedOperatorNode, Source
from teleop_system.ros2.teleop_node import run_node
from teleop_system.simulators.simulated_tracker import SimulatedTracker

RATE = 100.0
ROLES = tuple(role for role in TrackerRole if role is not TrackerRole.HEAD)


class DummyTrackerPublisher(SimulatedOperatorNode):
    """Publishes the poses of a simulated person's hands, waist and feet."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__("dummy_tracker_pub", RATE, **keywords)

    @override
    def make_sources(self) -> Sequence[Source]:
        person = self.operator
        trackers = [
            SimulatedTracker(
                role,
                motion=self.motion,
                seed=person.seed,
                amplitude=person.amplitude,
                frequency=person.frequency,
                clock=self.now,
            )
            for role in ROLES
        ]
        for tracker in trackers:
            tracker.initialize()
        return [TrackerPublisher(self, tracker) for tracker in trackers]


def main(args: list[str] | None = None) -> None:
    """Run the node."""
    run_node(DummyTrackerPublisher, args)


if __name__ == "__main__":
    main()
