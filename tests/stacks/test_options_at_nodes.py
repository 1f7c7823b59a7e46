# SPDX-License-Identifier: Apache-2.0
"""Every option of every stack, read back from the real nodes that a stack starts."""

from collections.abc import Iterator

import pytest
import rclpy

from teleop_system.settings import load_settings
from teleop_system.stacks import STACKS, NodePlan, make_plan
from teleop_system.stacks.supervisor.composition import node_class
from tests.stacks.test_plan import CHOOSING, EVERYTHING, other_text


def plans() -> Iterator[NodePlan]:
    """Yield the nodes of all stacks, with no option at its default."""
    for stack in STACKS.values():
        texts = {
            name: other_text(option)
            for name, option in stack.options.items()
            if name not in CHOOSING and name != "config_dir"
        }
        texts |= {name: text for name, text in EVERYTHING.items() if name in stack.options}
        if "modules" in stack.options:
            texts["modules"] = "arm,hand,locomotion,camera"
        yield from make_plan(stack, texts).nodes


def different_plans() -> list[NodePlan]:
    """Return each distinct plan once; most stacks start a node with the same parameters."""
    found: list[NodePlan] = []
    for plan in plans():
        if plan not in found:
            found.append(plan)
    return found


@pytest.mark.parametrize("plan", different_plans(), ids=lambda plan: plan.kind.executable)
def test_a_node_has_the_parameters_that_its_stack_gives_it(plan: NodePlan) -> None:
    rclpy.init(args=plan.ros_arguments())
    try:
        node = node_class(plan.kind)()
        try:
            assert node.get_fully_qualified_name() == plan.name
            # Only the first node of a process sets the log level.
            assert plan.log_level in plan.ros_arguments()
            for name, value in plan.parameters.items():
                given = node.get_parameter(name).value
                assert given == (list(value) if isinstance(value, tuple) else value), name
            settings = load_settings(node.setting_overrides())
            assert settings.robot.name == "rby1_dg5f"
            assert settings.arm.rate == 50.0
            if plan.kind.executable == "rgbd_stream_node":
                assert settings.streaming.host == "robot.local"
                assert settings.streaming.port == 9191
                assert settings.streaming.token_file == "/some/token"
        finally:
            node.destroy_node()
    finally:
        rclpy.try_shutdown()
