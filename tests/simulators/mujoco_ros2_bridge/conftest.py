# SPDX-License-Identifier: Apache-2.0
"""One bridge for all tests of a file: a start takes seconds."""

from collections.abc import Iterator

import pytest

pytest.importorskip("rclpy")
from tests.simulators.mujoco_ros2_bridge.rig import BridgeRig, running_bridge


@pytest.fixture(scope="module")
def shared_bridge(own_domain: None) -> Iterator[BridgeRig]:
    with running_bridge() as rig:
        yield rig


@pytest.fixture
def bridge(shared_bridge: BridgeRig) -> Iterator[BridgeRig]:
    """A bridge that is ready before the test and after it."""
    shared_bridge.bench.wait_for_state("ready")
    shared_bridge.states.clear()
    shared_bridge.targets.clear()
    yield shared_bridge
    shared_bridge.bench.trigger("/mujoco/resume")
    shared_bridge.bench.trigger("/teleop/disengage")
