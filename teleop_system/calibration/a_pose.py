# SPDX-License-Identifier: Apache-2.0
"""A-pose calibration: maps the operator's trackers to the robot's end effectors.

The operator stands like the robot in its A-pose. The calibration fits one rotation about the
vertical, one scale and one translation from trackers to end effectors; the residual shows how
well the operator stood.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import InvalidPoseError
from teleop_system.interfaces import Pose6D, TrackerRole
from teleop_system.utils.transforms import quat_average

Array = NDArray[np.float64]

SMALLEST_SPAN = 0.1
"""Trackers closer together than this in [m] determine neither scale nor heading."""


@dataclass(frozen=True, slots=True)
class ArmCalibration:
    """How an operator's trackers map to a robot's end effectors.

    Attributes:
        anchors: For each tracker its pose and the end effector's pose in the A-pose.
        heading: Direction in [rad] that the operator faced.
        scale: Robot displacement per operator displacement.
        residual: Root mean square error of the fit in [m].
        offsets: Error of each tracker in [m], in the robot's base frame.
        motion: Root mean square motion of the trackers during the measurement in [m].
    """

    anchors: Mapping[TrackerRole, tuple[Pose6D, Pose6D]]
    heading: float
    scale: float
    residual: float
    offsets: Mapping[TrackerRole, tuple[float, float, float]] = field(default_factory=dict)
    motion: float = 0.0

    def __post_init__(self) -> None:
        for name in ("anchors", "offsets"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))


def calibrate_a_pose(
    samples: Sequence[Mapping[TrackerRole, Pose6D]], tools: Mapping[TrackerRole, Pose6D]
) -> ArmCalibration:
    """Return the calibration for an operator who stood in the A-pose.

    Args:
        samples: Tracker poses in ROS axes over about one second; invalid ones are ignored.
        tools: End-effector poses in the A-pose, in the base frame, by the tracker that each
            follows.

    Raises:
        InvalidPoseError: A tracker has no valid pose, or the trackers are too close together.
    """
    means: dict[TrackerRole, Pose6D] = {}
    moved = []
    for role in tools:
        seen = [sample[role] for sample in samples if role in sample and sample[role].valid]
        if not seen:
            raise InvalidPoseError(f"calibration needs a valid pose of the tracker {role.value!r}")
        positions = np.array([pose.position for pose in seen])
        mean = positions.mean(axis=0)
        moved.append(np.square(positions - mean).sum(axis=1).mean())
        orientation = quat_average([pose.orientation for pose in seen])
        means[role] = Pose6D(mean, orientation, seen[-1].timestamp)
    operator = np.array([means[role].position for role in tools])
    robot = np.array([pose.position for pose in tools.values()])
    heading, scale, errors = _fit(operator, robot)
    return ArmCalibration(
        anchors={role: (means[role], tools[role]) for role in tools},
        heading=heading,
        scale=scale,
        residual=float(np.sqrt(np.square(errors).sum(axis=1).mean())),
        offsets={role: tuple(row) for role, row in zip(tools, errors.tolist(), strict=True)},
        motion=math.sqrt(float(np.mean(moved))),
    )


def _fit(operator: Array, robot: Array) -> tuple[float, float, Array]:
    """Return heading, scale and errors of the best fit between points, each of shape (N, 3)."""
    a, b = operator - operator.mean(axis=0), robot - robot.mean(axis=0)
    size = float(np.square(a).sum())
    if len(a) < 2 or size < SMALLEST_SPAN**2 or float(np.square(b).sum()) < SMALLEST_SPAN**2:
        raise InvalidPoseError("the trackers are too close together for a calibration")
    # The rotation about z that aligns the horizontal components best (least squares).
    cosine = float((a[:, 0] * b[:, 0] + a[:, 1] * b[:, 1]).sum())
    sine = float((a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum())
    angle = math.atan2(sine, cosine)
    c, s = math.cos(angle), math.sin(angle)
    rotated = a @ np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    scale = float((rotated * b).sum()) / size
    return -angle, scale, b - scale * rotated
