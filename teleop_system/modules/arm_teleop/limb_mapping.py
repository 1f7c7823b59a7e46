# SPDX-License-Identifier: Apache-2.0
"""From where a tracker is to where an end effector should be."""

from math import cos, sin

from teleop_system.modules.arm_teleop.spatial import (
    Placement,
    conjugate,
    multiply,
    scaled_rotation,
)


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
    """

    __slots__ = ("_after", "_anchor", "_rotation_scale", "_tool", "_tracker", "_yaw")

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
        self._tracker, self._anchor = tracker
        self._tool = tool[0]
        self._rotation_scale = rotation_scale
        # Half the turn for quaternions, the whole of it, scaled, for vectors.
        self._yaw = (s, c, scale * sin(heading), scale * cos(heading), scale)
        # The turn t of the tracker is seen as Y t Y⁻¹, with Y the turn by -heading, and the last
        # two factors before the tool's orientation never change.
        after = multiply((0.0, 0.0, s, c), tool[1])
        is_scaled = rotation_scale != 1.0
        self._after = after if is_scaled else multiply(conjugate(self._anchor), after)

    def apply(self, tracker: Placement) -> Placement:
        """Return the end effector's pose for a pose of the tracker."""
        (px, py, pz), q = tracker
        ax, ay, az = self._tracker
        tx, ty, tz = self._tool
        s, c, sine, cosine, scale = self._yaw
        if self._rotation_scale != 1.0:
            q = scaled_rotation(multiply(q, conjugate(self._anchor)), self._rotation_scale)
        x, y, z, w = q
        x, y, z, w = c * x + s * y, c * y - s * x, c * z - s * w, c * w + s * z
        bx, by, bz, bw = self._after
        dx, dy = px - ax, py - ay
        return (
            (tx + cosine * dx + sine * dy, ty + cosine * dy - sine * dx, tz + scale * (pz - az)),
            (
                w * bx + x * bw + y * bz - z * by,
                w * by - x * bz + y * bw + z * bx,
                w * bz + x * by - y * bx + z * bw,
                w * bw - x * bx - y * by - z * bz,
            ),
        )
