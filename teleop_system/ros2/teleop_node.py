# SPDX-License-Identifier: Apache-2.0
"""The lifecycle that all our nodes share: configuration, topics, status, and a clean end."""

import gc
import signal
import time
from collections.abc import Callable
from contextlib import ExitStack
from types import FrameType
from typing import Any

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rcl_interfaces.msg import ParameterDescriptor, ParameterType
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from typing_extensions import override

from teleop_system.exceptions import TeleopError
from teleop_system.ros2.executor import spin
from teleop_system.ros2.status import StatusReport, to_message
from teleop_system.settings import TeleopSettings, load_settings
from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames, get_qos_profile

DIAGNOSTICS_EVERY = 5
"""Every how many status messages one goes to `/diagnostics`, too, for ROS 2's own tools."""

SUCCESS = TransitionCallbackReturn.SUCCESS
FAILURE = TransitionCallbackReturn.FAILURE


class TeleopNode(LifecycleNode):
    """A lifecycle node that is configured by the settings tree and says how it is.

    Subclasses open what they need in `configure()` (everything that has to be closed goes into
    `resources`), start in `activate()`, stop in `deactivate()`, and tell how they are in
    `report()`. A `TeleopError` from the first two is logged and fails the transition; the node
    then stands where it was, and can be tried again.

    Args:
        name: Name of the node.
        status_rate: Status messages per second in [Hz].
        keywords: As for any node of rclpy.

    Attributes:
        settings: The settings, from `configure()` on.
        resources: Closed, in reverse order, on the way to unconfigured, finalised or error.
        is_active: Whether the node may command anything.
        is_simulated: Whether its time is that of `/clock`; settled when it is configured.
    """

    settings: TeleopSettings

    def __init__(self, name: str, *, status_rate: float = 2.0, **keywords: Any) -> None:
        super().__init__(name, **keywords)
        self.resources = ExitStack()
        self.is_active = False
        self._lifecycle = "unconfigured"
        self._status_rate = status_rate
        self._status_count = 0
        self._status: Any = None
        self._diagnostics: Any = None
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.is_simulated = bool(self.get_parameter("use_sim_time").value)
        self.fixed_parameter("topic_prefix", "", "Prefix of all topics and services.")
        self.fixed_parameter("config_dir", "", "Folder of the settings; empty for our own.")
        self.fixed_parameter("overrides", [""], "Settings to change: key=value, group=option.")

    def fixed_parameter(self, name: str, default: Any, description: str, **range_: Any) -> Any:
        """Declare a parameter that is set at the start only, and return its value."""
        descriptor = ParameterDescriptor(description=description, read_only=True, **range_)
        if isinstance(default, list):
            descriptor.type = ParameterType.PARAMETER_STRING_ARRAY
        return self.declare_parameter(name, default, descriptor).value

    def topic(self, name: str) -> str:
        """Return a name of `TopicNames` below the prefix of this node."""
        return TopicNames.with_prefix(name, str(self.get_parameter("topic_prefix").value))

    def now(self) -> float:
        """Return the time of the node's clock, simulated or not, in [s]."""
        if self.is_simulated:
            return float(self.get_clock().now().nanoseconds) * 1e-9
        return time.time()  # The same clock, without the objects that rclpy makes of it.

    def steady(self) -> float:
        """Return a time in [s] that never jumps, for measuring how long something took."""
        return time.monotonic()

    def setting_overrides(self) -> list[str]:
        """Return the settings to change; subclasses add what their parameters say."""
        return [text for text in self.get_parameter("overrides").value or [] if text]

    def configure(self) -> None:
        """Open topics, services and devices.

        Raises:
            TeleopError: Something cannot be had as asked.
        """

    def activate(self) -> None:
        """Begin to command.

        Raises:
            TeleopError: That is not possible now.
        """

    def deactivate(self) -> None:
        """Stop commanding; must not fail."""

    def report(self) -> StatusReport:
        """Return how the node is, for the status topic."""
        return StatusReport(f"teleop/{self.get_name()}")

    def publisher(self, message_type: Any, name: str, preset: QoSPreset) -> Any:
        """Return a publisher that is silent while the node is not active; closed by itself."""
        made = self.create_lifecycle_publisher(
            message_type, self.topic(name), get_qos_profile(preset)
        )
        self.resources.callback(self.destroy_lifecycle_publisher, made)
        return made

    def subscribe(
        self,
        message_type: Any,
        name: str,
        callback: Callable[..., None],
        preset: QoSPreset,
        *,
        raw: bool = False,
    ) -> Any:
        """Return a subscription, closed by itself; `raw` delivers bytes, for `ros2.cdr`."""
        made = self.create_subscription(
            message_type, self.topic(name), callback, get_qos_profile(preset), raw=raw
        )
        self.resources.callback(self.destroy_subscription, made)
        return made

    def serve(self, service_type: Any, name: str, callback: Callable[..., Any]) -> Any:
        """Return a service, closed by itself."""
        made = self.create_service(service_type, self.topic(name), callback)
        self.resources.callback(self.destroy_service, made)
        return made

    def every(self, period: float, callback: Callable[[], None], *, steady: bool = True) -> Any:
        """Return a timer of `period` [s], on a clock that never jumps or on the node's own."""
        clock = self._steady if steady else self.get_clock()
        made = self.create_timer(period, callback, clock=clock)
        self.resources.callback(self.destroy_timer, made)
        return made

    def publish_status(self) -> None:
        """Tell how the node is, at once."""
        if self._status is None:
            return
        report = self.report()
        report.values.setdefault("lifecycle", self._lifecycle)
        message = to_message([report], self.get_clock().now().to_msg())
        self._status.publish(message)
        if self._status_count % DIAGNOSTICS_EVERY == 0:
            self._diagnostics.publish(message)
        self._status_count += 1

    @override
    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        self.is_simulated = bool(self.get_parameter("use_sim_time").value)
        try:
            folder = str(self.get_parameter("config_dir").value)
            self.settings = load_settings(self.setting_overrides(), folder or None)
            self._open_status()
            self.configure()
        except TeleopError as error:
            self.get_logger().error(f"cannot be configured: {error}")
            self._close()
            return FAILURE
        self._enter("inactive")
        return super().on_configure(state)

    @override
    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        try:
            self.activate()
        except TeleopError as error:
            self.get_logger().error(f"cannot be activated: {error}")
            self.deactivate()
            return FAILURE
        result = super().on_activate(state)
        self.is_active = True
        gc.collect()
        gc.freeze()  # What lives now lives on: the collector need not look at it in a tick.
        self._enter("active")
        return result

    @override
    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        self.is_active = False
        self.deactivate()
        self._enter("inactive")
        return super().on_deactivate(state)

    @override
    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        self._enter("unconfigured")
        self._close()
        return SUCCESS

    @override
    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        self._enter("finalized")
        self._close()
        return SUCCESS

    @override
    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Let go of everything; the node can be configured again."""
        self.get_logger().error(f"an error in {state.label!r}; back to unconfigured")
        self._lifecycle = "unconfigured"
        self._close()
        return SUCCESS

    @override
    def destroy_node(self) -> None:
        self._close()
        super().destroy_node()
        # rclpy leaves it to the garbage collector, and the node in the graph until then.
        self._state_machine.destroy_when_not_in_use()

    def _open_status(self) -> None:
        profile = get_qos_profile(QoSPreset.STATUS)
        # Unlike commands, these are wanted from a node that is not active, too.
        self._status = self.create_publisher(
            DiagnosticArray, self.topic(TopicNames.STATUS), profile
        )
        self._diagnostics = self.create_publisher(
            DiagnosticArray, self.topic(TopicNames.DIAGNOSTICS), profile
        )
        self.resources.callback(self._close_status)
        self.every(1.0 / self._status_rate, self.publish_status)

    def _close_status(self) -> None:
        self.destroy_publisher(self._status)
        self.destroy_publisher(self._diagnostics)
        self._status = self._diagnostics = None

    def _enter(self, state: str) -> None:
        self._lifecycle = state
        self.publish_status()

    def _close(self) -> None:
        if self.is_active:
            self.is_active = False
            self.deactivate()
        self.resources.close()


class _FirstInterrupt:
    """Raises `KeyboardInterrupt` at the first Ctrl-C; a node that is ending is not disturbed."""

    def __init__(self) -> None:
        self._has_come = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if not self._has_come:
            self._has_come = True
            raise KeyboardInterrupt


def run_node(make: Callable[[], TeleopNode], args: list[str] | None = None) -> None:
    """Run one node until Ctrl-C, SIGTERM or the end of its context: the `main` of every node."""
    # Before rclpy, which hands signals on to whoever was there first.
    is_ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_ours:
        signal.signal(signal.SIGINT, _FirstInterrupt())
    rclpy.init(args=args)
    node = make()
    try:
        spin(node)
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
        if is_ours:
            # Python gives up its handlers as it ends, and another signal would kill it then.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
