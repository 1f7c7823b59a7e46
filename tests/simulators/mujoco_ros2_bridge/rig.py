# SPDX-License-Identifier: Apache-2.0
"""A running bridge and an operator of its right arm, for tests over DDS."""

import contextlib
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from sensor_msgs.msg import JointState

from teleop_system.robots import load_robot
from teleop_system.ros2.cdr import JointStateCodec, NamedPositions
from teleop_system.utils.ros2_helpers import TopicNames
from tests.ros2.harness import Bench, Listener, NodeProcess

MODULE = "teleop_system.simulators.mujoco_ros2_bridge"
BRIDGE = "mujoco_bridge"
ELBOW = "right_arm_3"


class BridgeRig:
    """A bridge in a process, watched by a bench."""

    def __init__(self, bench: Bench, process: NodeProcess, name: str = BRIDGE) -> None:
        self.bench, self.process, self.name = bench, process, name
        robot = load_robot("rby1")
        self.joints = robot.chains["right_arm"].joints
        pose = robot.pose(robot.initial_pose)
        self.home = [pose[joint] for joint in self.joints]
        self.states = bench.listen(JointState, TopicNames.JOINT_STATES, raw=True)
        self.targets = bench.listen(JointState, TopicNames.JOINT_TARGETS, raw=True)
        self._arm = bench.publisher(JointState, TopicNames.RIGHT_ARM_CMD)
        self._codec = JointStateCodec(self.joints)

    def send(self, offset: float = 0.0, **changes: Any) -> None:
        """Command the home pose of the right arm, with the elbow moved by `offset` [rad]."""
        positions = list(self.home)
        positions[3] += offset
        stamp = changes.pop("stamp", time.time())
        names = changes.pop("names", None)
        codec = self._codec if names is None else JointStateCodec(names)
        self._arm.publish(codec.encode(stamp, changes.pop("positions", positions), **changes))

    def send_message(self, message: JointState) -> None:
        """Send a message to the right arm unchanged."""
        self._arm.publish(message)

    @contextlib.contextmanager
    def commanding(self, offset: float = 0.0, rate: float = 100.0) -> Iterator[None]:
        """Command the elbow repeatedly while the block runs."""
        with self.bench.repeat(rate, lambda: self.send(offset)):
            yield

    def engage(self) -> None:
        """Engage the robot; the caller has to send commands meanwhile."""
        self.bench.wait_for_state("ready")
        answer = self.bench.trigger(TopicNames.ENGAGE)
        assert answer.success, answer.message
        self.bench.wait_for_state("engaged")

    def disengage(self) -> None:
        """Disengage the robot."""
        self.bench.trigger(TopicNames.DISENGAGE)
        self.bench.wait_for_state("ready")

    def elbow(self, ear: Listener | None = None) -> float:
        """Return the position of the elbow, or its commanded position with `targets` [rad]."""
        ear = ear or self.states
        count = ear.count
        self.bench.wait(lambda: ear.count > count, "the bridge is silent")
        message = decode(ear.last)
        return message.positions[message.names.index(ELBOW)]

    def path(self, ear: Listener, joint: str = ELBOW) -> tuple[np.ndarray[Any, Any], ...]:
        """Return times of arrival [s] and positions [rad] of a joint, of all messages received."""
        count = ear.count
        messages = [decode(data) for data in ear.messages[:count]]
        positions = [message.positions[message.names.index(joint)] for message in messages]
        return np.array(ear.times[:count]), np.array(positions)


def decode(data: bytes) -> NamedPositions:
    return JointStateCodec().decode(data)


@contextlib.contextmanager
def running_bridge(
    prefix: str = "", name: str = BRIDGE, up: bool = True, module: str = MODULE, **parameters: Any
) -> Iterator[BridgeRig]:
    """Yield a bridge in a process of its own, active by default."""
    with Bench(prefix) as bench:
        parameters.setdefault("self_test", False)
        process = bench.start(module, name, **parameters)
        rig = BridgeRig(bench, process, name)
        if up:
            bench.bring_up(name)
        yield rig
        assert "Traceback" not in process.log(), process.log()
