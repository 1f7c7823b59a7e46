# SPDX-License-Identifier: Apache-2.0
import sys
from collections.abc import Iterator

import pytest

from teleop_system.exceptions import ConfigError, UnknownNameError
from teleop_system.settings import load_settings
from teleop_system.stacks import STACKS, find_stack, make_plan
from teleop_system.stacks.description import Condition, Stack
from teleop_system.stacks.option_catalogue import PLAYBACK
from teleop_system.stacks.options import Option
from teleop_system.utils.ros2_helpers import is_ros_available
from tests.waiting import run_to_end

NAMES = [
    "slave_mujoco",
    "master_sim",
    "master_mocap",
    "teleop_sim_full",
    "teleop_sim",
    "teleop_mujoco_bridge",
    "mocap_replay",
    "teleop_full",
    "arm_only",
    "hand_only",
]

# A value other than the default for every kind of option, and its value in Hydra.
OTHERS = {
    "robot": "rby1_dg5f",
    "topic_prefix": "left_robot",
    "config_dir": "/some/where",
    "log_level": "debug",
    "overrides": "arm.rate=50",
    "scene": "table",
    "pace": "real_time",
    "camera_name": "head_camera",
    "motion": "sinusoid",
    "amplitude": "0.05",
    "frequency": "0.3",
    "seed": "3",
    "control_mode": "effort",
    "file": "walk.bvh",
    "hardware": "simulated",
    "stream_host": "robot.local",
    "stream_port": "9191",
    "stream_token_file": "/some/token",
    "operator": "mocap",
    "record": "run.npz",
}
CHOOSING = {"modules", "devices", "robot_node", "stream"}
EVERYTHING = {"devices": "simulated", "robot_node": "simulated", "stream": "true"}
"""Choices that start all nodes of a stack."""


def options() -> Iterator[tuple[Stack, Option]]:
    for stack in STACKS.values():
        for option in stack.options.values():
            yield stack, option


def other_text(option: Option) -> str:
    if option.name in OTHERS:
        return OTHERS[option.name]
    if option.kind == "bool":
        return "false" if option.default else "true"
    assert isinstance(option.default, int | float)
    return str(option.default * 2)


def test_all_stacks_exist() -> None:
    assert list(STACKS) == NAMES


def test_an_unknown_stack_is_reported_with_the_valid_ones() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'teleop_sim'"):
        find_stack("telop_sim")


@pytest.mark.parametrize(
    ("stack", "option"),
    [pair for pair in options() if pair[1].name not in CHOOSING],
    ids=lambda value: value.name,
)
def test_every_option_reaches_its_nodes(stack: Stack, option: Option) -> None:
    texts = {name: text for name, text in EVERYTHING.items() if name in stack.options}
    if option.name == "camera":
        texts.pop("stream", None)  # A stream always switches the camera on.
    if "operator" in stack.options and option in PLAYBACK:
        texts["operator"] = "mocap"
    text = other_text(option)
    plan = make_plan(stack, {**texts, option.name: text})
    value = option.parse(text)
    assert option.targets
    reached = False
    for target in option.targets:
        for node in plan.nodes:
            if not target.reaches(node.kind.executable):
                continue
            reached = True
            if target.parameter == "log_level":
                assert node.ros_arguments()[-2:] == ["--log-level", value]
            elif target.parameter == "overrides":
                wanted = f"{target.override}={text}" if target.override else text
                overrides = node.parameters["overrides"]
                assert isinstance(overrides, tuple) and wanted in overrides
            else:
                assert node.parameters[target.parameter] == value
    assert reached, f"{option.name} reaches no node of {stack.name}"


def test_every_override_is_a_key_of_the_configuration() -> None:
    texts = {key: OTHERS[key] for key in ("robot", "motion", "overrides")}
    plan = make_plan(STACKS["teleop_sim_full"], texts)
    overrides = plan.node("dummy_tracker_pub").parameters["overrides"]
    assert isinstance(overrides, tuple)
    settings = load_settings(overrides)
    assert settings.robot.name == "rby1_dg5f"
    assert settings.operator.motion == "sinusoid"
    assert settings.arm.rate == 50.0


def test_a_choice_of_modules_decides_which_nodes_run() -> None:
    plan = make_plan(STACKS["teleop_sim_full"], {"modules": "hand,camera"})
    assert [node.kind.executable for node in plan.nodes] == [
        "mujoco_bridge",
        "hand_teleop_node",
        "camera_node",
        "dummy_glove_pub",
        "dummy_hmd_pub",
    ]


def test_a_recording_replaces_the_simulated_operator() -> None:
    plan = make_plan(STACKS["teleop_sim_full"], {"operator": "mocap", "loop": "true"})
    started = [node.kind.executable for node in plan.nodes]
    assert started[-1] == "bvh_replay_publisher"
    assert not any(name.startswith("dummy") for name in started)
    for node in plan.nodes:
        assert "hardware=mocap" in node.parameters["overrides"]  # type: ignore[operator]
    assert plan.node("bvh_replay_publisher").parameters["loop"] is True


@pytest.mark.parametrize("name", ["teleop_full", "arm_only", "hand_only"])
def test_parts_that_run_elsewhere_are_not_started(name: str) -> None:
    external = make_plan(STACKS[name], {"devices": "external", "robot_node": "external"})
    simulated = make_plan(STACKS[name], {"devices": "simulated", "robot_node": "simulated"})
    started = {node.kind.executable for node in external.nodes}
    assert started and started == {text for text in started if text.endswith("_node")}
    assert "mujoco_bridge" in {node.kind.executable for node in simulated.nodes}


def test_a_stream_starts_its_node_and_switches_the_camera_on() -> None:
    for name, stack in STACKS.items():
        if "stream" not in stack.options:
            assert name.startswith("master_")
            continue
        plan = make_plan(stack, {"stream": "true", "stream_port": "9191"})
        overrides = plan.node("rgbd_stream_node").parameters["overrides"]
        assert isinstance(overrides, tuple) and "streaming.port=9191" in overrides
        if "mujoco_bridge" in {node.kind.executable for node in plan.nodes}:
            assert plan.node("mujoco_bridge").parameters["camera"] is True
        without = {node.kind.executable for node in make_plan(stack).nodes}
        assert "rgbd_stream_node" not in without


def test_the_robot_is_activated_before_its_operator() -> None:
    for stack in STACKS.values():
        stages = [node.kind.stage for node in make_plan(stack).nodes]
        assert stages == sorted(stages)


def test_every_condition_can_be_met() -> None:
    def is_possible(stack: Stack, condition: Condition) -> bool:
        option = stack.option(condition.option)
        choices = (True, False) if option.kind == "bool" else option.choices
        return set(condition.any_of) <= set(choices)

    for stack in STACKS.values():
        for member in stack.members:
            assert all(is_possible(stack, condition) for condition in member.conditions)


def test_a_stack_without_a_node_is_an_error() -> None:
    with pytest.raises(ConfigError, match="has no nodes"):
        make_plan(STACKS["master_sim"], {"modules": ""})


def test_another_pace_requires_simulated_time() -> None:
    with pytest.raises(ConfigError, match="use_sim_time:=true"):
        make_plan(STACKS["slave_mujoco"], {"pace": "fast"})
    assert make_plan(STACKS["slave_mujoco"], {"pace": "fast", "use_sim_time": "true"})


def test_a_prefix_names_nodes_and_topics() -> None:
    plan = make_plan(STACKS["slave_mujoco"], {"topic_prefix": "left"})
    assert plan.nodes[0].name == "/left/mujoco_bridge"
    assert plan.nodes[0].parameters["topic_prefix"] == "left"
    with pytest.raises(ConfigError, match="topic_prefix '1st'"):
        make_plan(STACKS["slave_mujoco"], {"topic_prefix": "1st"})


PROBE = """
import sys, rclpy
from rclpy.node import Node
rclpy.init(args=sys.argv)
node = Node("probe", automatically_declare_parameters_from_overrides=True)
for name in ("robot", "use_sim_time", "physics_rate", "camera_width", "overrides", "scene"):
    value = node.get_parameter(name).value
    print(name, type(value).__name__, value, node.get_namespace(), sep="|")
"""


@pytest.mark.skipif(not is_ros_available(), reason="there is no rclpy")
def test_ros_reads_parameters_with_the_types_they_have() -> None:
    texts = {"robot": "42", "scene": "true", "overrides": "a.b=1,c='d e'", "topic_prefix": "two"}
    arguments = make_plan(STACKS["slave_mujoco"], texts).nodes[0].ros_arguments()
    arguments = [text.replace("mujoco_bridge", "probe") for text in arguments]
    done = run_to_end([sys.executable, "-c", PROBE, *arguments])
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "robot|str|42|/two",
        "use_sim_time|bool|False|/two",
        "physics_rate|float|500.0|/two",
        "camera_width|int|640|/two",
        "overrides|list|[\"robot.name='42'\", 'a.b=1', \"c='d e'\"]|/two",
        "scene|str|true|/two",
    ]
