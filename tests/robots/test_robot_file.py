# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from teleop_system.exceptions import ModelError
from teleop_system.robots import RobotDescription, load_robot
from tests.robots.models import MOBILE_DUAL, SIX_AXIS, write_robot


def load(folder: Path, yaml: str, mjcf: str = SIX_AXIS) -> RobotDescription:
    write_robot(folder / "arm", arm_xml=mjcf, robot_yaml=yaml)
    return load_robot(str(folder / "arm"))


def test_an_empty_file_changes_nothing(tmp_path: Path) -> None:
    assert load(tmp_path, "# Nothing yet.\n").dof == 6


def test_a_stated_end_effector_does_not_change_the_inferred_joints(tmp_path: Path) -> None:
    robot = load(tmp_path, "chains: {arm: {end_effector: wrist_b}}")
    assert robot.chain("arm").end_effector == "wrist_b"
    assert len(robot.chain("arm").joints) == 6


def test_stated_chains_replace_the_inferred_ones(tmp_path: Path) -> None:
    robot = load(tmp_path, "chains: {front: {joints: [pan, lift], side: left}}")
    assert list(robot.chains) == ["front"]
    assert (robot.chain("front").kind, robot.chain("front").side) == ("arm", "left")


def test_a_later_limit_takes_precedence_over_an_earlier_one(tmp_path: Path) -> None:
    yaml = "limits: [{joints: '*', velocity: 2.0}, {joints: [pan, 'wrist_?'], velocity: 3.0}]"
    robot = load(tmp_path, yaml)
    assert robot.limits("wrist_1").velocity == 3.0
    assert robot.limits("lift").velocity == 2.0


def test_joints_that_a_pose_does_not_name_are_zero(tmp_path: Path) -> None:
    robot = load(tmp_path, "poses: {ready: {lift: 0.5}}")
    assert robot.pose("ready") == {
        **dict.fromkeys(("pan", "elbow", "wrist_1", "wrist_2", "wrist_3"), 0.0),
        "lift": 0.5,
    }


def test_keyframes_are_kept_beside_stated_poses(tmp_path: Path) -> None:
    assert set(load(tmp_path, "poses: {ready: {}}").poses) == {"home", "ready"}


def test_a_pair_is_listed_once_in_either_order(tmp_path: Path) -> None:
    yaml = "collision_pairs: [[fore, [shoulder, flange]], [flange, [fore]]]"
    assert load(tmp_path, yaml).collision_pairs == (("fore", "shoulder"), ("flange", "fore"))


@pytest.mark.parametrize(("key", "empty"), [("head", None), ("base", None), ("hands", {})])
def test_a_part_stated_to_be_absent_is_not_inferred(
    tmp_path: Path, key: str, empty: object
) -> None:
    assert getattr(load(tmp_path, "", MOBILE_DUAL), key)
    assert getattr(load(tmp_path, f"{key}: null", MOBILE_DUAL), key) == empty


def test_a_stated_base_overrides_only_what_it_states(tmp_path: Path) -> None:
    base = load(tmp_path, "base: {max_linear: 0.2, wheel_sign: -1}", MOBILE_DUAL).base
    assert base is not None
    assert (base.max_linear, base.wheel_sign, base.track) == (0.2, -1, 0.5)


def test_a_variant_replaces_keys_of_the_file(tmp_path: Path) -> None:
    yaml = """
    description: both
    variants:
      one: {chains: {arm: {end_effector: fore}}}
      two: {description: second}
    """
    assert load(tmp_path, yaml).name == "arm_one"
    assert load(tmp_path, yaml).chain("arm").end_effector == "fore"


@pytest.mark.parametrize(
    ("yaml", "message"),
    [
        ("chain: {}", "unknown key 'chain'; did you mean 'chains'"),
        ("chains: {arm: {joint: [pan]}}", "'joint' in chains.arm; did you mean 'joints'"),
        ("chains: {arm: {joints: [pann]}}", "'pann', which is not in arm.xml; .*'pan'"),
        ("chains: {arm: {joints: []}}", "chains.arm.joints needs a list of names"),
        ("chains: {arm: {joints: [pan, pan]}}", "unique names"),
        ("chains: {arm: {kind: harm}}", "invalid chains.arm.kind 'harm'; .*'arm'"),
        ("chains: {arm: {end_effector: flage}}", "'flage' is not a body or site.*'flange'"),
        ("chains: {other: {}}", "chains.other needs joints"),
        ("chains: [arm]", "chains needs a mapping"),
        ("limits: {pan: 1}", "limits needs a list"),
        ("limits: [{joints: 'x*', jerk: 1}]", "pattern 'x\\*' matches no driven joint"),
        ("limits: [{joints: pan, velocity: -1}]", "'pan': velocity must be positive, got -1"),
        ("limits: [{joints: pan, velocity: fast}]", "velocity needs a number, got 'fast'"),
        ("limits: [{joints: pan, speed: 1}]", "unknown key 'speed' in limits\\[0\\]"),
        ("limits: [{joints: pan, lower: 4}]", "lower limit 4.0 is above upper 3.0"),
        ("poses: {ready: {lft: 1}}", "poses.ready names joint 'lft'.*'lift'"),
        ("hands: {right: {joints: [wrist_3], open: [0, 1]}}", "open needs 1 numbers.*got 2"),
        ("head: {pan: pan, camera: eye}", "head.camera 'eye' is not in arm.xml"),
        ("base: {kind: differential}", "base needs left_wheel and right_wheel"),
        ("base: {track: 0}", "base: track must be positive"),
        ("collision_pairs: [[fore, [nose]]]", "collision_pairs names body 'nose'"),
        ("collision_pairs: [[fore, [fore]]]", "two different bodies"),
        ("mjcf: missing.xml", "missing.xml: no such file"),
        ("urdf: missing.urdf", "missing.urdf: cannot be read"),
        ("variants: {a: {chain: {}}}", "'chain' in variants.a; did you mean 'chains'"),
        ("mjcf: arm.xml\nurdf: a: b", "is not valid YAML in line 2"),
        ("just words", "the file needs a mapping"),
    ],
)
def test_a_mistake_is_reported_with_its_position(tmp_path: Path, yaml: str, message: str) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        load(tmp_path, yaml)
    assert caught.value.path is not None
    assert caught.value.path.parent == tmp_path / "arm"
