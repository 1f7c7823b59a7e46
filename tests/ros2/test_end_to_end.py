# SPDX-License-Identifier: Apache-2.0
"""A simulated operator, the arm node and the simulated robot, each in a separate process."""

import time
from collections.abc import Callable

import numpy as np
from sensor_msgs.msg import JointState

from teleop_system.robots import load_robot
from teleop_system.ros2.status import ROBOT
from teleop_system.utils.ros2_helpers import TopicNames
from tests.ros2.harness import Bench, Listener
from tests.waiting import wait_for

BRIDGE, ARM, TRACKERS = "mujoco_bridge", "arm_teleop_node", "dummy_tracker_pub"
AGAIN = "second_tracker_pub"
MODULES = {
    BRIDGE: "teleop_system.simulators.mujoco_ros2_bridge",
    ARM: "teleop_system.modules.arm_teleop.arm_teleop_node",
    TRACKERS: "teleop_system.simulators.dummy_tracker_pub",
}


def sway(ear: Listener, joints: tuple[str, ...], span: float) -> float:
    """Return the largest distance of the joints from their start [rad] in the next `span` [s]."""
    begin = time.monotonic()
    wait_for(lambda: ear.times[-1] > begin + span, progress=lambda: ear.count)
    messages = [m for t, m in zip(ear.times, ear.messages, strict=False) if t > begin]
    columns = [list(messages[0].name).index(joint) for joint in joints]
    positions = np.array([message.position for message in messages])[:, columns]
    return float(np.abs(positions - positions[0]).max())


def test_the_robot_engages_follows_holds_without_its_operator_and_follows_again() -> None:
    arms = ("right_arm", "left_arm")
    joints = tuple(joint for arm in arms for joint in load_robot("rby1").chains[arm].joints)
    with Bench("whole") as bench:
        bench.start(MODULES[BRIDGE], BRIDGE, auto_engage=True)
        bench.start(MODULES[ARM], ARM)
        operator = bench.start(MODULES[TRACKERS], TRACKERS)
        for name in MODULES:
            bench.bring_up(name)
        states = bench.listen(JointState, TopicNames.JOINT_STATES)
        bench.wait(_follows(bench), lambda: bench.reports)
        bench.wait(lambda: states.count > 10)
        bench.wait(lambda: sway(states, joints, 1.0) > 0.02)
        operator.kill()
        report = f"teleop/{ARM}"
        bench.wait(lambda: bench.value("inputs", report) == "stale: right_hand, left_hand")
        bench.wait(lambda: sway(states, joints, 0.5) < 0.002)
        # Under another name: DDS keeps the killed node in the graph for a while.
        bench.start(MODULES[TRACKERS], AGAIN)
        bench.bring_up(AGAIN)
        bench.wait(_follows(bench), lambda: bench.reports)
        bench.wait(lambda: sway(states, joints, 1.0) > 0.02)


def _follows(bench: Bench) -> Callable[[], bool]:
    return lambda: bench.value("following", ROBOT) == "true"
