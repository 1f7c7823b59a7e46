# SPDX-License-Identifier: Apache-2.0
"""Arms and torso as a lifecycle node."""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from std_srvs.srv import Trigger
from typing_extensions import override

from teleop_system.calibration import ArmCalibration
from teleop_system.exceptions import TeleopError
from teleop_system.interfaces import Pose6D, TrackerRole
from teleop_system.modules.arm_teleop.ros2_adapters import TrackerTopic, chain_side
from teleop_system.modules.camera.ros2_adapters import HeadOrientationTopic
from teleop_system.ros2.joint_topics import JointWriter
from teleop_system.ros2.module_node import ModuleNode
from teleop_system.ros2.robot_link import TargetUse
from teleop_system.ros2.sample_topic import SampleTopic
from teleop_system.ros2.teleop_node import run_node
from teleop_system.session.arm_module import ArmModule
from teleop_system.session.modules import pose_of
from teleop_system.session.signals import Samples
from teleop_system.settings import TeleopSettings
from teleop_system.utils.ros2_helpers import TopicNames

CALIBRATION_TIME = 1.0
"""Time in [s] for which the operator has to stand still before the request."""
LARGEST_MOTION = 0.02
"""Largest root mean square motion of the trackers in that time in [m]."""


class ArmTeleopNode(ModuleNode):
    """Moves arms and torso as the operator's hands and waist move.

    It serves `/teleop/calibrate`: the operator stands still in the A-pose for a second, then calls
    the service.
    """

    module_name = "arm"
    sections = ("arm", "solver")
    fixed = ("arm.rate", "solver.name", "solver.backend")
    targets = TargetUse.ALWAYS
    module: ArmModule

    def __init__(self, **keywords: Any) -> None:
        super().__init__("arm_teleop_node", **keywords)
        self._calibration: ArmCalibration | None = None

    @override
    def configure(self) -> None:
        super().configure()
        seconds = round(CALIBRATION_TIME * self.module.rate)
        self._recent: deque[dict[TrackerRole, Pose6D]] = deque(maxlen=seconds)
        self.module.calibration = self._calibration
        self.serve(Trigger, TopicNames.CALIBRATE, self._on_calibrate)

    @override
    def open_input(self, signal: str, *, wakes: bool = True) -> SampleTopic[Any]:
        on_sample = self.on_sample if wakes else None
        if signal == TrackerRole.HEAD.value:
            return HeadOrientationTopic(self, on_sample)
        return TrackerTopic(self, TrackerRole(signal), on_sample)

    @override
    def extra_signals(self) -> Sequence[str]:
        # Without a waist tracker, the head gives the operator's heading.
        uses_head = self.settings.arm.heading in ("auto", "head")
        return (TrackerRole.HEAD.value,) if uses_head else ()

    @override
    def open_writers(self) -> Mapping[str, JointWriter]:
        chains = {name: self.robot.chains[name] for name in self.module.parts}
        return {
            name: JointWriter(
                self, TopicNames.arm_command(chain_side(chain)), self.parts[name].joints
            )
            for name, chain in chains.items()
        }

    @override
    def observe(self, samples: Samples) -> None:
        self._recent.append(
            {role: pose for role in TrackerRole if (pose := pose_of(samples.get(role.value)))}
        )

    @override
    def _use_settings(self, settings: TeleopSettings) -> None:
        super()._use_settings(settings)
        self.module.calibration = self._calibration

    def _on_calibrate(self, _: Any, response: Any) -> Any:
        response.success, response.message = self._calibrate()
        log = self.get_logger().info if response.success else self.get_logger().warning
        log(f"calibration: {response.message}")
        return response

    def _calibrate(self) -> tuple[bool, str]:
        """Calibrate with the newest samples; return success, and the figures or the reason."""
        refusal = self._refusal()
        if refusal or not self.is_active:
            return False, refusal or "the node is not active"
        now = self.now()
        recent = [
            {role: pose for role, pose in tick.items() if now - pose.timestamp < CALIBRATION_TIME}
            for tick in self._recent
        ]
        before = self._calibration
        try:
            found = self.module.calibrate(recent)
        except TeleopError as error:
            return False, str(error)
        figures = (
            f"residual {1e3 * found.residual:.0f} mm, scale {found.scale:.2f}, "
            f"motion {1e3 * found.motion:.0f} mm"
        )
        if found.motion > LARGEST_MOTION:
            self.module.calibration = before
            return False, f"{figures}: stand still for {CALIBRATION_TIME:.0f} s, then call again"
        self._calibration = found
        if found.residual > self.settings.arm.max_residual:
            limit = 1e3 * self.settings.arm.max_residual
            return False, f"{figures}: above {limit:.0f} mm, the arms will not engage"
        return True, figures


def main(args: list[str] | None = None) -> None:
    """Run the node."""
    run_node(ArmTeleopNode, args)


if __name__ == "__main__":
    main()
