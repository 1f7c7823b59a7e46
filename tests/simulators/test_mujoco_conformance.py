# SPDX-License-Identifier: Apache-2.0
"""The simulated parts keep the promises of the interfaces."""

from typing import Any

import pytest

from teleop_system.interfaces import TrackerRole
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
from teleop_system.simulators.simulated_hand import SimulatedHand
from teleop_system.simulators.simulated_tracker import SimulatedTracker
from teleop_system.testing import HandInputSuite, MasterTrackerSuite, SimulatorSuite
from teleop_system.utils.paths import models_dir


class TestMuJoCoSimulator(SimulatorSuite):
    def create(self) -> MuJoCoSimulator:
        return MuJoCoSimulator()

    def config(self) -> dict[str, Any]:
        path = models_dir() / "rby1" / "model_teleop.xml"
        return {"mjcf_path": str(path), "timestep": 0.002, "render": True}


class TestHumanTracker(MasterTrackerSuite):
    def create(self) -> SimulatedTracker:
        return SimulatedTracker(TrackerRole.RIGHT_HAND)


class TestSinusoidTracker(MasterTrackerSuite):
    def create(self) -> SimulatedTracker:
        return SimulatedTracker("waist", motion="sinusoid")


class TestGesturingHand(HandInputSuite):
    def create(self) -> SimulatedHand:
        return SimulatedHand("left")


class TestSinusoidHand(HandInputSuite):
    def create(self) -> SimulatedHand:
        return SimulatedHand("right", motion="sinusoid")


@pytest.mark.parametrize("kind", ["tracker", "hand_input", "simulator"])
def test_the_simulated_parts_can_be_found_by_name(kind: str) -> None:
    from teleop_system import registry

    name = "mujoco" if kind == "simulator" else "simulated"
    assert registry.find(kind, name).__module__.startswith("teleop_system.simulators")
