# SPDX-License-Identifier: Apache-2.0
"""Stacks for `ros2 launch`; only this module and `launch/` need the ROS 2 launch package."""

from collections.abc import Callable

from launch import LaunchContext, LaunchDescription
from launch.action import Action
from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    LogInfo,
    OpaqueFunction,
    RegisterEventHandler,
)
from launch.event_handlers import OnProcessStart
from launch.events import Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import LifecycleNode, LifecycleTransition
from launch_ros.event_handlers import OnStateTransition
from lifecycle_msgs.msg import Transition

from teleop_system.exceptions import ConfigError
from teleop_system.stacks.catalogue import find_stack
from teleop_system.stacks.description import Stack
from teleop_system.stacks.options import Option
from teleop_system.stacks.plan import NodePlan, StackPlan, make_plan

PACKAGE = "teleop_system"
RESPAWN_DELAY = 1.0
"""Delay in [s] before a dead node is restarted."""


def stack_launch_description(name: str) -> LaunchDescription:
    """Return the launch description of a stack: arguments, nodes and lifecycle order."""
    stack = find_stack(name)
    arguments = [_argument(option) for option in stack.options.values()]
    return LaunchDescription([*arguments, OpaqueFunction(function=_start(stack))])


def _argument(option: Option) -> DeclareLaunchArgument:
    # Launch cannot check a list that contains several choices.
    choices = None
    if option.kind == "bool":
        choices = ["true", "false"]
    elif option.choices and option.kind != "list":
        choices = list(option.choices)
    return DeclareLaunchArgument(
        option.name,
        default_value=option.text(),
        description=option.description,
        choices=choices,
    )


def _start(stack: Stack) -> Callable[[LaunchContext], list[Action]]:
    def start(context: LaunchContext) -> list[Action]:
        texts = {name: LaunchConfiguration(name).perform(context) for name in stack.options}
        try:
            plan = make_plan(stack, texts)
        except ConfigError as error:
            return [LogInfo(msg=f"{stack.name}: {error}"), EmitEvent(event=Shutdown())]
        return _LifecycleOrder(plan).actions()

    return start


class _LifecycleOrder:
    """Configures every node at its start, and activates it after all earlier stages."""

    def __init__(self, plan: StackPlan) -> None:
        self._plan = plan
        self._active: set[str] = set()
        self._inactive: set[str] = set()

    def actions(self) -> list[Action]:
        handlers, nodes = [], []
        for node in self._plan.nodes:
            action = _lifecycle_node(node)
            handlers += self._handlers(node, action)
            nodes.append(action)
        return [*handlers, *nodes]

    def _handlers(self, node: NodePlan, action: LifecycleNode) -> list[Action]:
        def on_inactive(_: LaunchContext) -> list[Action]:
            self._inactive.add(node.name)
            return self._activations()

        def on_active(_: LaunchContext) -> list[Action]:
            self._active.add(node.name)
            return self._activations()

        return [
            # This also configures a restarted node.
            RegisterEventHandler(
                OnProcessStart(
                    target_action=action,
                    on_start=[_transition(node, Transition.TRANSITION_CONFIGURE)],
                )
            ),
            RegisterEventHandler(
                OnStateTransition(
                    target_lifecycle_node=action,
                    start_state="configuring",
                    goal_state="inactive",
                    entities=[OpaqueFunction(function=on_inactive)],
                )
            ),
            RegisterEventHandler(
                OnStateTransition(
                    target_lifecycle_node=action,
                    goal_state="active",
                    entities=[OpaqueFunction(function=on_active)],
                )
            ),
        ]

    def _activations(self) -> list[Action]:
        """Return the activations of all inactive nodes whose earlier stages are active."""
        pending = [node.kind.stage for node in self._plan.nodes if node.name not in self._active]
        stage = min(pending, default=None)
        due = [
            node
            for node in self._plan.nodes
            if node.name in self._inactive and (stage is None or node.kind.stage <= stage)
        ]
        self._inactive -= {node.name for node in due}
        return [_transition(node, Transition.TRANSITION_ACTIVATE) for node in due]


def _lifecycle_node(node: NodePlan) -> LifecycleNode:
    parameters = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in node.parameters.items()
    }
    return LifecycleNode(
        package=PACKAGE,
        executable=node.kind.executable,
        name=node.kind.executable,
        namespace=node.namespace,
        parameters=[parameters] if parameters else [],
        ros_arguments=["--log-level", node.log_level],
        output="screen",
        respawn=True,
        respawn_delay=RESPAWN_DELAY,
    )


def _transition(node: NodePlan, transition: int) -> LifecycleTransition:
    return LifecycleTransition(lifecycle_node_names=[node.name], transition_ids=[transition])
