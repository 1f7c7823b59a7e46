# SPDX-License-Identifier: Apache-2.0
"""A short run of `fuzz.py`; TELEOP_FULL=1 makes it the long one."""

import os
from collections.abc import Callable

import pytest

from tests.modules.camera.streaming.fuzz import FuzzResult, fuzz_client, fuzz_server

MESSAGES = 100_000 if os.environ.get("TELEOP_FULL") else 1_500
LARGEST_GROWTH = 16 * 1024 * 1024


@pytest.mark.parametrize("fuzz", [fuzz_server, fuzz_client])
def test_mutated_messages_crash_nothing_and_leave_memory_flat(
    fuzz: Callable[[int], FuzzResult], caplog: pytest.LogCaptureFixture
) -> None:
    result = fuzz(MESSAGES)
    assert result.messages >= MESSAGES
    assert result.growth < LARGEST_GROWTH
    # Anything a task did not expect ends up there.
    assert not [record for record in caplog.records if record.name == "asyncio"]
