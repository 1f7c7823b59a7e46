# SPDX-License-Identifier: Apache-2.0
"""When live parameters may be changed."""

import pytest

from teleop_system.robot_side.engagement import MotionSource
from teleop_system.simulators.ros2_bridge_parameters import differing, refusal


@pytest.mark.parametrize("name", ["control_mode", "pid_p", "pid_i", "pid_d"])
@pytest.mark.parametrize(
    ("motion", "estopped", "words"),
    [
        (MotionSource.NONE, True, "emergency stop"),
        (MotionSource.OPERATOR, False, "disengage"),
        (MotionSource.SYSTEM, False, "disengage"),
        (MotionSource.NONE, False, ""),
    ],
)
def test_some_parameters_cannot_be_changed_while_they_are_in_use(
    name: str, motion: MotionSource, estopped: bool, words: str
) -> None:
    reason = refusal([name], motion, estopped=estopped)
    assert bool(reason) == bool(words)
    if words:
        assert words in reason and name in reason


def test_only_parameters_that_differ_count_as_changed() -> None:
    kept = {"control_mode": "effort", "pid_p": [-1.0], "pid_d": None}
    assert differing(kept, {"control_mode": "effort", "pid_p": (-1.0,), "pid_d": []}) == []
    assert differing(kept, {"control_mode": "position", "pid_p": [0.0]}) == [
        "control_mode",
        "pid_p",
    ]
