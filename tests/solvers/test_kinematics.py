# SPDX-License-Identifier: Apache-2.0
"""Models of the solvers: URDF and MJCF, order of joints, Jacobians."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from teleop_system.exceptions import ModelError
from teleop_system.solvers import ChainConfig
from teleop_system.solvers.kinematics import KinematicModel
from teleop_system.solvers.link_tree import LinkTree
from teleop_system.solvers.options import SolverOptions
from teleop_system.solvers.qp_ik_solver import QPIKSolver
from teleop_system.solvers.urdf_kinematics import UrdfKinematics
from tests.solvers.rby1 import DT, LOWER, MJCF, READY, UPPER, URDF, Oracle, create, options

Array = NDArray[np.float64]

SMALL_ARM = """
<mujoco>
  <compiler angle="degree" autolimits="true"/>
  <default><joint axis="0 1 0" range="-120 120"/></default>
  <worldbody>
    <body name="base" pos="0 0 0.7">
      <freejoint/>
      <geom type="box" size="0.1 0.1 0.1"/>
      <body name="shoulder" pos="0 0 0.2" euler="0 0 30">
        <joint name="turn" axis="0 0 1" range="-170 170"/>
        <joint name="lift" pos="0 0 0.05" ref="10"/>
        <geom type="capsule" fromto="0 0 0 0 0 0.3" size="0.04"/>
        <body name="forearm" pos="0 0 0.3">
          <joint name="bend"/>
          <geom type="capsule" fromto="0 0 0 0 0 0.3" size="0.03"/>
          <body name="slide" pos="0 0 0.3">
            <joint name="push" type="slide" axis="0 0 1" range="0 0.2"/>
            <geom type="sphere" size="0.03"/>
            <site name="tip" pos="0 0 0.1" quat="0.7071068 0 0.7071068 0"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.fixture
def small_arm(tmp_path: Path) -> str:
    file = tmp_path / "arm.xml"
    file.write_text(SMALL_ARM)
    return str(file)


def load(path: str, **changes: object) -> KinematicModel:
    return KinematicModel(path, SolverOptions.from_keywords(options(**changes)))


def placements(tree: LinkTree) -> list[tuple[Array, Array]]:
    """Return position and rotation of every frame."""
    return [
        (frame["position"].copy(), Rotation.from_quat(frame["orientation"]).as_matrix())
        for frame in tree.frames
    ]


def random_joints(seed: int) -> Array:
    return np.random.default_rng(seed).uniform(LOWER, UPPER)


def test_forward_kinematics_agree_with_the_oracle(oracle: Oracle) -> None:
    kinematics = load(URDF)
    state = kinematics.tree()
    for seed in range(20):
        joints = random_joints(seed)
        state.update(kinematics.to_internal(joints))
        for (position, rotation), pose in zip(
            placements(state), oracle.poses(joints).values(), strict=True
        ):
            np.testing.assert_allclose(position, pose.position, atol=1e-12)
            expected = Rotation.from_quat(pose.orientation).as_matrix()
            np.testing.assert_allclose(rotation, expected, atol=1e-12)


def test_numpy_kinematics_agree_with_the_oracle(oracle: Oracle) -> None:
    state = UrdfKinematics(URDF, SolverOptions.from_keywords(options())).tree()
    for seed in range(10):
        joints = random_joints(seed)
        state.update(joints)
        for (position, _), pose in zip(
            placements(state), oracle.poses(joints).values(), strict=True
        ):
            np.testing.assert_allclose(position, pose.position, atol=1e-9)


def test_mjcf_and_urdf_give_the_same_kinematics() -> None:
    one, other = load(URDF), load(MJCF)
    states = one.tree(), other.tree()
    np.testing.assert_allclose(
        one.limits.lower[one.external_order], other.limits.lower[other.external_order], atol=1e-6
    )
    for seed in range(20):
        joints = random_joints(seed)
        states[0].update(one.to_internal(joints))
        states[1].update(other.to_internal(joints))
        for (position, rotation), (same, other_rotation) in zip(
            placements(states[0]), placements(states[1]), strict=True
        ):
            np.testing.assert_allclose(same, position, atol=1e-9)
            np.testing.assert_allclose(other_rotation, rotation, atol=1e-9)


def test_the_weighted_jacobian_matches_finite_differences() -> None:
    solver = create(QPIKSolver)
    solver.solve_multi({}, READY, DT)
    solver._step()
    jacobian, start = solver._jacobian.copy(), solver._joints.copy()
    for joint in range(20):
        ends = []
        for sign in (-1.0, 1.0):
            solver._tree.update(start + sign * 1e-6 * np.eye(20)[joint])
            ends.append(placements(solver._tree))
        for chain, ((p0, r0), (p1, r1)) in enumerate(zip(*ends, strict=True)):
            rotation_vector = Rotation.from_matrix(r1 @ r0.T).as_rotvec()
            moved = np.concatenate([1.0 * (p1 - p0), 0.5 * rotation_vector]) / 2e-6
            column = jacobian[6 * chain : 6 * chain + 6, joint]
            np.testing.assert_allclose(column, moved, atol=1e-7)


def test_an_mjcf_with_a_free_base_is_solved_in_the_frame_of_the_base(small_arm: str) -> None:
    solver = QPIKSolver()
    assert solver.initialize(small_arm, chains={"arm": ChainConfig("tip")}, posture_weight=0.0)
    assert solver.get_joint_names() == ["turn", "lift", "bend", "push"]
    solver.solve_multi({}, np.deg2rad([0.0, 10.0, 0.0, 0.0]), DT)  # 10 degrees, as in the model.
    position, rotation = placements(solver._tree)[0]
    np.testing.assert_allclose(position, [0.0, 0.0, 0.9], atol=1e-6)
    np.testing.assert_allclose(rotation[:, 0], [0.0, 0.0, -1.0], atol=1e-6)


def test_mjcf_kinematics_agree_with_mujoco(small_arm: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_path(small_arm)
    data = mujoco.MjData(model)
    kinematics = KinematicModel(small_arm, SolverOptions(chains={"arm": ChainConfig("tip")}))
    state, random = kinematics.tree(), np.random.default_rng(0)
    for _ in range(20):
        joints = random.uniform([-2.0, -2.0, -2.0, 0.0], [2.0, 2.0, 2.0, 0.2])
        data.qpos[:7] = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
        data.qpos[7:] = joints
        mujoco.mj_kinematics(model, data)
        state.update(kinematics.to_internal(joints))
        np.testing.assert_allclose(placements(state)[0][0], data.site("tip").xpos, atol=1e-9)


def test_a_ball_joint_is_refused_with_its_name(tmp_path: Path) -> None:
    file = tmp_path / "ball.xml"
    file.write_text(SMALL_ARM.replace('<joint name="bend"/>', '<joint name="bend" type="ball"/>'))
    with pytest.raises(ModelError, match="bend"):
        KinematicModel(str(file), SolverOptions(chains={"arm": ChainConfig("tip")}))


def test_continuous_joints_rotate_without_a_limit(tmp_path: Path) -> None:
    file = tmp_path / "wheel.urdf"
    file.write_text(
        '<robot name="r"><link name="a"/><link name="b"/><link name="c"/>'
        '<joint name="spin" type="continuous"><parent link="a"/><child link="b"/>'
        '<axis xyz="0 0 1"/><limit velocity="2" effort="1"/></joint>'
        '<joint name="tip" type="fixed"><parent link="b"/><child link="c"/>'
        '<origin xyz="1 0 0"/></joint></robot>'
    )
    solver = QPIKSolver()
    assert solver.initialize(str(file), chains={"tip": ChainConfig("c")}, posture_weight=0.0)
    joints = np.array([7.0])
    solver.solve_multi({}, joints, DT)
    expected = [np.cos(7.0), np.sin(7.0), 0.0]
    np.testing.assert_allclose(placements(solver._tree)[0][0], expected, atol=1e-12)


def test_the_reference_posture_sets_the_joints_that_do_not_move(oracle: Oracle) -> None:
    arm = tuple(f"right_arm_{i}" for i in range(7))
    chains = {"right_arm": ChainConfig("ee_right")}
    kinematics = load(URDF, joint_names=arm, chains=chains)
    state = kinematics.tree()
    state.update(kinematics.to_internal(READY[6:13]))
    expected = oracle.poses(READY)["right_arm"].position
    np.testing.assert_allclose(placements(state)[0][0], expected, atol=1e-12)
