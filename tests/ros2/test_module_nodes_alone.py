# SPDX-License-Identifier: Apache-2.0
"""The controllers as nodes, each with a fake robot and fake devices."""

import time

import pytest
import rclpy
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Twist
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

from teleop_system.interfaces import TrackerRole
from teleop_system.modules.camera.camera_node import CameraNode
from teleop_system.modules.hand_teleop.ros2_adapters import FINGER_JOINTS
from teleop_system.ros2.cdr import JointStateCodec
from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames
from tests.ros2.harness import Bench, Repeater
from tests.ros2.stand_ins import StandInOperator, StandInRobot
from tests.waiting import stays, wait_until_constant

# Every node gets its own name: DDS keeps an ended one in the graph for a while.
CAMERA = "teleop_system.modules.camera.camera_node"
HAND = "teleop_system.modules.hand_teleop.hand_teleop_node"
BASE = "teleop_system.modules.locomotion.locomotion_node"
QUIET = 0.4
"""How long a stopped node must send nothing in [s]."""


def test_shutdown_stops_the_output_for_good() -> None:
    name = "last_camera"
    with (
        Bench("last") as bench,
        StandInRobot(bench) as robot,
        StandInOperator(bench, (TrackerRole.HEAD,), 90.0),
    ):
        node = bench.start(CAMERA, name)
        bench.bring_up(name)
        head = bench.listen(JointState, TopicNames.CAMERA_PAN_TILT_CMD, QoSPreset.COMMAND)
        robot.follow()
        bench.wait(lambda: head.count > 10)
        assert bench.transition(name, "shutdown")
        before = head.count
        assert stays(lambda: head.count == before, QUIET)
        assert bench.state(name) == "finalized"
        assert node.interrupt() == 0
        assert "Traceback" not in node.log()


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"overrides": ["camera.ramp_tme=1.0"]}, "ramp_tme"),
        ({"camera.ramp_tme": 1.0}, "ramp_tme"),
        ({"camera.ramp_time": 0.1}, "ramp_time"),
        ({"camera.ramp_time": "fast"}, "ramp_time"),
        ({"overrides": ["robot.name=no_such_robot"]}, "no_such_robot"),
    ],
)
def test_a_wrong_parameter_at_the_start_fails_with_the_reason_and_does_not_crash(
    parameters: dict[str, object], expected: str
) -> None:
    rclpy.init()
    try:
        given = [Parameter(key, value=value) for key, value in parameters.items()]
        node = CameraNode(parameter_overrides=given)
        errors: list[str] = []
        node.get_logger().error = errors.append
        assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
        assert expected in errors[0]
        assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
        node.destroy_node()
    finally:
        rclpy.try_shutdown()


def test_a_parameter_of_the_start_takes_precedence_also_after_cleanup() -> None:
    parameters = {"camera.ramp_time": 2.0, "camera.rate": 60.0, "overrides": ["camera.jerk=50.0"]}
    name = "tuned_camera"
    with Bench("tuned") as bench:
        bench.start(CAMERA, name, **parameters)
        bench.bring_up(name)
        assert bench.get_parameter(name, "camera.jerk") == 50.0
        assert bench.set_parameter(name, "camera.ramp_time", 3.0).successful
        for transition in ("deactivate", "cleanup", "configure"):
            assert bench.transition(name, transition)
        assert bench.get_parameter(name, "camera.ramp_time") == 2.0
        assert bench.get_parameter(name, "camera.rate") == 60.0


def test_hand_base_and_head_follow_and_a_glove_with_19_angles_is_reported() -> None:
    others = {"other_hand": HAND, "other_base": BASE, "other_camera": CAMERA}
    with Bench("rest") as bench, StandInRobot(bench) as robot, StandInOperator(bench):
        for name, module in others.items():
            bench.start(module, name)
        for name in others:
            bench.bring_up(name)
        codec, short = JointStateCodec(FINGER_JOINTS), JointStateCodec(FINGER_JOINTS[:19])
        gloves = {
            side: bench.publisher(JointState, TopicNames.hand_joints(side), QoSPreset.SENSOR_DATA)
            for side in ("left", "right")
        }
        spoilt = []

        def send_gloves() -> None:
            for side, glove in gloves.items():
                bad = side in spoilt
                angles = [0.3] * (19 if bad else 20)
                glove.publish((short if bad else codec).encode(time.time(), angles))

        hand = bench.listen(JointState, TopicNames.LEFT_HAND_CMD, QoSPreset.COMMAND)
        head = bench.listen(JointState, TopicNames.CAMERA_PAN_TILT_CMD, QoSPreset.COMMAND)
        base = bench.listen(Twist, TopicNames.BASE_CMD_VEL, QoSPreset.COMMAND)
        with Repeater(100.0, send_gloves):
            for name in others:
                bench.wait(lambda name=name: bench.value("inputs", f"teleop/{name}") == "fresh")
            assert not (hand.count or head.count or base.count)
            robot.follow()
            bench.wait(lambda: min(hand.count, head.count, base.count) > 10)
            assert list(head.last.name) == list(robot.parts["head"].joints)
            assert list(hand.last.name) == list(robot.parts["left_hand"].joints)
            spoilt.append("left")
            report = "teleop/other_hand"
            bench.wait(lambda: "wrong_shape: left_fingers" in bench.causes(report))
            bench.wait(lambda: bench.value("inputs", report) == "stale: left_fingers")
            spoilt.clear()
            bench.wait(lambda: "left_fingers" not in bench.causes(report))


def test_a_prefix_separates_two_robots() -> None:
    name = "blue_camera"
    with (
        Bench("blue") as blue,
        Bench() as plain,
        StandInRobot(blue) as robot,
        StandInOperator(blue, (TrackerRole.HEAD,), 90.0),
    ):
        blue.start(CAMERA, name)
        blue.bring_up(name)
        mine = blue.listen(JointState, TopicNames.CAMERA_PAN_TILT_CMD, QoSPreset.COMMAND)
        other = plain.listen(JointState, TopicNames.CAMERA_PAN_TILT_CMD, QoSPreset.COMMAND)
        robot.follow()
        blue.wait(lambda: mine.count > 10)
        assert other.count == 0


class SimulatedClock:
    """A publisher of `/clock` that a test can stop."""

    def __init__(self, bench: Bench) -> None:
        self._publisher = bench.node.create_publisher(Clock, TopicNames.CLOCK, 1)
        self._start, self._began = 5.0, time.monotonic()
        self._stopped: float | None = None

    def now(self) -> float:
        if self._stopped is not None:
            return self._stopped
        return self._start + time.monotonic() - self._began

    def stop(self) -> None:
        self._stopped = self.now()

    def send(self) -> None:
        seconds, rest = divmod(self.now(), 1.0)
        stamp = Time(sec=int(seconds), nanosec=int(1e9 * rest))
        self._publisher.publish(Clock(clock=stamp))


def test_on_simulated_time_a_node_publishes_while_the_clock_runs() -> None:
    name = "simulated_camera"
    with Bench("simulated") as bench:
        clock = SimulatedClock(bench)
        with (
            Repeater(200.0, clock.send),
            StandInRobot(bench, clock=clock.now) as robot,
            StandInOperator(bench, (TrackerRole.HEAD,), 90.0, clock.now),
        ):
            bench.start(CAMERA, name, use_sim_time=True)
            bench.bring_up(name)
            head = bench.listen(JointState, TopicNames.CAMERA_PAN_TILT_CMD, QoSPreset.COMMAND)
            robot.follow()
            bench.wait(lambda: head.count > 10)
            stamp = head.last.header.stamp
            assert 5.0 < stamp.sec + 1e-9 * stamp.nanosec <= clock.now()
            clock.stop()
            wait_until_constant(lambda: head.count, QUIET, within=2.0)
