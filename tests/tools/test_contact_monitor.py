# SPDX-License-Identifier: Apache-2.0
"""Links that touch each other are found, except for the fingers of one hand."""

from teleop_system.robots import load_robot
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
from teleop_system.tools.contact_monitor import ContactMonitor


class TouchingSimulator(MuJoCoSimulator):
    """A simulation that reports contact between two links."""

    pair = ("", "")

    def self_contacts(self) -> set[tuple[str, str]]:
        return {self.pair}


def watch(pair: tuple[str, str], *times: float) -> list[tuple[str, str]]:
    robot = load_robot("rby1_dg5f")
    simulator = TouchingSimulator()
    simulator.initialize({"mjcf_path": str(robot.mjcf), "render": False})
    simulator.pair = pair
    monitor = ContactMonitor(simulator, robot)
    for time in times:
        monitor.check(time)
    simulator.shutdown()
    return monitor.pairs


def test_a_pinch_is_not_a_collision() -> None:
    assert watch(("rl_dg_1_4", "rl_dg_2_4"), 0.0) == []
    assert watch(("rl_dg_2_4", "rl_dg_palm"), 0.0) == []


def test_two_hands_that_touch_are_a_collision() -> None:
    assert watch(("ll_dg_1_4", "rl_dg_1_4"), 0.0, 1.0) == [("ll_dg_1_4", "rl_dg_1_4")]


def test_a_hand_that_touches_the_chest_is_a_collision() -> None:
    assert watch(("link_torso_5", "rl_dg_palm"), 0.0) == [("link_torso_5", "rl_dg_palm")]
