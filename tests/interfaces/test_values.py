# SPDX-License-Identifier: Apache-2.0
"""Values are checked when they are made, and cannot be changed afterwards."""

import copy
import dataclasses
import inspect
import pickle
import re

import numpy as np
import pytest

from teleop_system import interfaces
from teleop_system.exceptions import (
    InvalidHandStateError,
    InvalidJointStateError,
    InvalidPoseError,
    InvalidValueError,
)
from teleop_system.interfaces import (
    ArmSide,
    HandJointState,
    IKResult,
    JointState,
    Pose6D,
    RGBDFrame,
    SimState,
    TrackerRole,
    VelocityCommand,
)

UNIT = np.array([0.0, 0.0, 0.0, 1.0])

CONTRACT_FIELDS = {
    Pose6D: ["position", "orientation", "timestamp", "valid"],
    HandJointState: ["joint_angles", "finger_tip_positions", "timestamp", "side", "valid"],
    JointState: ["positions", "velocities", "efforts", "names", "timestamp"],
    VelocityCommand: ["linear_x", "linear_y", "angular_z", "timestamp"],
    IKResult: ["joint_positions", "success", "error_position", "error_orientation"],
    SimState: [
        "joint_positions",
        "joint_velocities",
        "base_position",
        "base_orientation",
        "timestamp",
    ],
    RGBDFrame: ["rgb", "depth", "intrinsics", "extrinsics", "timestamp", "width", "height"],
}

CONTRACT_METHODS = {
    "IMasterTracker": "initialize get_pose is_connected get_role shutdown",
    "IHandInput": "initialize get_joint_state is_connected get_side shutdown",
    "ISlaveArm": (
        "initialize send_joint_command(joint_positions) get_joint_state get_joint_count get_side "
        "is_connected shutdown"
    ),
    "ISlaveHand": (
        "initialize send_joint_command(joint_positions) get_joint_state get_joint_count get_side "
        "is_connected shutdown"
    ),
    "IMobileBase": (
        "initialize send_velocity(linear_x,linear_y,angular_z) get_odometry stop is_connected "
        "shutdown"
    ),
    "IIKSolver": (
        "initialize(urdf_path,kwargs) solve(target_pose,current_joints,dt=0.01) "
        "solve_multi(target_poses,current_joints,dt=0.01) get_joint_names get_joint_count "
        "set_posture_target(posture)"
    ),
    "ISimulator": (
        "initialize(config) step(dt=None) get_state set_joint_positions(positions) "
        "set_base_velocity(linear_x,linear_y,angular_z) render get_camera_rgbd(camera_name) "
        "get_joint_names get_time reset shutdown"
    ),
    "ICameraStream": (
        "initialize get_rgbd set_orientation(pan,tilt) get_orientation get_intrinsics "
        "is_connected shutdown"
    ),
}


def frame(**changes: object) -> RGBDFrame:
    values: dict[str, object] = {
        "rgb": np.zeros((480, 640, 3), np.uint8),
        "depth": np.zeros((480, 640), np.float32),
        "intrinsics": np.eye(3),
        "extrinsics": np.eye(4),
        "timestamp": 0.0,
    }
    return RGBDFrame(**(values | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("value", CONTRACT_FIELDS, ids=lambda value: value.__name__)
def test_fields_have_the_names_and_order_of_the_contract(value: type) -> None:
    assert [field.name for field in dataclasses.fields(value)] == CONTRACT_FIELDS[value]


@pytest.mark.parametrize("name", CONTRACT_METHODS)
def test_interfaces_have_the_methods_and_parameters_of_the_contract(name: str) -> None:
    interface = getattr(interfaces, name)
    expected = set(CONTRACT_METHODS[name].split())
    actual = set()
    for method in interface.__abstractmethods__:
        parameters = list(inspect.signature(getattr(interface, method)).parameters.values())[1:]
        text = ",".join(
            p.name if p.default is p.empty else f"{p.name}={p.default}" for p in parameters
        )
        actual.add(f"{method}({text})" if text else method)
    assert actual == expected


def test_roles_and_sides_are_those_of_the_contract() -> None:
    roles = {"RIGHT_HAND", "LEFT_HAND", "WAIST", "RIGHT_FOOT", "LEFT_FOOT", "HEAD"}
    assert set(TrackerRole.__members__) == roles
    assert set(ArmSide.__members__) == {"LEFT", "RIGHT", "TORSO"}


def test_a_pose_copies_its_arrays_and_is_read_only() -> None:
    position = np.zeros(3)
    pose = Pose6D(position, UNIT)
    position[0] = 1.0
    assert pose.position[0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        pose.position[0] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        pose.valid = False  # type: ignore[misc]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("field", ["position", "orientation", "timestamp"])
def test_a_pose_that_is_not_finite_is_reported_with_the_field(field: str, bad: float) -> None:
    values = {"position": np.zeros(3), "orientation": UNIT.copy(), "timestamp": 0.0}
    if field == "timestamp":
        values[field] = bad
    else:
        values[field][1] = bad
    with pytest.raises(InvalidPoseError, match=field):
        Pose6D(**values)


@pytest.mark.parametrize("position", [[0, 0], [0, 0, 0, 0], [[0, 0, 0]], "abc", None])
def test_a_pose_of_another_shape_is_refused(position: object) -> None:
    with pytest.raises(InvalidPoseError, match="position"):
        Pose6D(position, UNIT)  # type: ignore[arg-type]


def test_a_lost_pose_is_never_valid() -> None:
    assert Pose6D.lost().valid is False


def test_translation_keeps_the_orientation_and_has_the_new_stamp() -> None:
    moved = Pose6D(np.ones(3), UNIT, 1.0).translated(np.array([0, 0, 2.0]), timestamp=5.0)
    np.testing.assert_array_equal(moved.position, [1, 1, 3])
    np.testing.assert_array_equal(moved.orientation, UNIT)
    assert moved.timestamp == 5.0


@pytest.mark.parametrize("count", [0, 19, 21])
def test_a_hand_state_needs_twenty_angles(count: int) -> None:
    with pytest.raises(InvalidHandStateError, match=re.escape(f"(20,), got shape ({count},)")):
        HandJointState(np.zeros(count))


def test_a_hand_state_needs_a_known_side() -> None:
    with pytest.raises(InvalidHandStateError, match="'middle'"):
        HandJointState(np.zeros(20), side="middle")


def test_finger_tips_are_optional_but_checked() -> None:
    assert HandJointState(np.zeros(20)).finger_tip_positions is None
    with pytest.raises(InvalidHandStateError, match="finger_tip_positions"):
        HandJointState(np.zeros(20), np.zeros((4, 3)))


def test_joint_names_must_match_the_positions() -> None:
    assert JointState(np.zeros(2)).names == []
    with pytest.raises(InvalidJointStateError, match="one name per position"):
        JointState(np.zeros(2), names=["a"])
    with pytest.raises(InvalidJointStateError, match="unique"):
        JointState(np.zeros(2), names=["a", "a"])


def test_velocities_and_efforts_must_be_as_long_as_the_positions() -> None:
    with pytest.raises(InvalidJointStateError, match="velocities"):
        JointState(np.zeros(2), velocities=np.zeros(3))
    with pytest.raises(InvalidJointStateError, match="efforts"):
        JointState(np.zeros(2), efforts=np.zeros(1))


def test_a_velocity_command_is_zero_by_default_and_finite_always() -> None:
    assert VelocityCommand() == VelocityCommand(0.0, 0.0, 0.0, 0.0)
    with pytest.raises(InvalidValueError, match="angular_z"):
        VelocityCommand(angular_z=float("nan"))
    with pytest.raises(InvalidValueError, match="linear_x"):
        VelocityCommand(10**400)


def test_a_frame_has_the_default_size_of_the_contract() -> None:
    assert (frame().width, frame().height) == (640, 480)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("rgb", np.zeros((480, 640, 3), np.float32)),
        ("rgb", np.zeros((640, 480, 3), np.uint8)),
        ("depth", np.zeros((480, 640), np.float64)),
        ("intrinsics", np.eye(4)),
        ("extrinsics", np.eye(3)),
    ],
)
def test_a_frame_that_does_not_fit_together_is_refused(field: str, value: np.ndarray) -> None:
    with pytest.raises(InvalidValueError, match=field):
        frame(**{field: value})


def test_copies_of_a_pose_are_read_only() -> None:
    pose = Pose6D([1.0, 2.0, 3.0], [0.0, 0.6, 0.0, 0.8], 4.0)  # type: ignore[arg-type]
    copies = (pose, copy.deepcopy(pose), copy.copy(pose), pickle.loads(pickle.dumps(pose)))
    unchecked = Pose6D.unchecked(pose.position, pose.orientation, 4.0)
    for each in (*copies, dataclasses.replace(pose, valid=False), unchecked):
        np.testing.assert_array_equal(each.position, [1.0, 2.0, 3.0])
        np.testing.assert_array_equal(each.orientation, [0.0, 0.6, 0.0, 0.8])
        assert each.timestamp == 4.0
        for values in (each.position, each.orientation):
            with pytest.raises(ValueError, match="read-only"):
                values[0] = 9.0
    moved = pose.translated(np.array([1.0, 0.0, 0.0]), timestamp=5.0)
    np.testing.assert_array_equal(moved.position, [2.0, 2.0, 3.0])
    assert moved.timestamp == 5.0
    assert unchecked.valid


@pytest.mark.parametrize(
    ("position", "not_finite"),
    [([np.nan, 0.0, 0.0], True), ([0.0, 0.0], False), (["a"] * 3, False)],
)
def test_the_error_of_a_refused_value_says_whether_it_is_finite(
    position: object, not_finite: bool
) -> None:
    with pytest.raises(InvalidPoseError) as refused:
        Pose6D(position, np.array([0.0, 0.0, 0.0, 1.0]))  # type: ignore[arg-type]
    assert refused.value.not_finite is not_finite
