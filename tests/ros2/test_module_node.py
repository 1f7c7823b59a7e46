# SPDX-License-Identifier: Apache-2.0
"""A controller as a node in its own process, with a fake robot and a fake operator."""

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import PoseStamped
from numpy.typing import NDArray
from rcl_interfaces.msg import ParameterType
from rcl_interfaces.srv import DescribeParameters
from sensor_msgs.msg import JointState

from teleop_system.interfaces import TrackerRole
from teleop_system.robots.urdf import read_urdf
from teleop_system.robots.urdf_kinematics import link_poses
from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames
from tests.ros2.harness import Bench, Listener, NodeProcess, Repeater
from tests.ros2.stand_ins import StandInOperator, StandInRobot
from tests.waiting import stays, wait_for, wait_until_constant

Array = NDArray[np.float64]

ARM = "arm_teleop_node"
REPORT = f"teleop/{ARM}"
MODULE = "teleop_system.modules.arm_teleop.arm_teleop_node"
QUIET = 0.4
"""How long a stopped node must send nothing in [s]."""


class Stage:
    """The arm node between an operator and a robot."""

    def __init__(
        self, bench: Bench, node: NodeProcess, robot: StandInRobot, operator: StandInOperator
    ) -> None:
        self.bench, self.node, self.robot, self.operator = bench, node, robot, operator
        urdf = robot.robot.urdf
        assert urdf is not None
        self._urdf = read_urdf(urdf)
        self.right = self.commands(TopicNames.RIGHT_ARM_CMD)
        self.left = self.commands(TopicNames.LEFT_ARM_CMD)

        self.torso = self.commands(TopicNames.TORSO_CMD)

    def position(self, chain: str) -> Array:
        """Return the position [m] of a chain's end effector under the newest commands."""
        pose = dict(self.robot.robot.pose(self.robot.robot.initial_pose))
        for ear in (self.torso, self.left, self.right):
            pose |= dict(zip(ear.last.name, ear.last.position, strict=True))
        link = self.robot.robot.chains[chain].end_effector
        return link_poses(self._urdf, pose)[link][0][:3, 3]

    def wait_until_still(self, chain: str) -> None:
        """Wait until an end effector moves less than 1 mm in 0.2 s."""
        rest, since = self.position(chain), time.monotonic()

        def is_still() -> bool:
            nonlocal rest, since
            current = self.position(chain)
            if np.linalg.norm(current - rest) >= 0.001:
                rest, since = current, time.monotonic()
            return time.monotonic() > since + 0.2

        wait_for(is_still, f"{chain} never comes to rest")

    def commands(self, topic: str) -> Listener:
        return self.bench.listen(JointState, topic, QoSPreset.COMMAND)

    def restore(self) -> None:
        """Return to the state in which the operator can engage."""
        self.operator.lost.clear()
        self.operator.spoil.clear()
        self.robot.is_silent = False
        self.robot.release()
        for transition, states in (
            ("configure", ("unconfigured",)),
            ("activate", ("unconfigured", "inactive")),
        ):
            if self.bench.state(ARM) in states:
                assert self.bench.transition(ARM, transition)
        self.wait_for("inputs", "fresh")
        self.wait_until_quiet()

    def follow(self) -> None:
        """Let the robot follow, and wait for its commands."""
        self.robot.follow()
        before = self.right.count
        self.bench.wait(lambda: self.right.count > before + 10, self.node.log)

    def wait_for(self, key: str, value: str) -> None:
        self.bench.wait(
            lambda: self.bench.value(key, REPORT) == value,
            lambda: f"{key} is never {value}: {self.bench.reports.get(REPORT)}",
        )

    def wait_until_quiet(self, within: float = 2.0) -> None:
        """Wait until no more commands arrive."""
        wait_until_constant(lambda: self.right.count, QUIET, within=within)


@pytest.fixture(scope="module")
def staged() -> Iterator[Stage]:
    with Bench() as bench, StandInRobot(bench) as robot, StandInOperator(bench) as operator:
        node = bench.start(MODULE, ARM)
        bench.bring_up(ARM)
        yield Stage(bench, node, robot, operator)
        assert node.is_running, node.log()
        assert "Traceback" not in node.log()


@pytest.fixture
def stage(staged: Stage) -> Stage:
    staged.restore()
    return staged


def test_commands_come_only_while_the_robot_follows(stage: Stage) -> None:
    before = stage.right.count
    assert stays(lambda: stage.right.count == before, QUIET)
    stage.follow()
    stage.wait_for("following", "true")
    assert stage.bench.value("robot", REPORT) == "engaged"
    stage.robot.release()
    stage.wait_until_quiet()


def test_commands_name_their_joints_and_carry_the_operator_s_time(stage: Stage) -> None:
    stage.follow()
    message = stage.right.last
    assert list(message.name) == list(stage.robot.parts["right_arm"].joints)
    assert len(message.position) == len(message.name)
    sent = stage.operator.sent
    stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
    assert sent - 0.2 < stamp <= sent + 1e-6


def test_the_first_command_is_the_pose_of_the_robot(stage: Stage) -> None:
    stage.right.clear()
    stage.follow()
    columns = stage.robot.parts["right_arm"].columns
    start = stage.robot.positions[columns]
    first = list(stage.right.messages[0].position)
    assert max(abs(a - b) for a, b in zip(first, start, strict=True)) <= 0.002


def test_rate_and_latency_are_reported(stage: Stage) -> None:
    stage.follow()
    stage.bench.wait(lambda: float(stage.bench.value("rate", REPORT)) > 80.0)
    assert 0.0 < float(stage.bench.value("latency_p50_ms", REPORT)) < 50.0
    assert float(stage.bench.value("compute_p99_ms", REPORT)) > 0.0


def test_a_silent_robot_is_no_longer_commanded(stage: Stage) -> None:
    stage.follow()
    stage.robot.is_silent = True
    began = time.monotonic()
    stage.wait_until_quiet(within=5.0)
    # Its positions are used for half a second, its status for one.
    assert stage.right.times[-1] - began < 1.0
    stage.bench.wait(lambda: stage.bench.value("robot", REPORT) == "silent")


@pytest.mark.parametrize(
    ("leave", "back"),
    [
        (("deactivate",), ("activate",)),
        (("deactivate", "cleanup"), ("configure", "activate")),
    ],
)
def test_deactivation_stops_the_output(
    stage: Stage, leave: tuple[str, ...], back: tuple[str, ...]
) -> None:
    stage.follow()
    for transition in leave:
        assert stage.bench.transition(ARM, transition)
        stage.wait_until_quiet()
    for transition in back:
        assert stage.bench.transition(ARM, transition)
    stage.follow()


def test_a_silent_tracker_stops_only_its_own_arm(stage: Stage) -> None:
    stage.follow()
    stage.operator.lost = {TrackerRole.LEFT_HAND}
    stage.wait_for("inputs", "stale: left_hand")
    stage.bench.wait(lambda: "stale: left_hand" in stage.bench.causes(REPORT))
    # The right hand still moves, while the left one keeps its position once it has stopped,
    # although its joints compensate the torso that helps the right one.
    stage.wait_until_still("left_arm")
    held, begin = stage.position("left_arm"), stage.position("right_arm")
    stage.bench.wait(lambda: np.linalg.norm(stage.position("right_arm") - begin) > 0.02)
    assert np.linalg.norm(stage.position("left_arm") - held) < 0.005
    stage.operator.lost.clear()
    stage.wait_for("inputs", "fresh")
    stage.bench.wait(lambda: "left_hand" not in stage.bench.causes(REPORT))


def with_nan(values: list[float]) -> list[float]:
    return [math.nan, *values[1:]]


def not_unit(values: list[float]) -> list[float]:
    return [*values[:3], 0.0, 0.0, 0.0, 2.0]


def all_zero(values: list[float]) -> list[float]:
    return [0.0] * len(values)


@pytest.mark.parametrize(
    ("spoil", "rule"),
    [(with_nan, "non_finite"), (not_unit, "non_unit"), (all_zero, "non_unit")],
)
def test_an_invalid_pose_is_reported_and_not_followed(
    stage: Stage, spoil: Callable[[list[float]], list[float]], rule: str
) -> None:
    stage.follow()
    stage.operator.spoil = {TrackerRole.LEFT_HAND: spoil}
    stage.bench.wait(
        lambda: f"{rule}: left_hand" in stage.bench.causes(REPORT),
        lambda: str(stage.bench.reports[REPORT]),
    )
    assert all(
        math.isfinite(value) for message in stage.left.messages for value in message.position
    )
    stage.operator.spoil = {}
    stage.bench.wait(lambda: rule not in stage.bench.causes(REPORT))


def test_malformed_messages_are_ignored(stage: Stage) -> None:
    stage.follow()
    rival = stage.bench.publisher(PoseStamped, TopicNames.LEFT_TRACKER, QoSPreset.SENSOR_DATA)
    with Repeater(100.0, lambda: rival.publish(b"\x00\x01\x00\x00\x07\x00\x00\x00")):
        stage.bench.wait(lambda: int(stage.bench.value("rejected", REPORT)) > 5)
        stage.bench.wait(lambda: "not a message" in stage.node.log())
    assert stage.node.log().count("not a message") <= 2
    stage.wait_for("following", "true")


def describe(bench: Bench, node: str, name: str) -> object:
    request = DescribeParameters.Request(names=[name])
    (found,) = bench.call(DescribeParameters, f"/{node}/describe_parameters", request).descriptors
    return found


def test_parameters_have_descriptions_and_ranges(stage: Stage) -> None:
    ramp = describe(stage.bench, ARM, "arm.ramp_time")
    assert ramp.type == ParameterType.PARAMETER_DOUBLE  # type: ignore[attr-defined]
    assert "[s]" in ramp.description  # type: ignore[attr-defined]
    (bounds,) = ramp.floating_point_range  # type: ignore[attr-defined]
    assert (bounds.from_value, bounds.to_value) == (0.8, 10.0)
    assert describe(stage.bench, ARM, "arm.rate").read_only  # type: ignore[attr-defined]
    mapping = describe(stage.bench, ARM, "arm.mapping")
    assert "relative, absolute" in mapping.additional_constraints  # type: ignore[attr-defined]


def test_a_parameter_changes_only_while_the_robot_does_not_follow(stage: Stage) -> None:
    bench = stage.bench
    assert bench.set_parameter(ARM, "arm.ramp_time", 1.5).successful
    assert bench.get_parameter(ARM, "arm.ramp_time") == 1.5
    stage.follow()
    refused = bench.set_parameter(ARM, "arm.ramp_time", 1.0)
    assert not refused.successful
    assert "disengage first" in refused.reason
    assert bench.get_parameter(ARM, "arm.ramp_time") == 1.5
    stage.restore()
    assert bench.set_parameter(ARM, "arm.ramp_time", 0.8).successful
    stage.follow()


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("arm.ramp_time", 0.1, "range"),
        ("arm.mapping", "sideways", "arm.mapping cannot be 'sideways'"),
        ("arm.posture", "handstand", "handstand"),
        ("arm.gate.stale_after", 0.5, "stale_after"),
        ("arm.rate", 50.0, "read-only"),
    ],
)
def test_a_wrong_parameter_is_refused_with_the_reason(
    stage: Stage, name: str, value: object, expected: str
) -> None:
    before = stage.bench.get_parameter(ARM, name)
    refused = stage.bench.set_parameter(ARM, name, value)
    assert not refused.successful
    assert expected in refused.reason
    assert stage.bench.get_parameter(ARM, name) == before


def test_calibration_requires_that_operator_and_robot_stand_still(
    stage: Stage,
) -> None:
    def answer() -> Any:
        return stage.bench.trigger(TopicNames.CALIBRATE)

    stage.operator.spoil = {TrackerRole.RIGHT_HAND: _at_rest}
    # The stand-in is not in the A-pose, so the calibration reports a bad residual.
    stage.bench.wait(lambda: "will not engage" in answer().message)
    stage.operator.spoil = {TrackerRole.RIGHT_HAND: _shaking}
    stage.bench.wait(lambda: "stand still" in answer().message)
    assert not answer().success
    stage.operator.spoil = {}
    stage.follow()
    refused = answer()
    assert not refused.success
    assert "disengage first" in refused.message


def _at_rest(values: list[float]) -> list[float]:
    return [0.4, *values[1:]]


def _shaking(values: list[float]) -> list[float]:
    return [0.4 + 0.05 * math.sin(20.0 * time.time()), *values[1:]]
