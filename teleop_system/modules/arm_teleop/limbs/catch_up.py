# SPDX-License-Identifier: Apache-2.0
"""The share of the operator's motion in a target, from the moment a limb begins to follow."""

from teleop_system.modules.arm_teleop.config import ArmTeleopConfig
from teleop_system.safety.engage_ramp import EngageRamp
from teleop_system.utils.minimum_jerk import PEAK_SPEED
from teleop_system.utils.poses import ORIGIN, PoseTuple, angle_between, blend, distance


class CatchUp:
    """Blends the target of a limb from where its end effector is to where the operator wants it.

    The blend starts and ends at rest, and takes longer for a longer distance.

    Args:
        config: Shortest duration and largest speeds.

    Attributes:
        distance: Distance at the start, in [m] or [rad], whichever is the larger number.
    """

    __slots__ = ("_config", "_ramp", "_start", "distance")

    def __init__(self, config: ArmTeleopConfig) -> None:
        self._config = config
        self.begin(ORIGIN, ORIGIN)

    @property
    def is_over(self) -> bool:
        """Whether the operator alone determines the target."""
        return self._ramp.is_complete

    def begin(self, tool: PoseTuple, target: PoseTuple) -> None:
        """Begin at the pose of the end effector, for an operator who wants it at the target."""
        config = self._config
        moved, turned = distance(tool[0], target[0]), angle_between(tool[1], target[1])
        slowest = max(moved / config.catch_up_speed, turned / config.catch_up_turn)
        self._ramp = EngageRamp(max(config.ramp_time, PEAK_SPEED * slowest))
        self._start = tool
        self.distance = max(moved, turned)

    def advance(self, step: float) -> None:
        """Continue for a tick of `step` [s]."""
        self._ramp.advance(step)

    def blend(self, target: PoseTuple) -> PoseTuple:
        """Return the target of this tick, for an operator who wants the end effector there."""
        if self._ramp.is_complete:
            return target
        return blend(self._start, target, self._ramp.blend)
