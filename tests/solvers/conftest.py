# SPDX-License-Identifier: Apache-2.0
"""What the solver tests share."""

import pytest

from tests.solvers.rby1 import Oracle


@pytest.fixture(scope="session")
def oracle() -> Oracle:
    return Oracle()
