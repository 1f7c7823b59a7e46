# SPDX-License-Identifier: Apache-2.0
"""The services of a simulation: pause, resume, step, reset."""

from collections.abc import Callable
from typing import Any

from std_srvs.srv import Trigger

from teleop_system.utils.ros2_helpers import TopicNames


class SimulationServices:
    """Four services; a refusal states its reason.

    Args:
        bridge: The node that owns the simulation.
    """

    def __init__(self, bridge: Any) -> None:
        self._bridge = bridge
        for name, answer in (
            (TopicNames.SIMULATION_PAUSE, self._pause),
            (TopicNames.SIMULATION_RESUME, self._resume),
            (TopicNames.SIMULATION_STEP, self._step),
            (TopicNames.SIMULATION_RESET, self._reset),
        ):
            bridge.serve(Trigger, name, self._service(answer))

    def _pause(self) -> tuple[bool, str]:
        self._bridge.pause()
        return True, f"paused at {self._bridge.simulated_time:.3f} s"

    def _resume(self) -> tuple[bool, str]:
        if self._bridge.failure:
            return False, f"refused: {self._bridge.failure}"
        self._bridge.resume()
        return True, f"resumed at {self._bridge.simulated_time:.3f} s"

    def _step(self) -> tuple[bool, str]:
        if not self._bridge.is_paused:
            return False, "refused: the simulation runs; pause it first"
        if self._bridge.failure:
            return False, f"refused: {self._bridge.failure}"
        self._bridge.step()
        return not self._bridge.failure, f"stepped to {self._bridge.simulated_time:.3f} s"

    def _reset(self) -> tuple[bool, str]:
        self._bridge.reset()
        return True, "the robot is back in its initial pose; engage to move it"

    def _service(self, answer: Callable[[], tuple[bool, str]]) -> Callable[[Any, Any], Any]:
        def respond(request: Any, response: Any) -> Any:
            if self._bridge.is_active:
                response.success, response.message = answer()
            else:
                response.message = "refused: the simulation's node is not active"
            return response

        return respond
