# SPDX-License-Identifier: Apache-2.0
"""The kinematics of the DG-5F against the maker's figures, the URDF and finite differences."""

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from teleop_system.modules.hand_teleop import dg5f

from .limits import joint_limits

MODELS = Path(__file__).parents[3] / "models" / "dg5f"
FLEXED = np.array(
    [
        (0.30, -1.20, 0.50, 0.40),
        (0.10, 0.80, 0.90, 0.60),
        (0.00, 0.90, 0.90, 0.60),
        (-0.10, 0.90, 0.90, 0.60),
        (0.30, 0.10, 0.90, 0.70),
    ]
).ravel()
FLEXED_LEFT = np.array(
    [
        (-0.30, 1.20, -0.50, -0.40),
        (-0.10, 0.80, 0.90, 0.60),
        (0.00, 0.90, 0.90, 0.60),
        (0.10, 0.90, 0.90, 0.60),
        (-0.30, -0.10, 0.90, 0.70),
    ]
).ravel()
ZERO_TIPS = np.array(
    [
        (0.025750, 0.125100, 0.086600),
        (0.010550, 0.027000, 0.269500),
        (0.010550, 0.002500, 0.273500),
        (0.010550, -0.022000, 0.265500),
        (0.010300, -0.047500, 0.236200),
    ]
)
FLEXED_TIPS = np.array(
    [
        (0.107410, 0.035430, 0.140918),
        (0.095875, 0.023851, 0.171285),
        (0.095953, 0.002500, 0.166899),
        (0.095953, -0.019704, 0.158785),
        (0.083869, -0.031701, 0.183888),
    ]
)
ROUNDING = 6e-7  # The figures have six decimals.


@pytest.mark.parametrize(("positions", "tips"), [(np.zeros(20), ZERO_TIPS), (FLEXED, FLEXED_TIPS)])
def test_right_tips_match_the_figures_of_the_maker(
    positions: np.ndarray, tips: np.ndarray
) -> None:
    np.testing.assert_allclose(dg5f.tip_positions(positions, "right"), tips, atol=ROUNDING)


@pytest.mark.parametrize(
    ("positions", "tips"), [(np.zeros(20), ZERO_TIPS), (FLEXED_LEFT, FLEXED_TIPS)]
)
def test_left_tips_match_the_figures_of_the_maker(positions: np.ndarray, tips: np.ndarray) -> None:
    mirrored = tips * [1.0, -1.0, 1.0]
    np.testing.assert_allclose(dg5f.tip_positions(positions, "left"), mirrored, atol=ROUNDING)


def test_the_extension_continues_the_last_link() -> None:
    near, far = (dg5f.finger_positions(FLEXED[None], extension=e)[:, 0] for e in (0.0, 0.01))
    link = near[:, 3] - near[:, 2]
    expected = near[:, 3] + 0.01 * link / np.linalg.norm(link, axis=1, keepdims=True)
    np.testing.assert_allclose(far[:, 3], expected, atol=1e-15)


def test_jacobians_are_the_finite_differences_of_the_points() -> None:
    rng = np.random.default_rng(1)
    hands = rng.uniform(dg5f.LOWER, dg5f.UPPER, (6, 20))
    jacobians = dg5f.finger_points(hands, extension=0.007).jacobians
    step = 1e-6
    for joint in range(20):
        change = np.zeros(20)
        change[joint] = step
        after, before = (
            dg5f.finger_positions(hands + sign * change, extension=0.007) for sign in (1, -1)
        )
        rates = (after - before) / (2.0 * step)
        finger = joint // 4
        # Central differences are good to step^2 and the rounding over step.
        np.testing.assert_allclose(jacobians[finger, :, :, joint % 4], rates[finger], atol=1e-9)
        assert not np.delete(rates, finger, axis=0).any()


def test_a_batch_of_hands_agrees_with_single_hands() -> None:
    rng = np.random.default_rng(2)
    hands = rng.uniform(dg5f.LOWER, dg5f.UPPER, (3, 20))
    together = dg5f.finger_points(hands)
    for row in range(3):
        alone = dg5f.finger_points(hands[row : row + 1])
        np.testing.assert_allclose(together.points[:, row], alone.points[:, 0], atol=1e-15)


@pytest.mark.parametrize("side", ["left", "right"])
def test_names_and_limits_are_those_of_the_urdf(side: str) -> None:
    root = ET.parse(MODELS / f"dg5f_{side}.urdf").getroot()
    joints = [joint for joint in root.iter("joint") if joint.get("type") == "revolute"]
    assert sorted(joint.get("name", "") for joint in joints) == sorted(dg5f.joint_names(side))
    lower, upper = joint_limits(side, curl_only=False)
    for joint in joints:
        index = dg5f.joint_names(side).index(joint.get("name", ""))
        limit = joint.find("limit")
        assert limit is not None
        values = (float(limit.get("lower", "")), float(limit.get("upper", "")))
        np.testing.assert_allclose((lower[index], upper[index]), values, atol=1e-9)


def test_fingers_may_only_curl() -> None:
    right, _ = joint_limits("right")
    _, left = joint_limits("left")
    assert (right.reshape(5, 4)[:, 2:] == 0.0).all()
    assert (left[2:4] == 0.0).all()
