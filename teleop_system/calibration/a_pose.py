# SPDX-License-Identifier: Apache-2.0
"""The A-pose calibration: which pose of the robot an operator's pose stands for.

The operator stands as the robot does in its A-pose. One turn about the vertical, one scale and one
shift are sought that carry the operator's trackers onto the robot's end effectors; what they leave
over tells how well the operator stood.
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
"""Trackers that all lie within this distance in [m] tell neither scale nor direction."""


@dataclass(frozen=True, slots=True)
class ArmCalibration:
    """How an operator's trackers map onto a robot's end effectors.

    Attributes:
        anchors: For each tracker its pose in the A-pose, and the end effector's.
        heading: Direction in [rad] that the operator faced.
        scale: Way of the robot per way of the operator.
        residual: Root mean square in [m] of what the fit leaves over.
        offsets: What it leaves over for each tracker in [m], in the robot's base frame.
        unrest: Root mean square in [m] of how far the trackers moved meanwhile.
    """

    anchors: Mapping[TrackerRole, tuple[Pose6D, Pose6D]]
    heading: float
    scale: float
    residual: float
    offsets: Mapping[TrackerRole, tuple[float, float, float]] = field(default_factory=dict)
    unrest: float = 0.0

    def __post_init__(self) -> None:
        for name in ("anchors", "offsets"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))


def calibrate_a_pose(
    samples: Sequence[Mapping[TrackerRole, Pose6D]], tools: Mapping[TrackerRole, Pose6D]
) -> ArmCalibration:
    """Return the calibration for an operator who stood in the A-pose.

    Args:
        samples: Poses of the trackers in ROS axes, over about a second. Those that are not valid
            are left out.
        tools: The robot's end effectors in its A-pose, in the base frame, by the tracker that
            each follows.

    Raises:
        InvalidPoseError: A tracker was never seen, or they lie too close together.
    """
    means: dict[TrackerRole, Pose6D] = {}
    moved = []
    for role in tools:
        seen = [sample[role] for sample in samples if role in sample and sample[role].valid]
        if not seen:
            raise InvalidPoseError(
                f"no valid pose of the tracker {role.value!r} to calibrate with"
            )
        positions = np.array([pose.position for pose in seen])
        mean = positions.mean(axis=0)
        moved.append(np.square(positions - mean).sum(axis=1).mean())
        turns = quat_average([pose.orientation for pose in seen])
        means[role] = Pose6D(mean, turns, seen[-1].timestamp)
    operator = np.array([means[role].position for role in tools])
    robot = np.array([pose.position for pose in tools.values()])
    heading, scale, left = _fit(operator, robot)
    return ArmCalibration(
        anchors={role: (means[role], tools[role]) for role in tools},
        heading=heading,
        scale=scale,
        residual=float(np.sqrt(np.square(left).sum(axis=1).mean())),
        offsets={role: tuple(row) for role, row in zip(tools, left.tolist(), strict=True)},
        unrest=math.sqrt(float(np.mean(moved))),
    )


def _fit(operator: Array, robot: Array) -> tuple[float, float, Array]:
    """Return heading, scale and rest of the turn, scale and shift from (N, 3) to (N, 3) points."""
    a, b = operator - operator.mean(axis=0), robot - robot.mean(axis=0)
    size = float(np.square(a).sum())
    if len(a) < 2 or size < SMALLEST_SPAN**2 or float(np.square(b).sum()) < SMALLEST_SPAN**2:
        raise InvalidPoseError("the trackers lie too close together to calibrate with")
    # The turn about z that brings the level parts together best.
    cosine = float((a[:, 0] * b[:, 0] + a[:, 1] * b[:, 1]).sum())
    sine = float((a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum())
    turn = math.atan2(sine, cosine)
    c, s = math.cos(turn), math.sin(turn)
    turned = a @ np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    scale = float((turned * b).sum()) / size
    return -turn, scale, b - scale * turned
