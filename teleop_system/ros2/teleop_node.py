# SPDX-License-Identifier: Apache-2.0
"""The lifecycle of all nodes: configuration, topics, status and shutdown."""

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
from teleop_system.ros2.executor import destroy_state_machine, spin
from teleop_system.ros2.status import StatusReport, to_message
from teleop_system.settings import TeleopSettings, load_settings
from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames, get_qos_profile

DIAGNOSTICS_EVERY = 5
"""Every n-th status message is also published on `/diagnostics`, for ROS 2's own tools."""

SUCCESS = TransitionCallbackReturn.SUCCESS
FAILURE = TransitionCallbackReturn.FAILURE


class TeleopNode(LifecycleNode):
    """A lifecycle node that reads the settings tree and reports its status.

    Subclasses open topics and devices in `configure()` (what must be closed goes into
    `resources`), start in `activate()`, stop in `deactivate()`, and return their status in
    `report()`. A `TeleopError` in `configure()` or `activate()` is logged and fails the
    transition; the node keeps its state, and the transition can be repeated.

    Args:
        name: Name of the node.
        status_rate: Status messages per second in [Hz].
        keywords: Other arguments of an rclpy node.

    Attributes:
        settings: The settings, from `configure()` on.
        resources: Closed in reverse order on cleanup, shutdown and error.
        is_active: Whether the node may command anything.
        is_simulated: Whether it uses the time of `/clock`; read when it is configured.
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
        self.fixed_parameter("config_dir", "", "Folder of the settings; empty for the package's.")
        self.fixed_parameter("overrides", [""], "Settings to change: key=value, group=option.")

    def fixed_parameter(self, name: str, default: Any, description: str, **range_: Any) -> Any:
        """Declare a read-only parameter, and return its value."""
        descriptor = ParameterDescriptor(description=description, read_only=True, **range_)
        if isinstance(default, list):
            descriptor.type = ParameterType.PARAMETER_STRING_ARRAY
        return self.declare_parameter(name, default, descriptor).value

    def topic(self, name: str) -> str:
        """Return a name of `TopicNames` with the prefix of this node."""
        return TopicNames.with_prefix(name, str(self.get_parameter("topic_prefix").value))

    def now(self) -> float:
        """Return the time of the node's clock, wall time or simulated, in [s]."""
        if self.is_simulated:
            return float(self.get_clock().now().nanoseconds) * 1e-9
        return time.time()  # The same clock as rclpy's, without its objects.

    def steady(self) -> float:
        """Return a time in [s] that never jumps, for durations."""
        return time.monotonic()

    def setting_overrides(self) -> list[str]:
        """Return changes to the settings; subclasses add those of their parameters."""
        return [text for text in self.get_parameter("overrides").value or [] if text]

    def configure(self) -> None:
        """Open topics, services and devices.

        Raises:
            TeleopError: A resource cannot be opened.
        """

    def activate(self) -> None:
        """Start to send commands.

        Raises:
            TeleopError: This is not possible now.
        """

    def deactivate(self) -> None:
        """Stop sending commands; must not fail."""

    def report(self) -> StatusReport:
        """Return the status of the node."""
        return StatusReport(f"teleop/{self.get_name()}")

    def publisher(self, message_type: Any, name: str, preset: QoSPreset) -> Any:
        """Return a publisher that sends only while the node is active; closed on cleanup."""
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
        """Return a subscription, closed on cleanup; `raw` delivers bytes, for `ros2.cdr`."""
        made = self.create_subscription(
            message_type, self.topic(name), callback, get_qos_profile(preset), raw=raw
        )
        self.resources.callback(self.destroy_subscription, made)
        return made

    def serve(self, service_type: Any, name: str, callback: Callable[..., Any]) -> Any:
        """Return a service, closed on cleanup."""
        made = self.create_service(service_type, self.topic(name), callback)
        self.resources.callback(self.destroy_service, made)
        return made

    def every(self, period: float, callback: Callable[[], None], *, steady: bool = True) -> Any:
        """Return a timer of `period` [s] on the steady clock or on the node's clock."""
        clock = self._steady if steady else self.get_clock()
        made = self.create_timer(period, callback, clock=clock)
        self.resources.callback(self.destroy_timer, made)
        return made

    def publish_status(self) -> None:
        """Publish the status of the node now."""
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
        gc.freeze()  # Objects of now live long; the collector does not scan them again in a tick.
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
        """Release all resources; the node can be configured again."""
        self.get_logger().error(f"error in state {state.label!r}; the node is unconfigured now")
        self._lifecycle = "unconfigured"
        self._close()
        return SUCCESS

    @override
    def destroy_node(self) -> None:
        self._close()
        super().destroy_node()
        destroy_state_machine(self)

    def _open_status(self) -> None:
        profile = get_qos_profile(QoSPreset.STATUS)
        # Not lifecycle publishers: an inactive node reports its status too.
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
    """Raises `KeyboardInterrupt` at the first Ctrl-C only, so that shutdown is not interrupted."""

    def __init__(self) -> None:
        self._was_raised = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if not self._was_raised:
            self._was_raised = True
            raise KeyboardInterrupt


def run_node(make: Callable[[], TeleopNode], args: list[str] | None = None) -> None:
    """Run one node until Ctrl-C, SIGTERM or the end of its context: the `main` of every node."""
    # Installed before rclpy, which calls the handler that it replaces.
    is_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_default:
        signal.signal(signal.SIGINT, _FirstInterrupt())
    rclpy.init(args=args)
    node = make()
    try:
        spin(node)
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
        if is_default:
            # Python removes its handlers at exit; another signal would kill the process then.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
