# SPDX-License-Identifier: Apache-2.0
import dataclasses
from pathlib import Path

import pytest

from teleop_system.robots import discover_robots, load_robot, summarize_robot
from teleop_system.robots.inference import infer_parts
from teleop_system.robots.mjcf import read_mjcf
from teleop_system.utils.paths import models_dir


def test_every_shipped_robot_is_found_and_loads() -> None:
    robots = {name: source.load() for name, source in discover_robots().items()}
    assert {"dg5f_left", "dg5f_right", "rby1", "rby1_dg5f"} <= set(robots)
    assert {name: robot.dof for name, robot in robots.items() if "rby1" in name} == {
        "rby1": 26,
        "rby1_dg5f": 64,
    }


def test_the_scenes_folder_is_not_a_robot() -> None:
    assert "scenes" not in discover_robots()


def test_actuators_of_the_rby1_are_in_contract_order() -> None:
    arm = [f"arm_{index}" for index in range(7)]
    expected = ["left_wheel", "right_wheel", *(f"torso_{index}" for index in range(6))]
    expected += [f"right_{joint}" for joint in arm] + [f"left_{joint}" for joint in arm]
    expected += ["head_0", "head_1"]
    joints = [actuator.joint for actuator in load_robot("rby1").actuators]
    assert joints[:24] == expected
    assert len(joints) == 26


def test_limits_of_the_rby1_are_all_stated() -> None:
    limits = load_robot("rby1").limits("right_arm_1")
    assert (limits.lower, limits.upper) == (-3.141592654, 0.017453293)
    assert (limits.velocity, limits.acceleration, limits.jerk) == (3.141592654, 10.0, 200.0)
    assert limits.effort == 70.0
    assert not limits.assumed


@pytest.mark.parametrize("name", ["rby1", "rby1_dg5f"])
def test_inference_finds_the_chains_that_robot_yaml_states(name: str) -> None:
    robot = load_robot(name)
    guessed = infer_parts(read_mjcf(robot.mjcf))
    assert guessed.chains == dict(robot.chains)
    assert guessed.head == robot.head
    assert {key: hand.joints for key, hand in guessed.hands.items()} == {
        key: hand.joints for key, hand in robot.hands.items()
    }


def test_a_folder_with_variants_means_the_first_of_them() -> None:
    assert load_robot("dg5f").name == "dg5f_right"


@pytest.mark.parametrize("name", ["dg5f_left", "dg5f_right", "rby1", "rby1_dg5f"])
def test_the_summary_agrees_with_the_loaded_robot(name: str) -> None:
    summary, robot = summarize_robot(discover_robots()[name]), load_robot(name)
    assert summary.problem is None
    assert summary.dof == robot.dof
    assert dict(summary.chains) == {key: len(c.joints) for key, c in robot.chains.items()}
    assert summary.base == (robot.base.kind if robot.base else None)


def test_a_robot_can_be_loaded_by_the_path_of_its_folder() -> None:
    by_path = load_robot(str(models_dir() / "rby1"))
    assert dataclasses.asdict(by_path.chains["torso"]) == dataclasses.asdict(
        load_robot("rby1").chains["torso"]
    )
    assert by_path.folder == Path(models_dir() / "rby1")
