# SPDX-License-Identifier: Apache-2.0
"""Simulated time: on /clock, paced, paused, stepped, reset, and with two robots."""

import time

import numpy as np
import pytest
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Image

from teleop_system.utils.ros2_helpers import TopicNames
from tests.ros2.harness import Listener
from tests.simulators.mujoco_ros2_bridge.rig import BRIDGE, BridgeRig, decode, running_bridge
from tests.waiting import stays, wait_until_constant


def clock_times(ear: Listener) -> np.ndarray:  # type: ignore[type-arg]
    stamps = [message.clock for message in list(ear.messages)]
    return np.array([stamp.sec + 1e-9 * stamp.nanosec for stamp in stamps])


def test_simulated_time_keeps_up_with_real_time(bridge: BridgeRig) -> None:
    clock = bridge.bench.listen(Clock, TopicNames.CLOCK)
    bridge.bench.wait(lambda: clock.count > 20)
    clock.clear()
    bridge.bench.wait(lambda: clock.count > 1 and clock.times[-1] - clock.times[0] > 2.0)
    clock = clock.so_far()
    times = clock_times(clock)
    span = clock.times[-1] - clock.times[0]
    # 0.98 on a calm machine.
    assert 0.7 < (times[-1] - times[0]) / span < 1.2
    assert clock.rate() > 40.0
    assert np.all(np.diff(times) > 0.0)
    assert float(bridge.bench.value("real_time_factor")) > 0.5


def test_a_paused_simulation_moves_by_single_steps_only(bridge: BridgeRig) -> None:
    bench = bridge.bench
    clock = bench.listen(Clock, TopicNames.CLOCK)
    assert not bench.trigger(TopicNames.SIMULATION_STEP).success
    assert bench.trigger(TopicNames.SIMULATION_PAUSE).success
    bench.wait(lambda: bench.value("simulation") == "paused")
    before = float(bench.value("simulated_time"))
    for _ in range(3):
        assert bench.trigger(TopicNames.SIMULATION_STEP).success
    bench.wait(lambda: float(bench.value("simulated_time")) == pytest.approx(before + 0.03))
    assert stays(lambda: float(bench.value("simulated_time")) == pytest.approx(before + 0.03), 0.3)
    assert bench.trigger(TopicNames.SIMULATION_RESUME).success
    bench.wait(lambda: float(bench.value("simulated_time")) > before + 0.5)
    assert np.all(np.diff(clock_times(clock)) >= 0.0)


def test_an_emergency_stop_counts_while_paused(bridge: BridgeRig) -> None:
    bench = bridge.bench
    bench.trigger(TopicNames.SIMULATION_PAUSE)
    assert bench.trigger(TopicNames.ESTOP).success
    bench.trigger(TopicNames.SIMULATION_RESUME)
    bench.wait_for_state("estopped")
    bench.trigger(TopicNames.RESET_ESTOP)
    bench.wait_for_state("ready")


def test_a_reset_moves_the_robot_back_but_never_the_clock(bridge: BridgeRig) -> None:
    bench = bridge.bench
    clock = bench.listen(Clock, TopicNames.CLOCK)
    start = bridge.elbow()
    with bridge.commanding(0.3):
        bridge.engage()
        bench.wait(lambda: abs(bridge.elbow() - start) > 0.2)
        assert bench.trigger(TopicNames.SIMULATION_RESET).success
        bench.wait(lambda: abs(bridge.elbow() - start) < 0.02)
        bench.wait_for_state("ready")
        is_back = lambda: abs(bridge.elbow() - start) < 0.02  # noqa: E731
        assert stays(is_back, 0.3), "the operator must engage again"
    assert np.all(np.diff(clock_times(clock)) >= 0.0)


def test_a_stepped_bridge_runs_on_its_own_time() -> None:
    paced = {"pace": "stepped", "use_sim_time": True, "publish_clock": False}
    with running_bridge("stepped", "stepped_bridge", publish_rate=50.0, **paced) as rig:
        bench = rig.bench
        assert stays(lambda: rig.states.count == 0, 0.3)
        for cycle in range(100):
            rig.send(0.2, stamp=0.01 * cycle)
            assert bench.trigger(TopicNames.SIMULATION_STEP).success
            if bench.value("state") == "ready":
                bench.trigger(TopicNames.ENGAGE)
        bench.wait(lambda: bench.value("state") == "engaged")
        bench.wait(lambda: bench.value("simulated_time") == "1.000")
        assert rig.states.count == pytest.approx(50, abs=2)
        assert decode(rig.states.last).stamp == pytest.approx(1.0, abs=0.021)
        assert abs(decode(rig.targets.last).positions[9] - rig.home[3]) > 0.005


def test_two_robots_in_one_graph_do_not_disturb_each_other(bridge: BridgeRig) -> None:
    with running_bridge("robot_two", "bridge_two", publish_clock=False) as second:
        second.bench.wait_for_state("ready")
        node = bridge.bench.node

        def clocks() -> list[str]:
            publishers = node.get_publishers_info_by_topic(TopicNames.CLOCK)
            return [info.node_name for info in publishers]

        bridge.bench.wait(lambda: clocks() == [BRIDGE], lambda: str(clocks()))
        before = bridge.elbow(bridge.targets)
        with second.commanding(0.2):
            second.engage()
            start = second.elbow(second.targets)
            second.bench.wait(lambda: abs(second.elbow(second.targets) - start) > 0.1)
        assert bridge.bench.value("state") == "ready"
        assert abs(bridge.elbow(bridge.targets) - before) < 1e-6
        second.bench.trigger(TopicNames.ESTOP)
        second.bench.wait_for_state("estopped")
        assert bridge.bench.value("state") == "ready"


def test_live_parameters_change_how_joints_are_driven(bridge: BridgeRig) -> None:
    bench = bridge.bench
    assert bench.get_parameter(BRIDGE, "physics_rate") == 500.0
    assert not bench.set_parameter(BRIDGE, "physics_rate", 1000.0).successful
    for name, value in (("control_mode", "magic"), ("pid_p", [1.0, 2.0]), ("pid_d", [-5.0])):
        answer = bench.set_parameter(BRIDGE, name, value)
        assert not answer.successful and answer.reason, name
    for mode in ("velocity", "effort", "position"):
        bench.wait_for_state("ready")
        assert bench.set_parameter(BRIDGE, "control_mode", mode).successful
        bench.wait(lambda mode=mode: bench.value("control_mode") == mode)
        start = bridge.elbow()
        with bridge.commanding(0.1):
            bridge.engage()
            assert not bench.set_parameter(BRIDGE, "control_mode", "effort").successful or (
                mode == "effort"
            )
            bench.wait(lambda: abs(bridge.elbow() - bridge.home[3] - 0.1) < 0.03)
        with bridge.commanding(0.0):
            bench.wait(lambda: abs(bridge.elbow() - bridge.home[3]) < 0.03)
        bridge.disengage()
        assert abs(start - bridge.home[3]) < 0.05


def test_velocity_commands_move_the_robot_until_their_source_stops(
    bridge: BridgeRig,
) -> None:
    bench = bridge.bench
    assert bench.set_parameter(BRIDGE, "control_mode", "velocity").successful
    speeds = [0.0] * 7
    speeds[3] = 0.2

    def send() -> None:
        bridge.send(positions=[], velocities=speeds)

    start = bridge.elbow(bridge.targets)
    with bench.repeat(100.0, send):
        bridge.engage()
        bench.wait(lambda: bridge.elbow(bridge.targets) - start > 0.1)
    wait_until_constant(lambda: round(bridge.elbow(bridge.targets), 6), 0.3, within=1.0)
    bridge.disengage()
    bench.trigger(TopicNames.SIMULATION_RESET)
    # The state is "ready" before the reset, too; the mode changes only after the robot is homed.
    bench.wait(lambda: bench.set_parameter(BRIDGE, "control_mode", "position").successful)
    bench.wait_for_state("ready")


def test_pictures_are_drawn_at_their_own_rate_beside_the_physics() -> None:
    size = {"camera_width": 320, "camera_height": 240}
    with running_bridge("seeing", "seeing_bridge", camera=True, camera_fps=10.0, **size) as rig:
        bench = rig.bench
        color = bench.listen(Image, TopicNames.CAMERA_COLOR_IMAGE)
        depth = bench.listen(Image, TopicNames.CAMERA_DEPTH_IMAGE)
        bench.wait(lambda: color.count > 3 and depth.count > 3)
        color.clear()
        rig.states.clear()
        bench.wait(lambda: color.count > 1 and color.times[-1] - color.times[0] > 1.5)
        # At most the requested rate; a busy machine draws less, but physics does not wait.
        assert color.count > 1 and color.rate() < 11.0
        assert rig.states.rate() > 4.0 * color.rate()
        picture, distance = color.last, depth.last
        assert (picture.encoding, picture.width, picture.height) == ("rgb8", 320, 240)
        assert picture.step == 960 and len(picture.data) == 960 * 240
        assert (distance.encoding, distance.step) == ("32FC1", 1280)
        assert picture.header.frame_id == "camera_optical"
        assert abs(time.time() - picture.header.stamp.sec) < 5.0
        pixels = np.frombuffer(bytes(picture.data), np.uint8)
        metres = np.frombuffer(bytes(distance.data), np.float32)
        assert pixels.std() > 5.0 and 0.1 < np.median(metres[metres > 0.0]) < 50.0
