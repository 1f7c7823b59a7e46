# SPDX-License-Identifier: Apache-2.0
"""The commands of all joints as motions: positions, their estimated velocity, and targets."""

import numpy as np
from numpy.typing import NDArray

from teleop_system.safety.motion import command_kernels as kernels
from teleop_system.safety.motion.joint_motion import MotionLimits
from teleop_system.safety.parts import RobotParts

Array = NDArray[np.float64]

LONGEST_AHEAD = 0.05
"""A moving command is taken to continue for its last interval, but never longer than this [s]."""
ROUNDING = 1e-7
"""Targets keep this distance [rad] from position limits; motions end to within a tenth of it."""


class CommandBuffer:
    """The commanded motion of all joints.

    Args:
        parts: The joints with their limits.
        limits: The present limits; the parts' ramps lower the speeds.
        smoothing: Time constant of the estimated motion in [s].
        least_interval: Commands count as no closer together than this in [s].

    Attributes:
        requested: Positions last requested [rad], shape (N,); all arrays change in place.
        is_new: Whether each part has new requested positions, shape (P,).
        holds: Whether each part brakes and holds, shape (P,).
        interval: Time between the last two requests of each part in [s]; 0 for a start from rest.
        ahead: For how long each part's command is taken to continue before it brakes [s].
        speed_scale: Share of the largest speeds that each part may use.
        joints: The joints and their commands, as `command_kernels.JOINT` describes them.
        position: Requested positions within the position limits [rad], shape (N,).
        velocity: Estimated velocities of the commands in [rad/s].
        excess: How far outside the position limits the request was [rad].
        target: Where each joint should come to rest [rad], within its limits.
        unlimited: Where the commands themselves would come to rest [rad].
        is_held: Whether each joint brakes and holds.
    """

    def __init__(
        self, parts: RobotParts, limits: MotionLimits, smoothing: float, least_interval: float
    ) -> None:
        self._parts = records = np.zeros(len(parts), dtype=kernels.PART)
        self.is_new, self.holds = records["is_new"], records["holds"]
        self.interval, self.ahead = records["interval"], records["ahead"]
        self.speed_scale = records["speed_scale"]
        self.joints = joints = _joint_records(parts)
        self.position, self.velocity = joints["commanded"], joints["command_velocity"]
        self.excess, self.unlimited = joints["excess"], joints["unlimited_target"]
        self.requested, self.target = np.zeros((2, parts.size))
        self.is_held = np.ones(parts.size, dtype=bool)
        self._limits = limits
        self._smoothing = smoothing
        self._least_interval = least_interval
        self._lower, self._upper = parts.lower, parts.upper

    def start(self, positions: Array) -> None:
        """Take positions [rad], shape (N,), as commanded at rest; every joint holds."""
        self.requested[:] = positions
        self.is_new[:] = self.holds[:] = True
        self.interval[:] = self.ahead[:] = 0.0
        self.follow()

    def within_limits(self, columns: slice) -> Array:
        """Return the requested positions of a part, within its position limits [rad]."""
        return np.clip(self.requested[columns], self._lower[columns], self._upper[columns])

    def follow(self) -> None:
        """Bring the motion, its targets and the speed limits up to date with the parts."""
        kernels.follow_commands(
            self.requested,
            self._parts,
            self.joints,
            self._smoothing,
            self._least_interval,
            self.target,
            self._limits.speed,
            self.is_held,
        )


def _joint_records(parts: RobotParts) -> NDArray[np.void]:
    joints = np.zeros(parts.size, dtype=kernels.JOINT)
    room = np.minimum(ROUNDING, 0.5 * (parts.upper - parts.lower))
    for index, part in enumerate(parts.values()):
        joints["part"][part.columns] = index
    joints["lower"], joints["upper"] = parts.lower, parts.upper
    joints["lower_target"], joints["upper_target"] = parts.lower + room, parts.upper - room
    joints["speed"], joints["acceleration"] = parts.velocity, parts.acceleration
    joints["jerk"] = parts.jerk
    return joints
