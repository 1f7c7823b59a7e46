# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from teleop_system import registry
from teleop_system.exceptions import ModelError, UnknownNameError
from teleop_system.robots import discover_robots, load_robot, summarize_robot
from teleop_system.robots.model_files import find_mjcf, find_urdf
from tests.robots.models import (
    SIX_AXIS,
    SIX_AXIS_JOINTS,
    pendulum,
    pendulum_urdf,
    write_robot,
)

FLOOR = '<worldbody><geom type="plane" size="1 1 1"/></worldbody>'
SCENE = f'<mujoco><include file="a_robot.xml"/>{FLOOR}</mujoco>'


def test_a_folder_with_only_an_mjcf_is_a_robot(user_models: Path) -> None:
    write_robot(user_models / "third_party", arm_xml=SIX_AXIS)
    robot = load_robot("third_party")
    assert robot.chains["arm"].joints == SIX_AXIS_JOINTS
    assert robot.initial_pose == "home"
    assert robot.urdf is None


def test_limits_that_an_mjcf_cannot_state_are_marked_as_assumed(user_models: Path) -> None:
    write_robot(user_models / "third_party", arm_xml=SIX_AXIS)
    robot = load_robot("third_party")
    limits = robot.limits("pan")
    assert (limits.lower, limits.upper, limits.effort) == (-3.0, 3.0, 150.0)
    assert limits.assumed == {"velocity", "acceleration", "jerk"}
    assert any("velocity limit assumed" in note for note in robot.assumptions)


def test_finding_robots_compiles_no_model(user_models: Path) -> None:
    write_robot(user_models / "broken", arm_xml="<mujoco")
    assert discover_robots()["broken"].folder == user_models / "broken"


def test_a_folder_without_models_is_no_robot(user_models: Path) -> None:
    write_robot(user_models / "notes", readme_txt="nothing here")
    assert "notes" not in discover_robots()


def test_the_users_robot_replaces_ours_of_the_same_name(user_models: Path) -> None:
    write_robot(user_models / "rby1", arm_xml=SIX_AXIS)
    assert load_robot("rby1").dof == 6


def test_an_unknown_robot_is_reported_with_the_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match=r"did you mean 'rby1'.*valid choices.*rby1_dg5f"):
        load_robot("rby2")


def test_a_path_without_a_robot_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=f"{tmp_path}.*no MJCF file"):
        load_robot(str(tmp_path))


def test_a_broken_mjcf_is_reported_with_its_file_and_line(user_models: Path) -> None:
    write_robot(user_models / "broken", arm_xml="<mujoco>\n<worldbodyy/>\n</mujoco>")
    with pytest.raises(ModelError, match=r"arm\.xml.*worldbodyy.*line 2"):
        load_robot("broken")


def test_the_summary_of_a_broken_robot_gives_the_reason(user_models: Path) -> None:
    write_robot(user_models / "broken", arm_xml="<mujoco")
    summary = summarize_robot(discover_robots()["broken"])
    assert summary.problem is not None and "arm.xml" in summary.problem


def test_an_installed_package_can_provide_a_robot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_robot(tmp_path / "anything", arm_xml=SIX_AXIS)
    monkeypatch.setattr(registry, "names", lambda kind: ("plugged",))
    monkeypatch.setattr(registry, "find", lambda kind, name: folder)
    assert discover_robots()["plugged"].load().dof == 6


def test_a_plug_in_that_cannot_be_loaded_does_not_hide_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(registry, "names", lambda kind: ("plugged",))
    assert "rby1" in discover_robots()


@pytest.mark.parametrize(
    "files",
    [
        {"scene_xml": SCENE, "a_robot_xml": pendulum()},
        {"a_robot_xml": pendulum(), "zz_part_xml": "<mujocoinclude/>"},
        {"a_robot_xml": pendulum(), "zz_prop_xml": "<mujoco><worldbody/></mujoco>"},
        {"a_robot_xml": pendulum(), "zz_bad_xml": "<mujoco"},
        {"a_robot_xml": pendulum(), "zz_other_xml": pendulum()},
        {"a_robot_xml": pendulum(), "robot_zz_xml": pendulum().replace("<position", "<motor")},
    ],
    ids=[
        "scene that includes it",
        "fragment",
        "model without motors",
        "broken file",
        "another named unlike the folder",
        "the same with plain motors",
    ],
)
def test_the_robots_own_file_is_chosen_among_others(tmp_path: Path, files: dict[str, str]) -> None:
    assert find_mjcf(write_robot(tmp_path / "make_a_robot", **files)).name == "a_robot.xml"


@pytest.mark.parametrize("root", ["mujocoinclude", "mujoco"])
def test_motors_of_an_included_file_belong_to_the_including_file(
    tmp_path: Path, root: str
) -> None:
    body, motors = pendulum().split("<actuator>")
    folder = write_robot(
        tmp_path / "r",
        zz_plain_xml="<mujoco><worldbody><body/></worldbody></mujoco>",
        a_robot_xml=f'{body}<include file="motors.xml"/></mujoco>',
        motors_xml=f"<{root}><actuator>{motors.replace('</mujoco>', f'</{root}>')}",
    )
    assert find_mjcf(folder).name == "a_robot.xml"


def test_a_folder_without_an_mjcf_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no MJCF file"):
        find_mjcf(tmp_path)


def test_one_of_several_urdfs_is_chosen_by_name_only(tmp_path: Path) -> None:
    folder = write_robot(tmp_path / "r", one_urdf="", two_urdf="")
    assert find_urdf(folder, folder / "two.xml") == folder / "two.urdf"
    assert find_urdf(folder, folder / "other.xml") is None


def test_velocity_and_effort_come_from_the_urdf(user_models: Path) -> None:
    write_robot(user_models / "rod", rod_xml=pendulum(), rod_urdf=pendulum_urdf())
    limits = load_robot("rod").limits("swing")
    assert (limits.velocity, limits.effort) == (3.0, 20.0)


def test_a_urdf_joint_missing_in_the_mjcf_is_reported(user_models: Path) -> None:
    write_robot(user_models / "rod", rod_xml=pendulum(), rod_urdf=pendulum_urdf(joint="swimg"))
    with pytest.raises(ModelError, match=r"rod\.urdf: joint 'swimg' is not in rod\.xml.*'swing'"):
        load_robot("rod")


def test_a_driven_joint_missing_in_the_urdf_is_reported(user_models: Path) -> None:
    urdf = pendulum_urdf().replace('type="revolute"', 'type="fixed"')
    write_robot(user_models / "rod", rod_xml=pendulum(), rod_urdf=urdf)
    with pytest.raises(ModelError, match=r"driven joint 'swing' of rod\.xml is missing"):
        load_robot("rod")


def test_a_joint_of_different_types_in_urdf_and_mjcf_is_reported(user_models: Path) -> None:
    urdf = pendulum_urdf().replace('type="revolute"', 'type="prismatic"')
    write_robot(user_models / "rod", rod_xml=pendulum(), rod_urdf=urdf)
    with pytest.raises(ModelError, match="'swing' is prismatic, but a hinge"):
        load_robot("rod")


def test_the_default_pose_is_as_near_to_zero_as_the_limits_allow(
    user_models: Path,
) -> None:
    text = pendulum().replace('range="-1 1"', 'range="0.3 1"')
    write_robot(user_models / "rod", rod_xml=text)
    assert load_robot("rod").pose("zero")["swing"] == pytest.approx(0.3)
