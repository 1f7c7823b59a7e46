# SPDX-License-Identifier: Apache-2.0
"""A tracker of a recorded person."""

import time
from typing import Any

from typing_extensions import override

from teleop_system.exceptions import UnknownNameError
from teleop_system.interfaces import IMasterTracker, Pose6D, TrackerRole
from teleop_system.mocap.mapped_motion import MappedMotion
from teleop_system.mocap.playback import Clock, Playback
from teleop_system.mocap.replay_device import ReplayDevice


class BVHTrackerAdapter(ReplayDevice, IMasterTracker):
    """Poses of one tracker of a recorded motion, at any speed, once or in a loop.

    It stays in the first pose until `play()`. Trackers and gloves that share a clock and start
    together stay synchronous.

    Args:
        role: The tracker's role or its name.
        motion: The motion if it is already loaded; else `options` name it.
        playback: The playback if other devices share it.
        clock: Monotonic time in [s].
        options: Fields of `MocapConfig`, such as `file`.

    Raises:
        UnknownNameError: The role is unknown.
        ConfigError: An option is unknown or invalid.
    """

    def __init__(
        self,
        role: TrackerRole | str,
        *,
        motion: MappedMotion | None = None,
        playback: Playback | None = None,
        clock: Clock = time.monotonic,
        **options: Any,
    ) -> None:
        roles = {member.value: member for member in TrackerRole}
        if not isinstance(role, TrackerRole) and role not in roles:
            raise UnknownNameError("tracker role", role, roles)
        self._role = role if isinstance(role, TrackerRole) else roles[role]
        super().__init__(f"{self._role.value} tracker", motion, playback, clock, options)

    def pose_at(self, time: float) -> Pose6D:
        """Return the pose at a time [s] of the recording; the time is its stamp."""
        assert self._motion is not None, "call initialize() first"
        return self._motion.pose(self._role, time)

    @override
    def get_pose(self) -> Pose6D:
        now = self._clock()
        if not self._is_connected or self._motion is None or self._playback is None:
            return Pose6D.lost(now)
        return self._motion.pose(self._role, self._playback.time(), now)

    @override
    def get_role(self) -> TrackerRole:
        return self._role
