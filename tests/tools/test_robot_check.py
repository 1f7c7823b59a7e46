# SPDX-License-Identifier: Apache-2.0
import pytest

from teleop_system.exceptions import UnknownNameError
from teleop_system.robots import load_robot
from teleop_system.tools.robot_check import CHECKS, CheckOutcome, CheckResult, check_robot
from tests.robots.models import SIX_AXIS, pendulum, pendulum_urdf
from tests.tools.conftest import MakeRobot

NEEDS_URDF = {"joint signs", "URDF and MJCF", "mass"}


def one(make: MakeRobot, check: str, **files: str) -> CheckResult:
    """Return the result of one check of a robot."""
    (result,) = check_robot(make(**files), only=[check])
    return result


def test_a_third_party_arm_passes_every_check_that_applies(make_robot: MakeRobot) -> None:
    results = {result.name: result for result in check_robot(make_robot(arm_xml=SIX_AXIS))}
    assert {name for name, r in results.items() if r.outcome is CheckOutcome.SKIPPED} == NEEDS_URDF
    assert not [result for result in results.values() if result.failed]


def test_the_rby1_passes_every_check() -> None:
    results = check_robot(load_robot("rby1"))
    assert not [result for result in results if not result.passed]


@pytest.mark.parametrize("check", sorted(NEEDS_URDF))
def test_without_a_urdf_its_checks_are_skipped_and_never_passed(
    make_robot: MakeRobot, check: str
) -> None:
    result = one(make_robot, check, rod_xml=pendulum())
    assert (result.outcome, result.passed) == (CheckOutcome.SKIPPED, False)
    assert "no URDF" in result.detail


@pytest.mark.parametrize("check", sorted(NEEDS_URDF | {"limits"}))
def test_a_urdf_of_the_same_machine_passes(make_robot: MakeRobot, check: str) -> None:
    assert one(make_robot, check, rod_xml=pendulum(), rod_urdf=pendulum_urdf()).passed


@pytest.mark.parametrize(
    ("check", "urdf", "detail", "fix"),
    [
        ("joint signs", pendulum_urdf(axis="0 -1 0"), "opposite sign: swing", "negate"),
        ("joint signs", pendulum_urdf(axis="1 0 0"), "other axis: swing", "same axis"),
        ("limits", pendulum_urdf(upper=2.0), "swing upper: URDF 2, MJCF 1", "same numbers"),
        ("URDF and MJCF", pendulum_urdf(axis="0.1 1 0"), "rad apart", "from rod on"),
        ("mass", pendulum_urdf(mass=2.5), "MJCF 2.000 kg, URDF 2.500 kg", "rod differs most"),
    ],
)
def test_a_urdf_that_differs_fails_with_the_fix(
    make_robot: MakeRobot, check: str, urdf: str, detail: str, fix: str
) -> None:
    result = one(make_robot, check, rod_xml=pendulum(), rod_urdf=urdf)
    assert result.failed
    assert detail in result.detail
    assert fix in result.fix


def test_a_displaced_link_is_found(make_robot: MakeRobot) -> None:
    base = pendulum().replace(
        "<worldbody>",
        '<worldbody><body name="base"><geom size="0.1"/>',
    )
    base = base.replace("</worldbody>", "</body></worldbody>")
    result = one(make_robot, "URDF and MJCF", rod_xml=base, rod_urdf=pendulum_urdf(height=1.001))
    assert result.failed
    assert "1.0e-03 m" in result.detail


def test_chain_joints_out_of_order_fail_with_the_order_to_use(make_robot: MakeRobot) -> None:
    yaml = "chains: {arm: {joints: [lift, pan, elbow]}}"
    result = one(make_robot, "joint order", arm_xml=SIX_AXIS, robot_yaml=yaml)
    assert result.failed
    assert "pan, lift, elbow" in result.fix


def test_limits_wider_than_the_models_fail(make_robot: MakeRobot) -> None:
    yaml = "limits: [{joints: pan, upper: 4}]"
    result = one(make_robot, "limits", arm_xml=SIX_AXIS, robot_yaml=yaml)
    assert result.failed
    assert "pan upper: robot.yaml 4, MJCF 3" in result.detail


def test_a_chain_joint_without_a_motor_fails(make_robot: MakeRobot) -> None:
    mjcf = SIX_AXIS.replace('<position name="m6" joint="wrist_3"/>', "")
    mjcf = mjcf.replace('ctrl="0.2 -0.4 0.6 0.1 0.5 0"', "")
    yaml = "chains: {arm: {joints: [wrist_2, wrist_3]}}"
    result = one(make_robot, "motors", arm_xml=mjcf, robot_yaml=yaml)
    assert result.failed
    assert "no motor for wrist_3" in result.detail


def test_a_pose_outside_the_limits_fails(make_robot: MakeRobot) -> None:
    result = one(
        make_robot, "named poses", arm_xml=SIX_AXIS, robot_yaml="poses: {far: {lift: 2.1}}"
    )
    assert result.failed
    assert "far: lift at 2.1, limits -2 to 2" in result.detail


def test_a_pose_with_a_self_collision_fails(make_robot: MakeRobot) -> None:
    # The forearm folds back onto the upper arm, so that the wrist ends up inside the shoulder.
    yaml = "poses: {folded: {elbow: 1.5708}}"
    result = one(make_robot, "self-collision", arm_xml=SIX_AXIS, robot_yaml=yaml)
    assert result.failed
    assert "shoulder and wrist_b by 60.0 mm at folded" in result.detail


def test_the_nearest_pair_is_reported(make_robot: MakeRobot) -> None:
    yaml = "collision_pairs: [[shoulder, [flange]]]"
    result = one(make_robot, "self-collision", arm_xml=SIX_AXIS, robot_yaml=yaml)
    assert result.passed
    assert "flange and shoulder at home" in result.detail


def test_a_robot_too_weak_for_gravity_fails(make_robot: MakeRobot) -> None:
    mjcf = SIX_AXIS.replace('kp="2000" kv="100"', 'kp="5" kv="1"').replace('gravcomp="1"', "")
    result = one(make_robot, "gravity", arm_xml=mjcf)
    assert result.failed
    assert "gravcomp" in result.fix


def test_joints_driven_by_a_tendon_do_not_stop_the_check(make_robot: MakeRobot) -> None:
    jaw = """<body name="jaw_body" pos="0.05 0 0">
      <joint name="jaw" type="slide" axis="0 1 0" range="0 0.05"/><geom size="0.01 0.01"/>
    </body>"""
    tendon = '<tendon><fixed name="pull"><joint joint="jaw" coef="1"/></fixed></tendon>'
    mjcf = SIX_AXIS.replace('<site name="attachment_site" pos="0.08 0 0"/>', jaw)
    mjcf = mjcf.replace("<actuator>", f"{tendon}<actuator>")
    mjcf = mjcf.replace("</actuator>", '<position name="m7" tendon="pull"/></actuator>')
    mjcf = mjcf.replace('0.5 0"', '0.5 0 0"')
    assert one(make_robot, "gravity", arm_xml=mjcf).passed


def test_results_are_reproducible(make_robot: MakeRobot) -> None:
    robot = make_robot(rod_xml=pendulum(), rod_urdf=pendulum_urdf())
    assert check_robot(robot, only=["URDF and MJCF"]) == check_robot(robot, ["URDF and MJCF"])


def test_progress_names_every_check_before_its_start(make_robot: MakeRobot) -> None:
    seen: list[tuple[str, int, int]] = []
    names = ["limits", "motors"]
    check_robot(make_robot(rod_xml=pendulum()), names, lambda *step: seen.append(step))
    assert seen == [("limits", 0, 2), ("motors", 1, 2)]


def test_an_unknown_check_is_reported_with_the_nearest_one(make_robot: MakeRobot) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'gravity'"):
        check_robot(make_robot(rod_xml=pendulum()), only=["gravitty"])
    assert "gravity" in CHECKS
