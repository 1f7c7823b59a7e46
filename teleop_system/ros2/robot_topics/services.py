# SPDX-License-Identifier: Apache-2.0
"""What people may ask of the robot's side: stop, reset, engage, disengage."""

from collections.abc import Callable
from typing import Any

from std_srvs.srv import Trigger

from teleop_system.robot_side.engagement_table import EngagementState
from teleop_system.robot_side.requests import RequestBox
from teleop_system.robot_side.robot_side import RobotSide
from teleop_system.utils.ros2_helpers import TopicNames

_S = EngagementState


class RobotServices:
    """The four services of a robot; each says why where it refuses.

    Args:
        node: The `TeleopNode` that owns the robot.
        core: The robot's core.
        requests: Takes what is asked for.
        refusal: Tells why nobody could take control now; empty where somebody could.
    """

    def __init__(
        self, node: Any, core: RobotSide, requests: RequestBox, refusal: Callable[[], str]
    ) -> None:
        self._node, self._core, self._requests, self._refusal = node, core, requests, refusal
        for name, answer in (
            (TopicNames.ESTOP, self._stop),
            (TopicNames.RESET_ESTOP, self._reset),
            (TopicNames.ENGAGE, self._engage),
            (TopicNames.DISENGAGE, self._disengage),
        ):
            node.serve(Trigger, name, _service(answer))

    def _stop(self) -> tuple[bool, str]:
        # Who has stopped it must be asked before it moves again, even where nobody else would be.
        self._requests.ask(estop=True, disengage=True)
        self._requests.ask(estop=False)  # A press; the robot's core keeps it.
        return True, "emergency stop latched; the robot holds its position under power"

    def _reset(self) -> tuple[bool, str]:
        if self._core.status.state is not _S.ESTOPPED:
            return False, f"no emergency stop is latched: {self._core.status.state.value}"
        self._requests.ask(reset_estop=True)
        return True, "emergency stop reset; engage to move again"

    def _engage(self) -> tuple[bool, str]:
        if not self._node.is_active:
            return False, "refused: the robot's node is not active"
        if self._core.status.state is _S.FAILED:
            self._requests.ask(restart=True)
            return False, f"refused, but starting again: {self._core.status.reason}"
        # Asked for even where it is refused: it also allows homing after an emergency stop.
        self._requests.ask(engage=True)
        refusal = self._refusal()
        return not refusal, f"refused: {refusal}" if refusal else "engaged"

    def _disengage(self) -> tuple[bool, str]:
        self._requests.ask(disengage=True)
        return True, "disengaged; the robot holds its position"


def _service(answer: Callable[[], tuple[bool, str]]) -> Callable[[Any, Any], Any]:
    def respond(request: Any, response: Any) -> Any:
        response.success, response.message = answer()
        return response

    return respond
