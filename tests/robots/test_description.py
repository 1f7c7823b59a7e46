# SPDX-License-Identifier: Apache-2.0
import dataclasses
import math
from pathlib import Path

import pytest

from teleop_system.exceptions import InvalidValueError, UnknownNameError
from teleop_system.robots import Base, Chain, Hand, Head, JointLimits, RobotDescription

ARM = Chain("arm", "arm", None, ("a", "b"), "tool")


def robot(**changes: object) -> RobotDescription:
    made = RobotDescription(
        "toy",
        Path("toy"),
        Path("toy/toy.xml"),
        joints={name: JointLimits() for name in "abcdefg"},
        chains={"arm": ARM},
        poses={"zero": {"a": 0.0}, "home": {"a": 1.0}},
        hands={"right": Hand("right", "gripper", "right", ("c",), (0.1,), (0.0,))},
        head=Head("d", "e", None),
        base=Base("differential", "f", "g"),
    )
    return dataclasses.replace(made, **changes)  # type: ignore[arg-type]


def test_controlled_joints_are_those_of_all_parts() -> None:
    assert robot().controlled_joints == ("f", "g", "a", "b", "c", "d", "e")
    assert robot().dof == 7


def test_a_joint_of_two_parts_counts_once() -> None:
    finger = Chain("finger", "finger", None, ("b", "c"), "tip")
    assert robot(chains={"arm": ARM, "finger": finger}).dof == 7


@pytest.mark.parametrize(
    ("lookup", "wrong", "nearest"),
    [("chain", "amr", "arm"), ("pose", "hom", "home")],
)
def test_an_unknown_name_is_reported_with_the_nearest_one(
    lookup: str, wrong: str, nearest: str
) -> None:
    with pytest.raises(UnknownNameError, match=f"no {lookup} named '{wrong}'.*'{nearest}'"):
        getattr(robot(), lookup)(wrong)


def test_limits_of_an_unknown_joint_list_the_joints() -> None:
    with pytest.raises(UnknownNameError, match="valid choices: a, b, c"):
        robot().limits("z")


def test_ready_comes_before_home_before_zero() -> None:
    assert robot().initial_pose == "home"
    assert robot(poses={"zero": {}, "ready": {}, "home": {}}).initial_pose == "ready"
    assert robot(poses={"odd": {}}).initial_pose == "odd"


def test_a_description_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        robot().joints["a"] = JointLimits()  # type: ignore[index]
    with pytest.raises(TypeError):
        robot().poses["zero"]["a"] = 1.0  # type: ignore[index]


def test_a_description_copies_its_arguments() -> None:
    chains = {"arm": ARM}
    made = robot(chains=chains)
    chains.clear()
    assert list(made.chains) == ["arm"]


@pytest.mark.parametrize(
    "wrong",
    [{"lower": 1.0, "upper": 0.0}, {"velocity": 0.0}, {"jerk": -1.0}, {"lower": math.nan}],
)
def test_impossible_limits_are_rejected(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidValueError):
        JointLimits(**wrong)


@pytest.mark.parametrize("wrong", [{"track": 0.0}, {"wheel_sign": 0}, {"max_linear": -1.0}])
def test_a_base_that_cannot_drive_is_rejected(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidValueError):
        Base("differential", "l", "r", **wrong)  # type: ignore[arg-type]
