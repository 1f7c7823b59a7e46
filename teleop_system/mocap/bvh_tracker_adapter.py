# SPDX-License-Identifier: Apache-2.0
"""A tracker on a person who was recorded."""

import time
from typing import Any

from typing_extensions import override

from teleop_system.exceptions import UnknownNameError
from teleop_system.interfaces import IMasterTracker, Pose6D, TrackerRole
from teleop_system.mocap.mapped_motion import MappedMotion
from teleop_system.mocap.playback import Clock, Playback
from teleop_system.mocap.replay_device import ReplayDevice


class BVHTrackerAdapter(ReplayDevice, IMasterTracker):
    """Poses of one tracker of a recorded motion, at any speed, once or over and over.

    It waits in the first pose until `play()`. Trackers and gloves with the same clock that are
    played at the same moment are worn by one person.

    Args:
        role: Where it is worn, as a role or its name.
        motion: The motion, where it is loaded already; else `options` say which.
        playback: Where in the motion we are, where others share it.
        clock: Monotonic time in [s].
        options: What `MocapConfig` takes, `file` above all.

    Raises:
        UnknownNameError: There is no such role.
        ConfigError: An option is unknown or wrong.
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
        """Return the pose at a time [s] of the recording, stamped with it."""
        assert self._motion is not None, "initialize() comes first"
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
