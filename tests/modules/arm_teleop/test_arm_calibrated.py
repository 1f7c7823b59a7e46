# SPDX-License-Identifier: Apache-2.0
"""Absolute mapping: only with a calibration, and only with a good one."""

import dataclasses

import numpy as np
import pytest

from teleop_system.calibration import ArmCalibration, calibrate_a_pose
from teleop_system.interfaces import Pose6D
from teleop_system.interfaces.causes import Rule
from teleop_system.modules.arm_teleop import ArmTeleopConfig, LimbState
from teleop_system.utils.transforms import quat_distance, quat_exp, quat_multiply, quat_rotate
from tests.modules.arm_teleop.rig import DT, Poses, Rig, rules

ABSOLUTE = ArmTeleopConfig(mapping="absolute")
HEADING, SCALE = 0.9, 0.8


def stand(rig: Rig, pose: str) -> Poses:
    """Return the trackers of a person of 1.25 times the robot's size who imitates a pose."""
    to_heading = quat_exp([0.0, 0.0, HEADING])
    return {
        role: Pose6D(
            quat_rotate(to_heading, tool.position / SCALE) + np.array([1.0, 2.0, 0.0]),
            quat_multiply(to_heading, tool.orientation),
            rig.now,
        )
        for role, tool in rig.controller.tools_at(pose).items()
    }


def calibrated() -> tuple[Rig, ArmCalibration]:
    rig = Rig(ABSOLUTE, real=True)
    found = calibrate_a_pose([stand(rig, "a_pose")], rig.controller.tools_at("a_pose"))
    rig.controller.calibrate(found)
    return rig, found


def test_without_a_calibration_nothing_is_engaged() -> None:
    output = Rig(ABSOLUTE).rest(5)
    assert not output.active
    assert set(output.states.values()) == {LimbState.HOLDING}
    assert Rule.NOT_ENGAGED in rules(output, "right_arm calibration")


def test_a_bad_calibration_is_refused_with_its_residual() -> None:
    rig, found = calibrated()
    rig.controller.calibrate(dataclasses.replace(found, residual=0.07))
    output = rig.tick(stand(rig, "a_pose"))
    causes = {cause.subject: cause for cause in output.causes}
    assert not output.active
    assert causes["left_arm calibration"].value == 0.07
    assert causes["left_arm calibration"].limit == ABSOLUTE.max_residual


def test_the_robot_takes_the_pose_that_the_operator_takes() -> None:
    rig, _ = calibrated()
    for _ in range(500):
        output = rig.tick(stand(rig, "ready"))
    tools = rig.controller.tools_at("ready")
    for name, role in rig.controller.limbs.items():
        assert output.states[name] is LimbState.FOLLOWING
        target = output.targets[name]
        np.testing.assert_allclose(target.position, tools[role].position, atol=1e-6)
        assert quat_distance(target.orientation, tools[role].orientation) < 1e-6


def test_a_large_distance_to_the_operator_is_covered_slowly() -> None:
    rig, _ = calibrated()
    poses = stand(rig, "a_pose")
    last = rig.tick(poses)
    start = last.targets["right_arm"].position
    ticks = 0
    while last.states["right_arm"] is LimbState.RAMPING:
        output = rig.tick(
            {role: dataclasses.replace(p, timestamp=rig.now) for role, p in poses.items()}
        )
        step = output.targets["right_arm"].position - last.targets["right_arm"].position
        assert np.linalg.norm(step) <= ABSOLUTE.catch_up_speed * DT * 1.01
        last, ticks = output, ticks + 1
    distance = np.linalg.norm(last.targets["right_arm"].position - start)
    assert distance > 0.3
    assert ticks * DT >= 1.875 * distance / ABSOLUTE.catch_up_speed - DT


@pytest.mark.parametrize("residual", [0.0, 0.059])
def test_a_good_calibration_is_accepted(residual: float) -> None:
    rig, found = calibrated()
    rig.controller.calibrate(dataclasses.replace(found, residual=residual))
    assert rig.tick(stand(rig, "a_pose")).active
