# SPDX-License-Identifier: Apache-2.0
"""The map of 20 angles from a person's fingers to the robot's."""

import dataclasses

import numpy as np
import pytest

from teleop_system.exceptions import ConfigError, UnknownNameError
from teleop_system.interfaces import HandJointState
from teleop_system.modules.hand_teleop import AngleMapConfig, AngleRetargeter, HandTeleopConfig
from teleop_system.modules.hand_teleop.dg5f import tip_positions
from teleop_system.simulators.human.gestures import GESTURES

from .limits import joint_limits
from .operators import SIDES, Array, random_angles

# For each joint: its human angle, and the signs of motion on the right and on the left hand.
SIGNS = [
    (0, 0, -1, +1),  # The thumb's base rotates away from the fingers as the thumb bends.
    (1, 1, -1, +1),
    (2, 2, +1, -1),
    (3, 3, +1, -1),
    (5, 4, -1, +1),
    (4, 5, +1, +1),
    (6, 6, +1, +1),
    (7, 7, +1, +1),
    (9, 8, -1, +1),
    (8, 9, +1, +1),
    (10, 10, +1, +1),
    (11, 11, +1, +1),
    (13, 12, -1, +1),
    (12, 13, +1, +1),
    (14, 14, +1, +1),
    (15, 15, +1, +1),
    (17, 17, -1, +1),
    (16, 18, +1, +1),
    (18, 19, +1, +1),
]
MIRROR = np.array([-1, -1, -1, -1] + [-1, 1, 1, 1] * 3 + [-1, -1, 1, 1])


def retarget(angles: Array, side: str, config: AngleMapConfig | None = None) -> Array:
    settings = HandTeleopConfig(angles=config or AngleMapConfig())
    return AngleRetargeter(side, settings).retarget(HandJointState(angles, side=side))


def tips_of(name: str, side: str) -> Array:
    return tip_positions(retarget(GESTURES[name], side), side)


@pytest.mark.parametrize(("human", "joint", "right", "left"), SIGNS)
def test_every_joint_rotates_in_the_direction_of_the_table(
    human: int, joint: int, right: int, left: int
) -> None:
    start = np.full(20, 0.3)
    start[0] = 0.5  # So that the thumb's base is off its limit.
    more = start.copy()
    more[human] += 0.05
    for side, sign in (("right", right), ("left", left)):
        moved = retarget(more, side) - retarget(start, side)
        assert np.sign(moved[joint]) == sign


@pytest.mark.parametrize("side", SIDES)
def test_a_fist_brings_every_finger_to_the_palm(side: str) -> None:
    straight, fist = tip_positions(np.zeros(20), side), tips_of("fist", side)
    assert (fist[:, 0] - straight[:, 0] > 0.02).all()  # The palm looks along +x.
    assert (fist[1:, 2] - straight[1:, 2] < -0.05).all()


@pytest.mark.parametrize("side", SIDES)
def test_the_thumb_of_a_fist_lies_across_the_fingers(side: str) -> None:
    out, into = tips_of("open", side)[0], tips_of("fist", side)[0]
    assert abs(into[1]) < abs(out[1]) - 0.01


@pytest.mark.parametrize("side", SIDES)
def test_palmar_abduction_opposes_the_thumb(side: str) -> None:
    flat, opposed = np.zeros(20), np.zeros(20)
    opposed[1] = 0.7
    before, after = (tip_positions(retarget(a, side), side)[0] for a in (flat, opposed))
    assert after[0] > before[0] + 0.01
    assert abs(after[1]) < abs(before[1])


@pytest.mark.parametrize("side", SIDES)
def test_spread_fingers_spread(side: str) -> None:
    together = tip_positions(retarget(np.zeros(20), side), side)
    spread = tips_of("open", side)
    gaps, wider = (np.abs(np.diff(tips[1:, 1])) for tips in (together, spread))
    assert (wider > gaps + 0.003).all()


def test_the_left_hand_is_the_mirror_of_the_right() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        angles = random_angles(rng)
        np.testing.assert_array_equal(retarget(angles, "left"), MIRROR * retarget(angles, "right"))


def test_abduction_away_from_the_middle_can_be_read_too() -> None:
    radial = np.zeros(20)
    radial[[5, 9, 13, 17]] = (0.2, 0.05, -0.1, -0.2)
    spread = radial * np.where(np.isin(np.arange(20), (13, 17)), -1.0, 1.0)
    away = AngleMapConfig(abduction="spread")
    np.testing.assert_array_equal(retarget(spread, "right", away), retarget(radial, "right"))


@pytest.mark.parametrize("side", SIDES)
def test_no_angle_leaves_the_usable_range(side: str) -> None:
    lower, upper = joint_limits(side)
    rng = np.random.default_rng(4)
    for size in (1.0, 10.0, 1e12, 1e300):
        for _ in range(50):
            positions = retarget(size * rng.uniform(-1.0, 1.0, 20), side)
            assert ((positions >= lower) & (positions <= upper)).all()


def test_hyperextension_does_not_bend_the_robot_backwards() -> None:
    positions = retarget(np.full(20, -0.4), "right").reshape(5, 4)
    assert (positions[:, 2:] >= 0.0).all()


def test_a_map_of_nineteen_numbers_is_refused() -> None:
    with pytest.raises(ConfigError, match="scale needs 20"):
        dataclasses.replace(AngleMapConfig(), scale=(1.0,) * 19)


def test_an_unknown_side_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="middle"):
        AngleRetargeter("middle")
