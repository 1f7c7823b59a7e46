# SPDX-License-Identifier: Apache-2.0
import dataclasses

import numpy as np
import pytest

from teleop_system.exceptions import UnknownNameError
from teleop_system.robots import RobotDescription
from teleop_system.robots.urdf import read_urdf
from teleop_system.robots.urdf_kinematics import link_poses
from teleop_system.solvers.chain_kinematics import ChainKinematics
from teleop_system.utils.transforms import quat_to_matrix
from tests.modules.arm_teleop.rig import ALL, robot


def kinematics(description: RobotDescription) -> tuple[ChainKinematics, list[str]]:
    chains = {name: description.chains[name] for name in ALL}
    joints = [joint for chain in chains.values() for joint in chain.joints]
    return ChainKinematics(description, chains, joints), joints


@pytest.mark.parametrize("model", ["urdf", "mjcf"])
def test_end_effectors_are_at_the_poses_of_the_urdf(model: str) -> None:
    description = robot() if model == "urdf" else dataclasses.replace(robot(), urdf=None)
    ours, joints = kinematics(description)
    urdf = robot().urdf
    assert urdf is not None
    random = np.random.default_rng(3)
    for _ in range(10):
        positions = random.uniform(-1.0, 1.0, len(joints))
        others = {n: q for n, q in robot().pose("ready").items() if n not in joints}
        named = others | dict(zip(joints, positions.tolist(), strict=True))
        links = link_poses(read_urdf(urdf), named)
        for name in ALL:
            position, orientation = ours.pose(name, positions.tolist())
            expected = links[robot().chains[name].end_effector][0]
            np.testing.assert_allclose(position, expected[:3, 3], atol=1e-9)
            np.testing.assert_allclose(quat_to_matrix(orientation), expected[:3, :3], atol=1e-9)


def test_the_reach_is_that_of_a_stretched_arm_about_its_shoulder() -> None:
    ours, joints = kinematics(robot())
    reach = ours.reach("right_arm")
    assert reach is not None and reach.carrier == "torso"
    np.testing.assert_allclose(reach.centre, [0.0, -0.22, 0.08007], atol=1e-4)
    stretched = dict.fromkeys(joints, 0.0)
    position, _ = ours.pose("right_arm", list(stretched.values()))
    torso, _ = ours.pose("torso", list(stretched.values()))
    away = np.linalg.norm(np.subtract(position, torso) - reach.centre)
    # The elbow is set off sideways, so that not even a straight arm is as long as its parts.
    assert 0.97 * reach.radius < away <= reach.radius


def test_the_torso_reaches_from_the_base() -> None:
    ours, _ = kinematics(robot())
    reach = ours.reach("torso")
    assert reach is not None and reach.carrier is None
    assert reach.centre == pytest.approx((0.0, 0.0, 0.2805))


@pytest.mark.parametrize("model", ["urdf", "mjcf"])
def test_a_missing_end_effector_is_reported(model: str) -> None:
    description = robot() if model == "urdf" else dataclasses.replace(robot(), urdf=None)
    chain = dataclasses.replace(description.chains["torso"], end_effector="link_torso_6")
    with pytest.raises(UnknownNameError, match="link_torso_5"):
        ChainKinematics(description, {"torso": chain}, chain.joints)
