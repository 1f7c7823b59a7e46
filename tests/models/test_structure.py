# SPDX-License-Identifier: Apache-2.0
"""Names, orders, limits, keyframes and contact rules that the rest of the system relies on."""

import fnmatch
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
import pytest
import yaml

from tests.models import figures
from tests.models.loading import (
    BODY,
    HEAD,
    LEFT_ARM,
    MODELS,
    RIGHT_ARM,
    TORSO,
    URDF,
    MuJoCoRobot,
    PinocchioRobot,
    hand_joints,
)

ACTUATOR = mujoco.mjtObj.mjOBJ_ACTUATOR
WHEELS = ("left_wheel", "right_wheel")
COMMON = WHEELS + TORSO + RIGHT_ARM + LEFT_ARM + HEAD
RBY1S = ("rby1", "rby1_dg5f")
STANDING = {
    frozenset({"floor", geom})
    for geom in (
        *("wheel_l_collision", "wheel_r_collision"),
        *("caster_left_collision", "caster_right_collision"),
    )
}


def description(name: str) -> dict[str, Any]:
    with (MODELS / name / "robot.yaml").open(encoding="utf-8") as file:
        loaded: dict[str, Any] = yaml.safe_load(file)
    return loaded


def contacts(robot: MuJoCoRobot) -> set[frozenset[str]]:
    geoms = [(c.geom1, c.geom2) for c in robot.data.contact]
    return {frozenset(robot.model.geom(g).name for g in pair) for pair in geoms}


def may_touch(model: mujoco.MjModel, first: str, second: str) -> bool:
    a, b = model.geom(f"{first}_collision"), model.geom(f"{second}_collision")
    return bool(a.contype[0] & b.conaffinity[0] or b.contype[0] & a.conaffinity[0])


def test_gripper_robot_has_its_26_actuators_in_order(rby1: MuJoCoRobot) -> None:
    names = rby1.names(ACTUATOR, rby1.model.nu)
    assert names == [*COMMON, "right_gripper", "left_gripper"]


def test_hand_robot_has_its_64_actuators_in_order(rby1_dg5f: MuJoCoRobot) -> None:
    names = rby1_dg5f.names(ACTUATOR, rby1_dg5f.model.nu)
    assert names == [*COMMON, *hand_joints("right"), *hand_joints("left")]


@pytest.mark.parametrize("name", ("rby1", "rby1_dg5f", "dg5f_right", "dg5f_left"))
def test_each_actuator_drives_the_joint_it_is_named_after(name: str) -> None:
    model = MuJoCoRobot(name).model
    grippers = {"right_gripper": "gripper_finger_r1", "left_gripper": "gripper_finger_l1"}
    for index in range(model.nu):
        actuator = model.actuator(index)
        driven = model.joint(actuator.trnid[0]).name
        assert driven == grippers.get(actuator.name, actuator.name)


@pytest.mark.parametrize("name", ("rby1", "rby1_dg5f", "dg5f_right", "dg5f_left"))
def test_position_targets_span_the_joint_range_and_forces_the_effort(name: str) -> None:
    model = MuJoCoRobot(name).model
    for index in range(model.nu):
        actuator = model.actuator(index)
        if actuator.name in WHEELS:
            continue
        joint = actuator.trnid[0]
        # MuJoCo derives the targets from centre and width of the range.
        np.testing.assert_allclose(actuator.ctrlrange, model.jnt_range[joint], atol=1e-15)
        np.testing.assert_array_equal(actuator.forcerange, model.jnt_actfrcrange[joint])


def test_rby1_limits_are_as_published(rby1_urdf: PinocchioRobot) -> None:
    model = rby1_urdf.model
    for name, (low, high, velocity, effort) in figures.RBY1_LIMITS.items():
        joint = model.joints[model.getJointId(name)]
        assert model.lowerPositionLimit[joint.idx_q] == low, name
        assert model.upperPositionLimit[joint.idx_q] == high, name
        assert model.upperVelocityLimit[joint.idx_v] == velocity, name
        assert model.upperEffortLimit[joint.idx_v] == effort, name


@pytest.mark.parametrize("side", ("right", "left"))
def test_hand_limits_are_as_published(side: str) -> None:
    model = PinocchioRobot(f"dg5f_{side}").model
    for name in hand_joints(side):
        joint = model.joints[model.getJointId(name)]
        limits = model.lowerPositionLimit[joint.idx_q], model.upperPositionLimit[joint.idx_q]
        assert limits == figures.DG5F_LIMITS[name]
        assert model.upperVelocityLimit[joint.idx_v] == np.pi
        assert model.upperEffortLimit[joint.idx_v] == 7.5


@pytest.mark.parametrize("name", RBY1S)
def test_keyframes_are_the_named_poses(name: str) -> None:
    robot, poses = MuJoCoRobot(name), description(name)["poses"]
    assert robot.names(mujoco.mjtObj.mjOBJ_KEY, robot.model.nkey) == list(poses)
    for key, pose in poses.items():
        robot.reset(key)
        moving = [j for j in range(robot.model.njnt) if robot.model.jnt_type[j] != 0]
        measured = {robot.model.joint(j).name: robot.data.joint(j).qpos[0] for j in moving}
        assert {n: q for n, q in measured.items() if q} == pose
        commanded = dict(zip(robot.names(ACTUATOR, robot.model.nu), robot.data.ctrl, strict=True))
        assert {n: q for n, q in commanded.items() if q} == pose
        np.testing.assert_array_equal(robot.data.qpos[:7], [0, 0, 0, 1, 0, 0, 0])


@pytest.mark.parametrize("pose", ("zero", "ready", "a_pose"))
def test_named_poses_are_the_published_ones(pose: str) -> None:
    published = figures.RBY1_POSES[pose]
    for name in RBY1S:
        ours = description(name)["poses"][pose]
        # Nine decimals in the file.
        assert ours == pytest.approx(published, abs=5e-10)


@pytest.mark.parametrize("side", ("right", "left"))
def test_hand_keyframes_are_the_poses_of_its_variant(side: str) -> None:
    hand = MuJoCoRobot(f"dg5f_{side}")
    for key, pose in description("dg5f")["variants"][side]["poses"].items():
        hand.reset(key)
        expected = [pose.get(name, 0.0) for name in hand_joints(side)]
        np.testing.assert_array_equal(hand.data.qpos, expected)
        np.testing.assert_array_equal(hand.data.ctrl, expected)


@pytest.mark.parametrize("name", RBY1S)
def test_descriptions_contain_only_existing_names(name: str) -> None:
    robot, about = MuJoCoRobot(name), description(name)
    joints = set(robot.names(mujoco.mjtObj.mjOBJ_JOINT, robot.model.njnt))
    bodies = set(robot.names(mujoco.mjtObj.mjOBJ_BODY, robot.model.nbody))
    for chain in about["chains"].values():
        assert set(chain["joints"]) <= joints
        assert chain["end_effector"] in bodies
    for hand in about["hands"].values():
        assert set(hand["joints"]) <= joints
        assert len(hand["joints"]) == len(hand["open"]) == len(hand["closed"])
    for rule in about["limits"]:
        assert fnmatch.filter(joints, rule["joints"])
    for link, others in about["collision_pairs"]:
        assert {link, *others} <= bodies


@pytest.mark.parametrize(("name", "vendor", "ours"), [("rby1", 43, 16), ("rby1_dg5f", 43, 91)])
def test_collision_pairs_are_distinct_and_all_have_shapes(
    name: str, vendor: int, ours: int
) -> None:
    pairs = [
        frozenset({link, other})
        for link, others in description(name)["collision_pairs"]
        for other in others
    ]
    assert len(pairs) == len(set(pairs)) == vendor + ours
    urdf = PinocchioRobot(name).model
    shapes = pin.buildGeomFromUrdf(urdf, str(URDF[name]), pin.GeometryType.COLLISION)
    with_shape = {urdf.frames[g.parentFrame].name for g in shapes.geometryObjects}
    assert frozenset().union(*pairs) <= with_shape


def test_links_of_the_vendor_pairs_are_single_capsules_in_pinocchio() -> None:
    urdf = PinocchioRobot("rby1").model
    shapes = pin.buildGeomFromUrdf(urdf, str(URDF["rby1"]), pin.GeometryType.COLLISION)
    kinds: dict[str, list[str]] = {}
    for shape in shapes.geometryObjects:
        link = urdf.frames[shape.parentFrame].name
        kinds.setdefault(link, []).append(type(shape.geometry).__name__)
    links = [f"link_torso_{i}" for i in (0, 1, 2, 4, 5)]
    links += [f"link_{side}_arm_{i}" for side in ("right", "left") for i in range(6)]
    assert {link: kinds[link] for link in links} == {link: ["Capsule"] for link in links}


def test_vendor_shapes_keep_the_published_clearance_at_ready() -> None:
    robot = PinocchioRobot("rby1")
    shapes = pin.buildGeomFromUrdf(robot.model, str(URDF["rby1"]), pin.GeometryType.COLLISION)
    links = [robot.model.frames[shape.parentFrame].name for shape in shapes.geometryObjects]
    chest, forearm = links.index("link_torso_5"), links.index("link_right_arm_3")
    shapes.addCollisionPair(pin.CollisionPair(chest, forearm))
    data = shapes.createData()
    q = robot.configuration(figures.RBY1_POSES["ready"])
    pin.computeDistances(robot.model, robot.data, shapes, data, q)
    assert data.distanceResults[0].min_distance == pytest.approx(0.0989, abs=5e-5)


@pytest.mark.parametrize("name", RBY1S)
@pytest.mark.parametrize("pose", ("zero", "ready", "a_pose"))
def test_robot_touches_only_the_floor_at_named_poses(name: str, pose: str) -> None:
    robot = MuJoCoRobot(name)
    robot.reset(pose)
    robot.step(0.1)
    assert contacts(robot) == STANDING


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("link_right_arm_5", "link_torso_5"),
        ("link_right_arm_3", "link_torso_1"),
        ("link_left_arm_4", "link_right_arm_1"),
        ("link_left_arm_1", "link_right_arm_5"),
        ("ee_right", "link_head_2"),
        ("ee_left", "wheel_l"),
        ("ee_right", "ee_left"),
        ("ee_finger_r1", "ee_finger_l2"),
    ],
)
def test_parts_that_can_meet_do_collide(rby1: MuJoCoRobot, first: str, second: str) -> None:
    assert may_touch(rby1.model, first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("link_torso_0", "link_torso_2"),
        ("link_torso_5", "link_right_arm_1"),
        ("link_right_arm_2", "link_right_arm_3"),
        ("link_right_arm_3", "link_right_arm_5"),
        ("link_left_arm_4", "ee_left"),
        ("ee_finger_r1", "ee_finger_r2"),
        ("link_right_arm_1", "link_left_arm_1"),
    ],
)
def test_neighbours_never_collide(rby1: MuJoCoRobot, first: str, second: str) -> None:
    assert not may_touch(rby1.model, first, second)


@pytest.mark.parametrize(
    ("first", "second", "collide"),
    [
        ("rl_dg_1_4", "rl_dg_2_4", True),
        ("rl_dg_2_3", "rl_dg_3_3", True),
        ("rl_dg_4_4", "rl_dg_5_4", True),
        ("rl_dg_2_2", "rl_dg_2_3", False),
        ("rl_dg_3_2", "rl_dg_palm", False),
        ("rl_dg_2_4", "ll_dg_3_4", True),
        ("rl_dg_2_4", "ll_dg_palm", True),
        ("rl_dg_palm", "ll_dg_palm", True),
        ("ll_dg_3_4", "link_head_2", True),
        ("ll_dg_1_4", "link_right_arm_2", True),
        ("ll_dg_1_4", "link_left_arm_3", False),
    ],
)
def test_fingers_collide_with_each_other_and_the_other_hand_but_not_along_a_finger(
    rby1_dg5f: MuJoCoRobot, first: str, second: str, collide: bool
) -> None:
    assert may_touch(rby1_dg5f.model, first, second) is collide


def test_every_collision_shape_meets_the_environment(rby1_dg5f: MuJoCoRobot) -> None:
    model = rby1_dg5f.model
    solid = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
    assert np.all(model.geom_conaffinity[solid] & 1)


def test_visual_shapes_have_no_mass_and_no_contacts(rby1_dg5f: MuJoCoRobot) -> None:
    model = rby1_dg5f.model
    shown = model.geom_group == 2
    assert shown.any()
    assert not model.geom_contype[shown].any() and not model.geom_conaffinity[shown].any()


@pytest.mark.parametrize("name", RBY1S)
def test_sensors_and_cameras_exist_by_name(name: str) -> None:
    model = MuJoCoRobot(name).model
    for side in ("right", "left"):
        for kind in ("force", "torque"):
            assert model.sensor(f"{side}_wrist_ft_{kind}").dim[0] == 3
    for signal, size in (("quat", 4), ("gyro", 3), ("accel", 3)):
        assert model.sensor(f"chest_imu_{signal}").dim[0] == size
    assert model.camera("head_camera").fovy[0] == 58.0
    assert model.camera("overview").id >= 0


def test_all_body_joints_have_an_acceleration_limit() -> None:
    for name in RBY1S:
        rules = description(name)["limits"]
        for joint in (*BODY, *WHEELS):
            matching = [r for r in rules if fnmatch.fnmatch(joint, r["joints"])]
            assert matching and matching[-1]["acceleration"] > 0.0
            factor = 10.0 if joint in WHEELS else 20.0
            assert matching[-1]["jerk"] == pytest.approx(factor * matching[-1]["acceleration"])
