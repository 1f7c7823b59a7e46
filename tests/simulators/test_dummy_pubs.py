# SPDX-License-Identifier: Apache-2.0
"""The simulated operator's devices on their topics, in processes of their own."""

from collections.abc import Callable

import pytest
import rclpy
from geometry_msgs.msg import PoseStamped, QuaternionStamped
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState

from teleop_system.interfaces import TrackerRole
from teleop_system.modules.hand_teleop.ros2_adapters import FINGER_JOINTS
from teleop_system.ros2.simulated_operator import SimulatedOperatorNode
from teleop_system.simulators.dummy_glove_pub import DummyGlovePublisher
from teleop_system.simulators.dummy_hmd_pub import DummyHmdPublisher
from teleop_system.simulators.dummy_tracker_pub import ROLES, DummyTrackerPublisher
from teleop_system.simulators.simulated_tracker import SimulatedTracker
from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames
from tests.ros2.harness import Bench
from tests.waiting import stays, wait_until_constant

TRACKERS, GLOVES, HEADSET = "dummy_tracker_pub", "dummy_glove_pub", "dummy_hmd_pub"
QUIET = 0.4
"""How long an inactive node must send nothing in [s]."""


def test_all_devices_of_one_person_publish_only_while_active() -> None:
    with Bench() as bench:
        for name in (TRACKERS, GLOVES, HEADSET):
            bench.start(f"teleop_system.simulators.{name}", name, seed=3)
        poses = {role: bench.listen(PoseStamped, TopicNames.tracker(role)) for role in ROLES}
        hands = {
            side: bench.listen(JointState, TopicNames.hand_joints(side))
            for side in ("left", "right")
        }
        head = bench.listen(QuaternionStamped, TopicNames.HMD_ORIENTATION)
        everything = (*poses.values(), *hands.values(), head)
        for name in (TRACKERS, GLOVES, HEADSET):
            assert bench.transition(name, "configure")
        assert stays(lambda: not any(ear.count for ear in everything), QUIET)
        for name in (TRACKERS, GLOVES, HEADSET):
            assert bench.transition(name, "activate")
        bench.wait(lambda: all(ear.count > 50 for ear in everything))
        assert all(list(hand.last.name) == list(FINGER_JOINTS) for hand in hands.values())
        right = poses[TrackerRole.RIGHT_HAND].last
        left = poses[TrackerRole.LEFT_HAND].last
        assert right.header.frame_id == left.header.frame_id == "map"
        assert bench.transition(TRACKERS, "deactivate")
        wait_until_constant(lambda: poses[TrackerRole.WAIST].count, QUIET, within=2.0)
        bench.wait(lambda: float(bench.value("rate", f"teleop/{HEADSET}")) > 60.0)


def test_rate_is_a_parameter() -> None:
    with Bench("slow") as bench:
        bench.start(f"teleop_system.simulators.{HEADSET}", HEADSET, rate=20.0)
        bench.bring_up(HEADSET)
        head = bench.listen(QuaternionStamped, TopicNames.HMD_ORIENTATION, QoSPreset.SENSOR_DATA)
        bench.wait(lambda: head.count >= 30)
        assert head.rate() == pytest.approx(20.0, rel=0.2)


Make = Callable[..., SimulatedOperatorNode]


@pytest.mark.parametrize(
    ("kind", "parameters", "words"),
    [
        (DummyTrackerPublisher, {"motion": "dancing"}, "dancing"),
        (DummyGlovePublisher, {"motion": "dancing"}, "dancing"),
        (DummyHmdPublisher, {"overrides": ["operator.seed=-1"]}, "seed"),
    ],
)
def test_an_unknown_motion_fails_with_the_reason(
    kind: Make, parameters: dict[str, object], words: str
) -> None:
    rclpy.init()
    try:
        given = [Parameter(key, value=value) for key, value in parameters.items()]
        node = kind(parameter_overrides=given)
        errors: list[str] = []
        node.get_logger().error = errors.append
        assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
        assert words in errors[0]
        node.destroy_node()
    finally:
        rclpy.try_shutdown()


@pytest.mark.parametrize(
    ("parameters", "seed", "amplitude"),
    [
        ({}, 0, 0.25),
        ({"seed": 7, "amplitude": 0.1}, 7, 0.1),
        ({"overrides": ["operator.seed=5", "operator.amplitude=0.3"]}, 5, 0.3),
    ],
)
def test_parameters_take_precedence_over_the_settings(
    parameters: dict[str, object], seed: int, amplitude: float
) -> None:
    rclpy.init()
    try:
        given = [Parameter(key, value=value) for key, value in parameters.items()]
        node = DummyTrackerPublisher(parameter_overrides=given)
        assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
        assert (node.operator.seed, node.operator.amplitude) == (seed, amplitude)
        node.destroy_node()
    finally:
        rclpy.try_shutdown()


def test_the_hands_of_one_seed_belong_to_one_person() -> None:
    one = SimulatedTracker(TrackerRole.RIGHT_HAND, seed=3).pose_at(1.0)
    same = SimulatedTracker(TrackerRole.RIGHT_HAND, seed=3).pose_at(1.0)
    other = SimulatedTracker(TrackerRole.RIGHT_HAND, seed=4).pose_at(1.0)
    assert (one.position == same.position).all()
    assert (one.position != other.position).any()
