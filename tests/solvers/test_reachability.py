# SPDX-License-Identifier: Apache-2.0
"""The search for reachable poses finds those that are, and no others."""

import numpy as np
import pytest

from teleop_system.interfaces import Pose6D
from teleop_system.robots import load_robot
from tests.solvers.reachability import Reachability

ROBOT = load_robot("rby1")
NAMES = tuple(joint for chain in ROBOT.chains.values() for joint in chain.joints)
READY = np.array([ROBOT.pose("ready")[name] for name in NAMES])
LIMITS = [ROBOT.limits(name) for name in NAMES]
LOWER = np.array([limit.lower for limit in LIMITS])
UPPER = np.array([limit.upper for limit in LIMITS])


@pytest.fixture(scope="module")
def oracle() -> Reachability:
    return Reachability(ROBOT, NAMES)


@pytest.mark.parametrize("seed", range(5))
def test_poses_of_a_valid_posture_are_reachable(oracle: Reachability, seed: int) -> None:
    random = np.random.default_rng(seed)
    apart = np.array([0.0] * 6 + [0.0, -0.3] + [0.0] * 5 + [0.0, 0.3] + [0.0] * 5)
    joints = np.clip(READY + apart + 0.15 * random.normal(size=READY.size), LOWER, UPPER)
    assert oracle.search(oracle.poses(joints), READY, starts=12).is_reachable


@pytest.mark.parametrize(
    "position", [(2.5, -0.3, 1.0), (0.0, 0.0, 0.6)], ids=["far away", "in the body"]
)
def test_poses_far_away_or_inside_the_body_are_not(
    oracle: Reachability, position: tuple[float, float, float]
) -> None:
    poses = oracle.poses(READY)
    poses["right_arm"] = Pose6D(np.array(position), poses["right_arm"].orientation)
    assert not oracle.search(poses, READY, starts=4).is_reachable
