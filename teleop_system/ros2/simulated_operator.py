# SPDX-License-Identifier: Apache-2.0
"""Base class of the nodes that publish the samples of a simulated operator."""

import abc
from collections.abc import Sequence
from typing import Any, Protocol

from rcl_interfaces.msg import FloatingPointRange, IntegerRange
from typing_extensions import override

from teleop_system.ros2.status import StatusReport
from teleop_system.ros2.teleop_node import TeleopNode
from teleop_system.settings import OperatorSettings

STATUS_RATE = 2.0
FASTEST = 1000.0
"""Largest rate of a simulated device in [Hz]."""


class Source(Protocol):
    """Publishes the newest sample of a device."""

    def publish(self) -> bool:
        """Send the sample; return whether there was a valid one."""


class SimulatedOperatorNode(TeleopNode, abc.ABC):
    """Publishes the samples of simulated devices at a fixed rate while it is active.

    Parameters at their defaults take their values from the section `operator` of the settings,
    so that trackers, gloves and headset move as one person.

    Args:
        name: Name of the node.
        rate: Default of the parameter `rate` in [Hz].
        keywords: Other arguments of an rclpy node.
    """

    def __init__(self, name: str, rate: float, **keywords: Any) -> None:
        super().__init__(name, status_rate=STATUS_RATE, **keywords)
        self._rate = self._number("rate", rate, "Samples per second in [Hz].", 1.0, FASTEST)
        self._motion = str(
            self.fixed_parameter("motion", "", "Kind of motion; empty for that of the settings.")
        )
        self._amplitude = self._number(
            "amplitude", 0.0, "Largest displacement in [m]; 0 for that of the settings.", 0.0, 1.0
        )
        self._frequency = self._number(
            "frequency", 0.0, "Movements per second in [Hz]; 0 for that of the settings.", 0.0, 5.0
        )
        seeds = IntegerRange(from_value=-1, to_value=2**31 - 1)
        self._seed = int(
            self.fixed_parameter(
                "seed",
                -1,
                "Seed of the person; -1 for that of the settings.",
                integer_range=[seeds],
            )
        )
        self._sent = 0
        self._counted_at = 0.0

    @abc.abstractmethod
    def make_sources(self) -> Sequence[Source]:
        """Return the publishers of the devices' samples."""

    @property
    def operator(self) -> OperatorSettings:
        """The simulated operator, from parameters and settings."""
        defaults = self.settings.operator
        return OperatorSettings(
            motion=defaults.motion,
            seed=self._seed if self._seed >= 0 else defaults.seed,
            amplitude=self._amplitude or defaults.amplitude,
            frequency=self._frequency or defaults.frequency,
        )

    @property
    def motion(self) -> str:
        """Kind of motion, from parameter and settings."""
        return self._motion or self.operator.motion

    @override
    def configure(self) -> None:
        self._sources = tuple(self.make_sources())
        self._timer = self.every(1.0 / self._rate, self._publish, steady=not self.is_simulated)
        self._timer.cancel()

    @override
    def activate(self) -> None:
        self._sent = 0
        self._counted_at = self.steady()
        self._timer.reset()

    @override
    def deactivate(self) -> None:
        self._timer.cancel()

    @override
    def report(self) -> StatusReport:
        now = self.steady()
        span, sent = now - self._counted_at, self._sent
        self._sent, self._counted_at = 0, now
        rate = sent / span if span > 0.0 and self.is_active else 0.0
        report = super().report()
        report.values.update(rate=f"{rate:.1f}", motion=self.motion)
        return report

    def _publish(self) -> None:
        for source in self._sources:
            source.publish()
        self._sent += 1

    def _number(
        self, name: str, default: float, description: str, low: float, high: float
    ) -> float:
        bounds = FloatingPointRange(from_value=low, to_value=high)
        return float(
            self.fixed_parameter(name, default, description, floating_point_range=[bounds])
        )
