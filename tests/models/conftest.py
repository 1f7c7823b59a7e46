# SPDX-License-Identifier: Apache-2.0
"""The models, loaded once; every test sets their joints."""

import pytest

from tests.models.loading import MuJoCoRobot, PinocchioRobot


@pytest.fixture(scope="session")
def rby1() -> MuJoCoRobot:
    return MuJoCoRobot("rby1")


@pytest.fixture(scope="session")
def rby1_dg5f() -> MuJoCoRobot:
    return MuJoCoRobot("rby1_dg5f")


@pytest.fixture(scope="session")
def rby1_urdf() -> PinocchioRobot:
    return PinocchioRobot("rby1")
