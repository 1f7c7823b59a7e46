# SPDX-License-Identifier: Apache-2.0
"""From where a tracker is to where an end effector should be."""

from math import cos, sin

import numpy as np
from numpy.typing import NDArray

from teleop_system.modules.arm_teleop.limbs import limb_kernels as kernels
from teleop_system.modules.arm_teleop.spatial import Placement, conjugate, multiply


class LimbMapping:
    """Motion of a tracker from one pose, as motion of an end effector from another.

    Relative and absolute mapping differ only in where these poses come from: from the moment at
    which the clutch closed, or from a calibration. Turns are about the same axes as the tracker's,
    seen from where the operator was heading.

    Args:
        tracker: The tracker's pose from which motion counts, in the room.
        tool: The end effector's pose that belongs to it, in the base frame.
        heading: Direction in the room in [rad] that is ahead for the robot.
        scale: Way of the end effector per way of the tracker.
        rotation_scale: Turn of the end effector per turn of the tracker.

    Attributes:
        terms: The same as numbers; see `limb_kernels`.
    """

    __slots__ = ("terms",)

    def __init__(
        self,
        tracker: Placement,
        tool: Placement,
        heading: float,
        *,
        scale: float = 1.0,
        rotation_scale: float = 1.0,
    ) -> None:
        s, c = sin(0.5 * heading), cos(0.5 * heading)
        position, anchor = tracker
        # The turn t of the tracker is seen as Y t Y⁻¹, with Y the turn by -heading, and the last
        # two factors before the tool's orientation never change.
        after = multiply((0.0, 0.0, s, c), tool[1])
        if rotation_scale == 1.0:
            after = multiply(conjugate(anchor), after)
        # Half the turn for quaternions, the whole of it, scaled, for vectors.
        yaw = (s, c, scale * sin(heading), scale * cos(heading), scale)
        numbers = (*position, *anchor, *tool[0], *after, *yaw, rotation_scale)
        self.terms: NDArray[np.float64] = np.array(numbers)

    def apply(self, tracker: Placement) -> Placement:
        """Return the end effector's pose for a pose of the tracker."""
        return kernels.mapped(self.terms, *tracker)
