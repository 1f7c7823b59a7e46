# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest

from teleop_system.modules.camera.gaze import gaze_angles
from teleop_system.utils.quaternion_kernels import Quaternion
from teleop_system.utils.transforms import euler_to_quat, quat_exp, quat_multiply, quat_rotate


def head(yaw: float, nod: float, roll: float = 0.0) -> Quaternion:
    """Return the orientation of a head that pans, then nods, then rolls."""
    panned = quat_multiply(quat_exp([0.0, 0.0, yaw]), quat_exp([0.0, nod, 0.0]))
    x, y, z, w = quat_multiply(panned, quat_exp([roll, 0.0, 0.0])).tolist()
    return x, y, z, w


@pytest.mark.parametrize("yaw", [-3.0, -1.2, 0.0, 0.4, 2.0, math.pi])
@pytest.mark.parametrize("nod", [-2.0, -1.57, -1.2, 0.0, 0.7, math.pi / 2.0, 2.2])
def test_yaw_and_nod_are_recovered_also_straight_up_and_down(yaw: float, nod: float) -> None:
    panned, nodded = gaze_angles(head(yaw, nod))
    assert math.remainder(panned - yaw, 2.0 * math.pi) == pytest.approx(0.0, abs=1e-9)
    assert nodded == pytest.approx(nod, abs=1e-9)


@pytest.mark.parametrize("roll", [-1.2, -0.3, 0.8])
@pytest.mark.parametrize("nod", [-1.0, 0.0, 0.6, 1.0])
def test_roll_does_not_matter(roll: float, nod: float) -> None:
    assert gaze_angles(head(0.5, nod, roll)) == pytest.approx((0.5, nod), abs=1e-9)


def test_level_angles_are_those_of_the_gaze() -> None:
    rng = np.random.default_rng(0)
    for angles in rng.uniform([-1.0, -0.9, -3.0], [1.0, 0.9, 3.0], (200, 3)):
        quaternion = euler_to_quat(angles)
        x, y, z = quat_rotate(quaternion, [1.0, 0.0, 0.0])
        expected = math.atan2(y, x), math.atan2(-z, math.hypot(x, y))
        assert gaze_angles(tuple(quaternion.tolist())) == pytest.approx(expected, abs=1e-9)


def test_angles_do_not_jump_while_a_tilted_head_looks_across_the_pole() -> None:
    nods = np.linspace(0.0, 2.2, 2000)
    angles = np.array([gaze_angles(head(0.3, nod, 0.25)) for nod in nods])
    steps = np.abs(np.diff(angles, axis=0))
    assert steps[:, 0].max() < 0.01
    assert steps[:, 1].max() < 0.01
