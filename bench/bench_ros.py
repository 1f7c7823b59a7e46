# SPDX-License-Identifier: Apache-2.0
"""Latency from the last tracker of a set to the joint command, against a bare two-hop relay.

All nodes are separate processes on DDS. A probe publishes a set of trackers and measures the time
until the arm command of the arm node arrives; then it sends a message that a bare rclpy node
returns, which is as many hops; then it runs the arm controller once on the same samples. The three
alternate, so that disturbances of the machine affect all; the budget is for their medians.
"""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rclpy.executors import ExternalShutdownException, ShutdownException
from rclpy.node import Node
from sensor_msgs.msg import JointState

from teleop_system.interfaces import TrackerRole
from teleop_system.robots import load_robot
from teleop_system.ros2.cdr import JointStateCodec, StampedCodec
from teleop_system.ros2.executor import LeanExecutor
from teleop_system.ros2.status import ROBOT, StatusReport, to_message
from teleop_system.safety import RobotParts
from teleop_system.session.build import make_module
from teleop_system.settings import load_settings
from teleop_system.simulators.simulated_tracker import SimulatedTracker
from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames, get_qos_profile

SETS = 400
WARM_UP = 100
PERIOD = 0.01
PATIENCE = 60.0
LARGEST_RATIO = 1.5
STAMP_ERROR = 1e-6
"""Largest change of a time stamp by a message in [s]."""
ROOT = Path(__file__).parents[1]

RELAY = """
import sys, rclpy
from geometry_msgs.msg import PoseStamped
from rclpy.node import Node
from teleop_system.utils.ros2_helpers import QoSPreset, get_qos_profile
source, target = sys.argv[1:3]
with rclpy.init():
    node = Node("relay")
    profile = get_qos_profile(QoSPreset.COMMAND)
    publisher = node.create_publisher(PoseStamped, target, profile)
    node.create_subscription(PoseStamped, source, publisher.publish, profile)
    try:
        rclpy.spin(node)
    except KeyboardInterrupt:
        pass
"""
FORTH, BACK = "/bench/forth", "/bench/back"


def rows(sets: int = SETS) -> list[dict[str, object]]:
    """Return latency of the arm node, of its peer, and of the controller, in [ms]."""
    # A separate domain, so that no other robot answers.
    os.environ.setdefault("ROS_DOMAIN_ID", "41")
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    with ExitStack() as stack:
        arm = "teleop_system.modules.arm_teleop.arm_teleop_node"
        stack.enter_context(_process("-m", arm))
        stack.enter_context(_process("-c", RELAY, FORTH, BACK))
        probe = Probe()
        stack.callback(probe.close)
        probe.connect()
        controller = Controller()
        node, relay, tick = (np.empty(sets) for _ in range(3))
        for number in range(-WARM_UP, sets):
            # Negative numbers warm up; later ones overwrite their results.
            node[number] = probe.command_latency()
            relay[number] = probe.relay_latency()
            tick[number] = controller.tick()
    medians = [float(np.median(times)) for times in (node, relay, tick)]
    ratio = medians[0] / (medians[1] + medians[2])
    return [
        {
            "last tracker of a set -> joint command": f"{sets} sets",
            "arm node p50": f"{1e3 * medians[0]:.2f} ms",
            "arm node p99": f"{1e3 * float(np.percentile(node, 99.0)):.2f} ms",
            "two-hop relay p50": f"{1e3 * medians[1]:.2f} ms",
            "controller tick p50": f"{1e3 * medians[2]:.2f} ms",
            "ratio": f"{ratio:.2f}",
            "budget": f"<= {LARGEST_RATIO}",
            "ok": ratio <= LARGEST_RATIO,
        }
    ]


class Probe:
    """Operator and robot of the arm node, and both ends of the relay."""

    def __init__(self) -> None:

        rclpy.init()
        self.node = Node("probe")
        sensor = get_qos_profile(QoSPreset.SENSOR_DATA)
        command = get_qos_profile(QoSPreset.COMMAND)
        status = get_qos_profile(QoSPreset.STATUS)
        make, listen = self.node.create_publisher, self.node.create_subscription
        # The order of a tracking system; the arm needs the first three of its five.
        roles = [TrackerRole.RIGHT_HAND, TrackerRole.LEFT_HAND, TrackerRole.WAIST]
        self._trackers = {role: SimulatedTracker(role) for role in roles}
        self._poses = {role: make(PoseStamped, TopicNames.tracker(role), sensor) for role in roles}
        self._targets = make(JointState, TopicNames.JOINT_TARGETS, sensor)
        self._status = make(DiagnosticArray, TopicNames.STATUS, status)
        self._forth = make(PoseStamped, FORTH, command)
        robot = load_robot("rby1")
        parts = RobotParts(robot)
        pose = robot.pose(robot.initial_pose)
        self._positions = [pose[joint] for joint in parts.joints]
        self._codec = StampedCodec(StampedCodec.POSE, "map")
        self._joints = JointStateCodec(parts.joints)
        self._came = threading.Event()
        self._back = threading.Event()
        self._began = time.time()
        self._stamp = 0.0
        self._next = time.monotonic()
        listen(JointState, TopicNames.RIGHT_ARM_CMD, self._on_command, command, raw=True)
        listen(PoseStamped, BACK, lambda _: self._back.set(), command, raw=True)
        self._executor = LeanExecutor()
        self._executor.add_node(self.node)
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    def connect(self) -> None:
        """Activate the arm node, and wait until all nodes are connected."""
        client = self.node.create_client(ChangeState, "/arm_teleop_node/change_state")
        _wait(client.service_is_ready)
        for number in (Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE):
            request = ChangeState.Request(transition=Transition(id=number))
            future = client.call_async(request)
            _wait(future.done)
            assert future.result().success, "the arm node did not become active"
        _wait(lambda: self.command_latency(0.1) < 0.1 and self.relay_latency(0.1) < 0.1)

    def command_latency(self, patience: float = 1.0) -> float:
        """Send a set of trackers; return the time from the last to the arm's command in [s]."""
        self._keep_pace()
        self._publish_robot()
        stamp = time.time()
        messages = []
        for role, tracker in self._trackers.items():
            pose = tracker.pose_at(stamp - self._began)
            values = (*pose.position.tolist(), *pose.orientation.tolist())
            messages.append((self._poses[role], self._codec.encode(stamp, values)))
        self._stamp = stamp
        self._came.clear()
        begin = 0.0
        for publisher, data in messages:
            begin = time.perf_counter()
            publisher.publish(data)
        self._came.wait(patience)
        return time.perf_counter() - begin

    def relay_latency(self, patience: float = 1.0) -> float:
        """Send a message to the relay; return the time until it is back in [s]."""
        data = self._codec.encode(time.time(), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0))
        self._back.clear()
        begin = time.perf_counter()
        self._forth.publish(data)
        self._back.wait(patience)
        return time.perf_counter() - begin

    def close(self) -> None:
        """Destroy the node."""
        rclpy.try_shutdown()
        self._thread.join(5.0)

    def _on_command(self, data: bytes) -> None:
        # A command that follows from an older set is no answer.
        if abs(self._joints.decode(data).stamp - self._stamp) < STAMP_ERROR:
            self._came.set()

    def _publish_robot(self) -> None:
        """Publish status and joint targets as the robot side does."""
        self._targets.publish(self._joints.encode(time.time(), self._positions))
        values = {"state": "engaged", "following": "true"}
        stamp = self.node.get_clock().now().to_msg()
        self._status.publish(to_message([StatusReport(ROBOT, values=values)], stamp))
        time.sleep(0.002)  # Publishing these messages is not measured.

    def _keep_pace(self) -> None:
        self._next = max(self._next + PERIOD, time.monotonic() + 0.2 * PERIOD)
        time.sleep(self._next - time.monotonic())

    def _spin(self) -> None:

        with suppress(ExternalShutdownException, ShutdownException):
            self._executor.spin()


class Controller:
    """The arm controller alone, on the samples of the node."""

    def __init__(self) -> None:

        robot = load_robot("rby1")
        parts = RobotParts(robot)
        self._module = make_module("arm", load_settings(), robot, parts)
        pose = robot.pose(robot.initial_pose)
        self._positions = np.array([pose[joint] for joint in parts.joints])
        roles = (TrackerRole.RIGHT_HAND, TrackerRole.LEFT_HAND, TrackerRole.WAIST)
        self._trackers = [SimulatedTracker(role) for role in roles]
        self._time = 0.0

    def tick(self) -> float:
        """Run one tick; return its duration in [s]."""
        self._time += PERIOD
        samples: dict[str, Any] = {
            tracker.get_role().value: tracker.pose_at(self._time) for tracker in self._trackers
        }
        begin = time.perf_counter()
        self._module.update(
            samples, now=self._time, dt=PERIOD, engaged=True, commanded=self._positions
        )
        return time.perf_counter() - begin


@contextmanager
def _process(*arguments: str) -> Iterator[None]:
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    process = subprocess.Popen(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": path},
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(10.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("the nodes did not discover each other")
        time.sleep(0.01)


if __name__ == "__main__":
    print(rows())
