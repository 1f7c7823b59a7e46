# SPDX-License-Identifier: Apache-2.0
"""Results of third-party solvers are checked before they are commanded."""

import numpy as np
import pytest
from typing_extensions import override

from teleop_system.interfaces import IKResult, Pose6D
from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.modules.arm_teleop import LimbState
from tests.modules.arm_teleop.rig import Array, Rig, StillSolver, rules


class BadSolver(StillSolver):
    """Returns unusable joint positions from some tick on."""

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.is_bad = False

    @override
    def solve_multi(
        self, target_poses: dict[str, Pose6D], current_joints: Array, dt: float = 0.01
    ) -> IKResult:
        result = super().solve_multi(target_poses, current_joints, dt)
        if self.is_bad:
            object.__setattr__(result, "joint_positions", self.answer)
        return result


@pytest.mark.parametrize(
    ("answer", "rule"),
    [
        (np.zeros(3), Rule.WRONG_SHAPE),
        (np.zeros((4, 5)), Rule.WRONG_SHAPE),
        (np.full(20, np.nan), Rule.NON_FINITE),
        (np.array([np.inf, *range(19)]), Rule.NON_FINITE),
    ],
)
def test_an_unusable_result_is_not_commanded(answer: Array, rule: Rule) -> None:
    solver = BadSolver(answer)
    rig = Rig(real=solver)
    good = rig.rest(120).positions
    solver.is_bad = True
    output = rig.rest()
    assert (rule, Severity.HOLD) in {(c.rule, c.severity) for c in output.causes}
    np.testing.assert_array_equal(output.positions, good)
    solver.is_bad = False
    output = rig.rest(20)
    assert not rules(output, "solver")
    assert set(output.states.values()) == {LimbState.FOLLOWING}
