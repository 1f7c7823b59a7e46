# SPDX-License-Identifier: Apache-2.0
"""The simulated RB-Y1 stands, reaches, drives and grips."""

import mujoco
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.models.loading import MuJoCoRobot, rotation_angle

SIDES = ("right", "left")
RBY1S = ("rby1", "rby1_dg5f")
WHEEL_RADIUS, TRACK = 0.1, 0.53


@pytest.fixture(scope="module", params=RBY1S)
def robot(request: pytest.FixtureRequest) -> MuJoCoRobot:
    return MuJoCoRobot(request.param)


def drive(robot: MuJoCoRobot, forward: float, yaw_rate: float) -> None:
    """Command the wheels for a base velocity [m/s] and [rad/s]; positive wheels go backwards."""
    robot.data.actuator("right_wheel").ctrl = -(forward + yaw_rate * TRACK / 2) / WHEEL_RADIUS
    robot.data.actuator("left_wheel").ctrl = -(forward - yaw_rate * TRACK / 2) / WHEEL_RADIUS


def base_velocity(robot: MuJoCoRobot) -> tuple[float, float]:
    """Return the forward [m/s] and turning [rad/s] speed of the base."""
    rotation = robot.data.body("base").xmat.reshape(3, 3)
    return float(rotation[:, 0] @ robot.data.qvel[:3]), float(robot.data.qvel[5])


def arm_targets(
    robot: MuJoCoRobot, side: str, offsets: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return arm angles for a hand moved by offsets [m] from where it is, same orientation."""
    model, data = robot.model, mujoco.MjData(robot.model)
    data.qpos[:] = robot.data.qpos
    mujoco.mj_forward(model, data)
    hand = model.body(f"ee_{side}").id
    joints = [model.joint(f"{side}_arm_{i}") for i in range(7)]
    dofs = [int(joint.dofadr[0]) for joint in joints]
    addresses = [int(joint.qposadr[0]) for joint in joints]
    start, level = data.xpos[hand].copy(), data.xquat[hand].copy()
    jacobian, error, angles = np.zeros((6, model.nv)), np.zeros(6), []
    inverse, rotation = np.zeros(4), np.zeros(4)
    for offset in offsets:
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_jacBody(model, data, jacobian[:3], jacobian[3:], hand)
        error[:3] = start + offset - data.xpos[hand]
        mujoco.mju_negQuat(inverse, data.xquat[hand])
        mujoco.mju_mulQuat(rotation, level, inverse)
        mujoco.mju_quat2Vel(error[3:], rotation, 1.0)
        arm = jacobian[:, dofs]
        data.qpos[addresses] += arm.T @ np.linalg.solve(arm @ arm.T + 1e-6 * np.eye(6), error)
        angles.append(data.qpos[addresses].copy())
    return np.array(angles)


def test_ready_pose_is_held_under_gravity(robot: MuJoCoRobot) -> None:
    robot.reset("ready")
    start = {side: robot.pose(f"ee_{side}") for side in SIDES}
    for _ in range(100):
        robot.step(0.1)
        for side, (position, rotation) in start.items():
            measured, measured_rotation = robot.pose(f"ee_{side}")
            assert np.linalg.norm(measured - position) < 2e-3
            assert np.degrees(rotation_angle(rotation, measured_rotation)) < 0.2
    assert robot.warnings() == 0


@pytest.mark.parametrize("axis", (0, 2))
def test_hands_follow_a_slow_sine(robot: MuJoCoRobot, axis: int) -> None:
    robot.reset("ready")
    times = np.arange(0.0, 10.0, robot.model.opt.timestep)
    offsets = np.zeros((times.size, 3))
    offsets[:, axis] = 0.1 * np.sin(2 * np.pi * 0.25 * times)
    targets = {side: arm_targets(robot, side, offsets) for side in SIDES}
    control = {
        side: [robot.model.actuator(f"{side}_arm_{i}").id for i in range(7)] for side in SIDES
    }
    hands = {side: robot.model.body(f"ee_{side}").id for side in SIDES}
    start = {side: robot.data.xpos[hands[side]].copy() for side in SIDES}
    squared = []
    for k, offset in enumerate(offsets):
        for side in SIDES:
            robot.data.ctrl[control[side]] = targets[side][k]
        mujoco.mj_step(robot.model, robot.data)
        for side in SIDES:
            missed = robot.data.xpos[hands[side]] - start[side] - offset
            squared.append(missed @ missed)
    assert np.sqrt(np.mean(squared)) < 10e-3


@pytest.mark.parametrize(
    ("forward", "yaw_rate"), [(0.3, 0.0), (-0.3, 0.0), (0.0, 0.5), (0.0, -1.0), (0.3, 0.5)]
)
def test_base_drives_as_commanded(robot: MuJoCoRobot, forward: float, yaw_rate: float) -> None:
    robot.reset("ready")
    for scale in np.linspace(0.05, 1.0, 20):
        drive(robot, scale * forward, scale * yaw_rate)
        robot.step(0.05)
    robot.step(1.0)
    measured = base_velocity(robot)
    assert measured[0] == pytest.approx(forward, rel=0.05, abs=0.005)
    assert measured[1] == pytest.approx(yaw_rate, rel=0.05, abs=0.005)


def test_base_rotates_about_the_middle_of_its_axle(rby1: MuJoCoRobot) -> None:
    rby1.reset("ready")
    drive(rby1, 0.0, 0.5)
    rby1.step(4.0)
    rotation = rby1.data.body("base").xmat.reshape(3, 3)
    axle = rby1.data.body("base").xpos + 0.228 * rotation[:, 0]
    np.testing.assert_allclose(axle[:2], [0.228, 0.0], atol=5e-3)


@pytest.mark.parametrize("pose", ("zero", "ready", "a_pose"))
@pytest.mark.parametrize("speed", (1.0, -1.0))
def test_full_braking_keeps_wheels_and_casters_on_the_floor(
    robot: MuJoCoRobot, pose: str, speed: float
) -> None:
    robot.reset(pose)
    for scale in np.linspace(0.02, 1.0, 50):
        drive(robot, scale * speed, 0.0)
        robot.step(0.06)
    assert base_velocity(robot)[0] == pytest.approx(speed, rel=0.05)
    drive(robot, 0.0, 0.0)
    for _ in range(50):
        robot.step(0.02)
        for body, radius in (("wheel_l", 0.1), ("wheel_r", 0.1)):
            assert robot.data.body(body).xpos[2] - radius < 1e-3
        for caster in ("caster_left_collision", "caster_right_collision"):
            assert robot.data.geom(caster).xpos[2] - 0.03 < 1e-3
    assert abs(base_velocity(robot)[0]) < 1e-3


def test_floor_carries_the_whole_weight(robot: MuJoCoRobot) -> None:
    robot.reset("ready")
    robot.step(1.0)
    force, lift = np.zeros(6), 0.0
    for contact in range(robot.data.ncon):
        mujoco.mj_contactForce(robot.model, robot.data, contact, force)
        lift += force[0]
    assert lift == pytest.approx(9.81 * robot.model.body_subtreemass[0], rel=1e-3)


def test_wrist_sensors_measure_the_weight_of_the_hand(robot: MuJoCoRobot) -> None:
    robot.reset("ready")
    robot.step(1.0)
    for side in SIDES:
        force = robot.data.sensor(f"{side}_wrist_ft_force").data
        weight = 9.81 * robot.model.body_subtreemass[robot.model.body(f"ee_{side}").id]
        assert np.linalg.norm(force) == pytest.approx(weight, rel=1e-2)


def test_chest_sensor_is_level_and_measures_gravity(rby1: MuJoCoRobot) -> None:
    rby1.reset("ready")
    rby1.step(1.0)
    sensor = rby1.data.sensor
    np.testing.assert_allclose(sensor("chest_imu_quat").data, [1, 0, 0, 0], atol=2e-3)
    np.testing.assert_allclose(sensor("chest_imu_gyro").data, 0.0, atol=1e-4)
    np.testing.assert_allclose(sensor("chest_imu_accel").data, [0, 0, 9.81], atol=0.05)


def test_grippers_open_and_close_to_their_limits(rby1: MuJoCoRobot) -> None:
    rby1.reset("ready")
    for target in (-0.05, 0.0, -0.05):
        for side in SIDES:
            rby1.data.actuator(f"{side}_gripper").ctrl = target
        rby1.step(1.0)
        for letter in "rl":
            first = rby1.data.joint(f"gripper_finger_{letter}1").qpos[0]
            second = rby1.data.joint(f"gripper_finger_{letter}2").qpos[0]
            assert first == pytest.approx(target, abs=5e-4)
            assert second == pytest.approx(-target, abs=5e-4)
    assert rby1.warnings() == 0


@pytest.mark.parametrize("finger", range(1, 6))
@pytest.mark.parametrize("side", SIDES)
def test_every_finger_reaches_both_ends_of_its_joints(side: str, finger: int) -> None:
    hand = MuJoCoRobot(f"dg5f_{side}")
    joint = f"{side[0]}j_dg_{{}}_{{}}".format
    side_sign = 1.0 if side == "right" else -1.0
    bowed = {joint(f, 3 if f == 5 else 2): 1.5 for f in range(2, 6) if f != finger}
    leaning = {joint(f, 1): -0.4 * side_sign for f in range(2, 5)}
    for k in range(1, 5):
        name = joint(finger, k)
        for bound in (0, 1):
            hand.reset("zero")
            # It would touch its neighbours sideways, so they move away.
            room = leaning if finger == 5 else bowed if k == 1 and finger > 1 else {}
            for neighbour, angle in room.items():
                hand.data.actuator(neighbour).ctrl = angle
            hand.step(0.5)
            limit = hand.model.joint(name).range[bound]
            hand.data.actuator(name).ctrl = limit
            hand.step(1.0)
            assert hand.data.joint(name).qpos[0] == pytest.approx(limit, abs=0.02), name
            assert hand.warnings() == 0


@pytest.mark.parametrize("side", SIDES)
def test_hand_closes_into_a_fist_and_opens_again(side: str) -> None:
    hand = MuJoCoRobot(f"dg5f_{side}")
    hand.reset("zero")
    curled = hand.model.jnt_range[:, 1] * 0.6
    for target in (curled, np.zeros(20), curled, np.zeros(20)):
        hand.data.ctrl[:] = np.clip(target, *hand.model.jnt_range.T)
        hand.step(1.0)
        assert np.abs(hand.data.qvel).max() < 1.0
    np.testing.assert_allclose(hand.data.qpos, 0.0, atol=0.02)
    assert hand.warnings() == 0


def test_a_minute_of_random_targets_leaves_the_state_finite(robot: MuJoCoRobot) -> None:
    rng = np.random.default_rng(5)
    robot.reset("ready")
    low, high = robot.model.actuator_ctrlrange.T
    for _ in range(120):
        robot.data.ctrl[:] = rng.uniform(low, high)
        robot.data.ctrl[:2] = rng.uniform(-3.0, 3.0, 2)
        robot.step(0.5)
        assert np.isfinite(robot.data.qpos).all() and np.isfinite(robot.data.qvel).all()
    assert robot.warnings() == 0
