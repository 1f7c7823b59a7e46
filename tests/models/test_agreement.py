# SPDX-License-Identifier: Apache-2.0
"""URDF and MJCF of one robot describe the same machine."""

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from tests.models import figures
from tests.models.loading import MuJoCoRobot, PinocchioRobot

ROBOTS = ("rby1", "rby1_dg5f", "dg5f_right", "dg5f_left")
TOLERANCE = 1e-6


@pytest.mark.parametrize("name", ROBOTS)
def test_frames_agree_on_random_configurations(name: str) -> None:
    mjcf, urdf = MuJoCoRobot(name), PinocchioRobot(name)
    bodies = mjcf.names(mujoco.mjtObj.mjOBJ_BODY, mjcf.model.nbody)
    shared = [b for b in bodies if urdf.model.existFrame(b)]
    assert set(bodies) - set(shared) <= {"world", "stand"}
    frames = [urdf.model.getFrameId(b) for b in shared]
    rows = [mjcf.model.body(b).id for b in shared]
    scalar = [j for j in range(mjcf.model.njnt) if mjcf.model.jnt_type[j] != 0]
    names = [mjcf.model.joint(j).name for j in scalar]
    limited = mjcf.model.jnt_limited[scalar] == 1
    low, high = np.where(limited[:, None], mjcf.model.jnt_range[scalar], [-np.pi, np.pi]).T
    rng = np.random.default_rng(3)
    mjcf.reset()
    root = mjcf.data.xpos[rows[0]].copy()
    for _ in range(1000):
        q = rng.uniform(low, high)
        mjcf.data.qpos[mjcf.model.jnt_qposadr[scalar]] = q
        mujoco.mj_kinematics(mjcf.model, mjcf.data)
        urdf.set_joints(dict(zip(names, q, strict=True)))
        placements = [urdf.data.oMf[f] for f in frames]
        positions = np.array([p.translation for p in placements])
        rotations = np.array([p.rotation for p in placements])
        np.testing.assert_allclose(mjcf.data.xpos[rows] - root, positions, atol=TOLERANCE)
        np.testing.assert_allclose(
            mjcf.data.xmat[rows].reshape(-1, 3, 3), rotations, atol=TOLERANCE
        )


@pytest.mark.parametrize("name", ("rby1", "rby1_dg5f"))
def test_sites_agree_with_the_frames_of_that_name(name: str) -> None:
    mjcf, urdf = MuJoCoRobot(name), PinocchioRobot(name)
    mjcf.set_joints(figures.RBY1_POSES["random_1"])
    urdf.set_joints(figures.RBY1_POSES["random_1"])
    for site in ("head_camera", "chest_imu"):
        measured = mjcf.data.site(site)
        position, rotation = urdf.pose(site)
        np.testing.assert_allclose(measured.xpos, position, atol=TOLERANCE)
        np.testing.assert_allclose(measured.xmat.reshape(3, 3), rotation, atol=TOLERANCE)


@pytest.mark.parametrize("name", ROBOTS)
def test_every_moving_joint_is_in_both(name: str) -> None:
    mjcf, urdf = MuJoCoRobot(name), PinocchioRobot(name)
    joints = mjcf.names(mujoco.mjtObj.mjOBJ_JOINT, mjcf.model.njnt)
    assert set(joints) - {"base_free"} == set(urdf.model.names) - {"universe"}


@pytest.mark.parametrize("name", ROBOTS)
def test_limits_agree(name: str) -> None:
    mjcf, urdf = MuJoCoRobot(name).model, PinocchioRobot(name).model
    for joint_id in range(mjcf.njnt):
        joint = mjcf.joint(joint_id)
        if not mjcf.jnt_limited[joint_id]:
            continue
        twin = urdf.joints[urdf.getJointId(joint.name)]
        low, high = urdf.lowerPositionLimit[twin.idx_q], urdf.upperPositionLimit[twin.idx_q]
        np.testing.assert_array_equal(joint.range, [low, high], err_msg=joint.name)
        effort = urdf.upperEffortLimit[twin.idx_v]
        allowed = mjcf.jnt_actfrcrange[joint_id]
        np.testing.assert_array_equal(allowed, [-effort, effort], err_msg=joint.name)


@pytest.mark.parametrize("name", ROBOTS)
def test_joint_space_inertias_agree(name: str) -> None:
    mjcf, urdf = MuJoCoRobot(name), PinocchioRobot(name)
    mjcf.model.dof_armature[:] = 0.0  # Only the simulator models rotor inertia.
    scalar = [j for j in range(mjcf.model.njnt) if mjcf.model.jnt_type[j] != 0]
    names = [mjcf.model.joint(j).name for j in scalar]
    dofs = mjcf.model.jnt_dofadr[scalar]
    twins = [urdf.model.joints[urdf.model.getJointId(n)].idx_v for n in names]
    rng = np.random.default_rng(4)
    inertia = np.empty((mjcf.model.nv, mjcf.model.nv))
    for _ in range(20):
        pose = dict(zip(names, rng.uniform(-1.0, 1.0, len(names)), strict=True))
        mjcf.set_joints(pose)
        mujoco.mj_fullM(mjcf.model, mjcf.data, inertia)
        expected = pin.crba(urdf.model, urdf.data, urdf.configuration(pose))
        np.testing.assert_allclose(
            inertia[np.ix_(dofs, dofs)], expected[np.ix_(twins, twins)], atol=1e-7
        )


@pytest.mark.parametrize(
    ("name", "mass"),
    [
        ("rby1", figures.RBY1_MASS),
        ("rby1_dg5f", figures.RBY1_MASS + 2 * (figures.DG5F_MASS - figures.GRIPPER_MASS)),
        ("dg5f_right", figures.DG5F_MASS),
        ("dg5f_left", figures.DG5F_MASS),
    ],
)
def test_total_mass_is_as_published(name: str, mass: float) -> None:
    mjcf, urdf = MuJoCoRobot(name).model, PinocchioRobot(name).model
    assert mjcf.body_subtreemass[0] == pytest.approx(mass, rel=1e-6)
    # Pinocchio keeps the mass of a fixed root in the inertia of the universe.
    assert sum(inertia.mass for inertia in urdf.inertias) == pytest.approx(mass, rel=1e-6)
