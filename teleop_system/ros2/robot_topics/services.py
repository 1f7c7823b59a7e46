# SPDX-License-Identifier: Apache-2.0
"""The services of the robot side: stop, reset, engage, disengage."""

from collections.abc import Callable
from typing import Any

from std_srvs.srv import Trigger

from teleop_system.robot_side.engagement_table import EngagementState
from teleop_system.robot_side.requests import RequestBox
from teleop_system.robot_side.robot_side import RobotSide
from teleop_system.utils.ros2_helpers import TopicNames

_S = EngagementState


class RobotServices:
    """The four services of a robot; a refusal states its reason.

    Args:
        node: The `TeleopNode` that owns the robot.
        robot_side: Its robot side.
        requests: Receives the requests.
        refusal: Returns why engaging would be refused now; empty where it would not.
    """

    def __init__(
        self, node: Any, robot_side: RobotSide, requests: RequestBox, refusal: Callable[[], str]
    ) -> None:
        self._node, self._robot_side = node, robot_side
        self._requests, self._refusal = requests, refusal
        for name, answer in (
            (TopicNames.ESTOP, self._stop),
            (TopicNames.RESET_ESTOP, self._reset),
            (TopicNames.ENGAGE, self._engage),
            (TopicNames.DISENGAGE, self._disengage),
        ):
            node.serve(Trigger, name, _service(answer))

    def _stop(self) -> tuple[bool, str]:
        # Disengaging ends auto-engage: a person who stopped the robot must engage it again.
        self._requests.request(estop=True, disengage=True)
        self._requests.request(estop=False)  # The robot side keeps the press latched.
        return True, "emergency stop latched; the robot holds its position under power"

    def _reset(self) -> tuple[bool, str]:
        if self._robot_side.status.state is not _S.ESTOPPED:
            return False, f"no emergency stop is latched: {self._robot_side.status.state.value}"
        self._requests.request(reset_estop=True)
        return True, "emergency stop reset; engage to move again"

    def _engage(self) -> tuple[bool, str]:
        if not self._node.is_active:
            return False, "refused: the robot's node is not active"
        if self._robot_side.status.state is _S.FAILED:
            self._requests.request(restart=True)
            return False, f"refused, but starting again: {self._robot_side.status.reason}"
        # Requested even where it is refused: it also permits homing after an emergency stop.
        self._requests.request(engage=True)
        refusal = self._refusal()
        return not refusal, f"refused: {refusal}" if refusal else "engaged"

    def _disengage(self) -> tuple[bool, str]:
        self._requests.request(disengage=True)
        return True, "disengaged; the robot holds its position"


def _service(answer: Callable[[], tuple[bool, str]]) -> Callable[[Any, Any], Any]:
    def respond(request: Any, response: Any) -> Any:
        response.success, response.message = answer()
        return response

    return respond
