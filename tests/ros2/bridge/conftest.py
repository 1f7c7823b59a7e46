# SPDX-License-Identifier: Apache-2.0
"""One bridge for all tests of a file: starting one takes seconds."""

from collections.abc import Iterator

import pytest

from tests.ros2.bridge.rig import BridgeRig, running_bridge


@pytest.fixture(scope="module")
def shared_bridge(own_domain: None) -> Iterator[BridgeRig]:
    with running_bridge() as rig:
        yield rig


@pytest.fixture
def bridge(shared_bridge: BridgeRig) -> Iterator[BridgeRig]:
    """A bridge that is ready, and left so."""
    shared_bridge.bench.wait_for_state("ready")
    shared_bridge.states.clear()
    shared_bridge.targets.clear()
    yield shared_bridge
    shared_bridge.bench.trigger("/mujoco/resume")
    shared_bridge.bench.trigger("/teleop/disengage")
