# SPDX-License-Identifier: Apache-2.0
"""Maps poses of a tracker to poses of an end effector."""

from math import cos, sin

from teleop_system.interfaces import Pose6D
from teleop_system.utils.poses import PoseTuple, normalized
from teleop_system.utils.quaternion_kernels import conjugate, multiply, scaled_rotation


class LimbMapping:
    """Maps motion of a tracker from its anchor to motion of an end effector from its own.

    Relative and absolute mapping differ only in the anchors: the poses at the moment the clutch
    closed, or those of a calibration. Rotations are about the same axes as the tracker's, seen
    from the operator's heading.

    Args:
        tracker: Anchor of the tracker in the room.
        tool: Anchor of the end effector in the base frame.
        heading: Direction in the room in [rad] that is ahead for the robot.
        scale: Distance of the end effector per distance of the tracker.
        rotation_scale: Rotation of the end effector per rotation of the tracker.
    """

    __slots__ = (
        "_anchor",
        "_cosine",
        "_half_cosine",
        "_half_sine",
        "_rotation_scale",
        "_scale",
        "_sine",
        "_tool_position",
        "_tool_rotation",
    )

    def __init__(
        self,
        tracker: PoseTuple,
        tool: PoseTuple,
        heading: float,
        *,
        scale: float = 1.0,
        rotation_scale: float = 1.0,
    ) -> None:
        self._anchor = tracker
        self._tool_position = tool[0]
        self._half_sine, self._half_cosine = sin(0.5 * heading), cos(0.5 * heading)
        self._sine, self._cosine = scale * sin(heading), scale * cos(heading)
        self._scale, self._rotation_scale = scale, rotation_scale
        # A rotation r of the tracker is seen as Y r Y⁻¹, with Y the rotation by -heading. Its last
        # factors, in front of the tool's orientation, never change.
        rotation = multiply((0.0, 0.0, self._half_sine, self._half_cosine), tool[1])
        if rotation_scale == 1.0:
            rotation = multiply(conjugate(tracker[1]), rotation)
        self._tool_rotation = rotation

    def apply(self, tracker: PoseTuple) -> PoseTuple:
        """Return the end effector's pose for a pose of the tracker."""
        (px, py, pz), rotation = tracker
        (ax, ay, az), anchor = self._anchor
        if self._rotation_scale != 1.0:
            rotation = scaled_rotation(multiply(rotation, conjugate(anchor)), self._rotation_scale)
        s, c = self._half_sine, self._half_cosine
        x, y, z, w = rotation
        seen = (c * x + s * y, c * y - s * x, c * z - s * w, c * w + s * z)
        dx, dy, dz = px - ax, py - ay, pz - az
        tx, ty, tz = self._tool_position
        sine, cosine = self._sine, self._cosine
        position = (
            tx + cosine * dx + sine * dy,
            ty + cosine * dy - sine * dx,
            tz + self._scale * dz,
        )
        return position, multiply(seen, self._tool_rotation)


def unit_pose(pose: Pose6D) -> PoseTuple:
    """Return a pose as plain floats, its quaternion of unit length."""
    x, y, z = pose.position.tolist()
    a, b, c, d = pose.orientation.tolist()
    return (x, y, z), normalized((a, b, c, d))
