# SPDX-License-Identifier: Apache-2.0
"""Maps poses of a tracker to poses of an end effector."""

from math import cos, sin

import numpy as np

from teleop_system.interfaces import Pose6D
from teleop_system.modules.arm_teleop.limbs import pose_kernels as kernels
from teleop_system.utils.poses import PoseTuple, normalized


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

    Attributes:
        record: The mapping as kernels take it, shape (1,).
    """

    __slots__ = ("record",)

    def __init__(
        self,
        tracker: PoseTuple,
        tool: PoseTuple,
        heading: float,
        *,
        scale: float = 1.0,
        rotation_scale: float = 1.0,
    ) -> None:
        self.record = mapping = np.zeros(1, dtype=kernels.MAPPING)
        mapping["tracker_position"], mapping["tracker_orientation"] = tracker
        mapping["tool_position"], mapping["tool_orientation"] = tool
        mapping["to_base"] = 0.0, 0.0, -sin(0.5 * heading), cos(0.5 * heading)
        mapping["scale"], mapping["rotation_scale"] = scale, rotation_scale

    def apply(self, tracker: PoseTuple) -> PoseTuple:
        """Return the end effector's pose for a pose of the tracker."""
        return kernels.map_pose(self.record, *tracker)


def unit_pose(pose: Pose6D) -> PoseTuple:
    """Return a pose as plain floats, its quaternion of unit length."""
    x, y, z = pose.position.tolist()
    a, b, c, d = pose.orientation.tolist()
    return (x, y, z), normalized((a, b, c, d))
