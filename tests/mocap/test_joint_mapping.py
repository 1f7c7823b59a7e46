# SPDX-License-Identifier: Apache-2.0
"""Families of skeletons: which one a file belongs to, and the error for an unknown one."""

from pathlib import Path

import pytest

from teleop_system.exceptions import BVHError, ConfigError, UnknownNameError
from teleop_system.interfaces import TrackerRole
from teleop_system.mocap.joint_mapping import choose_mapping, load_mappings, plain_name
from teleop_system.mocap.synthesis.skeletons import cmu_skeleton, mixamo_skeleton

LEGS = "UpLeg Leg Foot"
ARMS = "Shoulder Arm ForeArm Hand"


def sided(parts: str) -> list[str]:
    return [f"{side}{part}" for side in ("Left", "Right") for part in parts.split()]


TRUNK = ["Hips", "Neck", "Head"]
SKELETONS = {
    "cmu": [bone.name for bone in cmu_skeleton().bones],
    "mixamo": [bone.name for bone in mixamo_skeleton().bones],
    "lafan1": [*TRUNK, "Spine", "Spine1", "Spine2", *sided(f"{LEGS} Toe {ARMS}")],
    "xsens": [*TRUNK, "Chest4", *sided("Collar Shoulder Elbow Wrist Hip Knee Ankle Toe")],
    "perception_neuron": [*TRUNK, "Spine2", "Spine3", *sided(f"{LEGS} {ARMS} HandThumb1")],
}


@pytest.mark.parametrize("family", SKELETONS)
def test_each_family_is_recognised_by_its_joints(family: str) -> None:
    mapping = choose_mapping(SKELETONS[family], Path("a.bvh"))
    assert mapping.name == family
    assert set(mapping.roles) == set(TrackerRole)


def test_prefixes_of_exporters_are_ignored() -> None:
    assert plain_name("mixamorig:Hips") == "Hips"
    assert plain_name("mixamorig1:LeftArm") == "LeftArm"
    assert plain_name("mixamorig_Head") == "Head"
    assert plain_name("LeftToe_End") == "LeftToe_End"
    bare = [plain_name(name) for name in SKELETONS["mixamo"]]
    assert choose_mapping(bare, Path("a.bvh")).name == "mixamo"


def test_the_error_for_an_unknown_skeleton_lists_expected_and_found_joints() -> None:
    with pytest.raises(BVHError) as caught:
        choose_mapping(["Root", "Tail", "LeftPaw"], Path("dog.bvh"))
    message = str(caught.value)
    assert message.startswith("dog.bvh: the skeleton is unknown")
    assert "xsens needs Chest4, RightCollar" in message
    assert message.endswith("the file has: Root, Tail, LeftPaw")


def test_a_single_missing_joint_is_reported_first() -> None:
    joints = [name for name in SKELETONS["cmu"] if name != "LeftHand"]
    with pytest.raises(BVHError, match="is unknown: cmu needs LeftHand;"):
        choose_mapping(joints, Path("a.bvh"))


def test_a_family_can_be_chosen_by_name_and_has_to_exist() -> None:
    assert choose_mapping(SKELETONS["cmu"], Path("a.bvh"), name="cmu").name == "cmu"
    with pytest.raises(UnknownNameError, match="did you mean 'cmu'"):
        choose_mapping(SKELETONS["cmu"], Path("a.bvh"), name="cmuu")


def test_a_file_adds_a_family(tmp_path: Path) -> None:
    lines = ["signature: [Tail]", "left_shoulder: LS", "right_shoulder: RS", "left_elbow: LE"]
    lines += ["right_elbow: RE", "roles:"]
    lines += [f"  {role.value}: J_{role.value}" for role in TrackerRole]
    (tmp_path / "cat_joint_mapping.yaml").write_text("\n".join(lines), encoding="utf-8")
    mappings = load_mappings(tmp_path)
    joints = ["Tail", "LS", "RS", "LE", "RE", *(f"J_{role.value}" for role in TrackerRole)]
    assert choose_mapping(joints, Path("a.bvh"), mappings=mappings).name == "cat"


def test_a_family_without_a_foot_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "one_joint_mapping.yaml"
    path.write_text(
        "roles: {waist: Hips}\nleft_shoulder: a\nright_shoulder: b\n"
        "left_elbow: c\nright_elbow: d\n"
    )
    with pytest.raises(ConfigError, match="every tracker, missing"):
        load_mappings(tmp_path)
