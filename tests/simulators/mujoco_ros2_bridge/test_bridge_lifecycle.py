# SPDX-License-Identifier: Apache-2.0
"""Every transition of the bridge, and what it publishes and accepts in each state."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import rclpy
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter

from teleop_system.simulators.mujoco_ros2_bridge import MuJoCoBridge
from teleop_system.utils.ros2_helpers import TopicNames
from tests.simulators.mujoco_ros2_bridge import faulty_bridge
from tests.simulators.mujoco_ros2_bridge.rig import BRIDGE, BridgeRig, running_bridge
from tests.waiting import stays, wait_until_constant

QUIET = 0.4
"""Time within which a node that publishes sends something in [s]."""
OTHER_NAME = ["--ros-args", "-r", "__node:=tried_bridge"]
"""For nodes in the test's own process: their services outlive them until they are collected."""


def wait_until_silent(rig: BridgeRig) -> None:
    """Wait until no more messages arrive; some may still be in transit."""
    wait_until_constant(lambda: (rig.states.count, rig.targets.count), QUIET, within=2.0)


def walk(rig: BridgeRig, transition: str, state: str) -> None:
    assert rig.bench.transition(BRIDGE, transition), rig.process.log()
    assert rig.bench.state(BRIDGE) == state


def test_only_an_active_bridge_publishes_and_follows_commands() -> None:
    with running_bridge(up=False) as rig:
        assert rig.bench.state(BRIDGE) == "unconfigured"
        walk(rig, "configure", "inactive")
        wait_until_silent(rig)
        answer = rig.bench.trigger(TopicNames.ENGAGE)
        assert not answer.success and "not active" in answer.message
        assert not rig.bench.trigger(TopicNames.SIMULATION_STEP).success
        walk(rig, "activate", "active")
        with rig.commanding(0.2):
            rig.engage()
            before = rig.elbow(rig.targets)
            rig.bench.wait(lambda: abs(rig.elbow(rig.targets) - before) > 0.02)
            walk(rig, "deactivate", "inactive")
            wait_until_silent(rig)
            walk(rig, "activate", "active")
            stopped = rig.elbow(rig.targets)
            assert stays(lambda: abs(rig.elbow(rig.targets) - stopped) < 1e-3, QUIET)
            assert rig.bench.value("state") == "ready", "the operator must engage again"
        walk(rig, "deactivate", "inactive")
        walk(rig, "cleanup", "unconfigured")
        wait_until_silent(rig)
        walk(rig, "configure", "inactive")
        walk(rig, "activate", "active")
        rig.bench.wait_for_state("ready")
        rig.bench.wait(lambda count=rig.states.count: rig.states.count > count)
        walk(rig, "shutdown", "finalized")
        wait_until_silent(rig)
        assert rig.process.interrupt() == 0


def test_after_an_error_the_bridge_is_unconfigured_and_can_be_configured_again() -> None:
    with running_bridge(up=False, module=faulty_bridge.MODULE) as rig:
        walk(rig, "configure", "inactive")
        assert not rig.bench.transition(BRIDGE, "activate")
        rig.bench.wait(lambda: rig.bench.state(BRIDGE) == "unconfigured")
        wait_until_silent(rig)
        walk(rig, "configure", "inactive")
        walk(rig, "activate", "active")
        rig.bench.wait_for_state("ready")


@pytest.fixture
def context() -> Iterator[None]:
    rclpy.init()
    yield
    rclpy.try_shutdown()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"robot": "rby2"}, "rby1"),
        ({"robot": "/nowhere"}, "/nowhere"),
        ({"scene": "moon"}, "moon"),
        ({"pace": "slow"}, "real_time"),
        ({"physics_rate": 333.0}, "multiple of safety.rate"),
        ({"camera": True, "camera_name": "third_eye"}, "head_camera"),
        ({"viewer": True}, "display"),
        ({"control_mode": "magic"}, "effort"),
        ({"pid_p": [1.0, 2.0]}, "24"),
        ({"overrides": ["session.home_pose=handstand"]}, "handstand"),
        ({"topic_prefix": "1st"}, "topic_prefix"),
    ],
)
@pytest.mark.usefixtures("context")
def test_an_impossible_parameter_fails_to_configure_with_the_reason(
    parameters: dict[str, object],
    message: str,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    given = [Parameter(name, value=value) for name, value in parameters.items()]
    node = MuJoCoBridge(parameter_overrides=given, cli_args=OTHER_NAME)
    assert node.trigger_configure() is TransitionCallbackReturn.FAILURE
    assert message in capfd.readouterr().err
    node.destroy_node()


@pytest.mark.usefixtures("context")
def test_a_folder_without_a_model_fails_to_configure(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    given = [Parameter("robot", value=str(tmp_path))]
    node = MuJoCoBridge(parameter_overrides=given, cli_args=OTHER_NAME)
    assert node.trigger_configure() is TransitionCallbackReturn.FAILURE
    assert str(tmp_path) in capfd.readouterr().err
    node.destroy_node()


def test_a_camera_without_rendering_fails_to_configure() -> None:
    before = os.environ.get("MUJOCO_GL")
    os.environ["MUJOCO_GL"] = "disable"
    try:
        with running_bridge(up=False, camera=True) as rig:
            assert not rig.bench.transition(BRIDGE, "configure")
            assert rig.bench.state(BRIDGE) == "unconfigured"
            assert "cannot be configured" in rig.process.log()
    finally:
        os.environ.pop("MUJOCO_GL")
        if before is not None:
            os.environ["MUJOCO_GL"] = before
