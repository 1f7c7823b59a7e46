# SPDX-License-Identifier: Apache-2.0
"""The share of the operator's motion in a target, from the moment a limb begins to follow."""

from teleop_system.modules.arm_teleop.config import ArmTeleopConfig
from teleop_system.safety.engage_ramp import EngageRamp
from teleop_system.utils.minimum_jerk import PEAK_SPEED
from teleop_system.utils.poses import PoseTuple, angle_between, blend, distance


class CatchUp(EngageRamp):
    """Blends the target of a limb from where its end effector is to where the operator wants it.

    The blend starts and ends at rest, and takes longer for a longer distance.

    Args:
        config: Shortest duration and largest speeds.
        tool: Pose of the end effector at the start.
        target: Where the operator wants it at that time.

    Attributes:
        distance: Distance at the start, in [m] or [rad], whichever is the larger number.
    """

    def __init__(self, config: ArmTeleopConfig, tool: PoseTuple, target: PoseTuple) -> None:
        moved, turned = distance(tool[0], target[0]), angle_between(tool[1], target[1])
        slowest = max(moved / config.catch_up_speed, turned / config.catch_up_turn)
        super().__init__(max(config.ramp_time, PEAK_SPEED * slowest))
        self._start = tool
        self.distance = max(moved, turned)

    def towards(self, target: PoseTuple) -> PoseTuple:
        """Return the target of this tick, for an operator who wants the end effector there."""
        return blend(self._start, target, self.blend)
