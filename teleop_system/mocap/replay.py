# SPDX-License-Identifier: Apache-2.0
"""A recorded person: all trackers and gloves of one motion, started and stopped together."""

from teleop_system.interfaces import TrackerRole
from teleop_system.interfaces.master_device import HAND_SIDES
from teleop_system.mocap.bvh_hand_adapter import BVHHandAdapter
from teleop_system.mocap.bvh_motion import load_motion, make_playback
from teleop_system.mocap.bvh_tracker_adapter import BVHTrackerAdapter
from teleop_system.mocap.config import MocapConfig
from teleop_system.mocap.mapped_motion import MappedMotion
from teleop_system.mocap.playback import Clock, Playback, PlaybackState


class Replay:
    """Plays a motion on all its devices.

    It waits in the first pose. A start after the end returns to that pose without a jump and
    plays the motion again from the person's present position.

    Args:
        config: The motion and how to play it.
        clock: Monotonic time in [s].

    Attributes:
        motion: The motion.
        playback: Its playback.
        trackers: Trackers by role.
        gloves: Gloves by side.

    Raises:
        TeleopError: The motion cannot be loaded.
    """

    def __init__(self, config: MocapConfig, clock: Clock) -> None:
        self._config = config
        self._clock = clock
        self.motion: MappedMotion = load_motion(config)
        self.playback: Playback = make_playback(self.motion, config, clock)
        motion, playback = self.motion, self.playback
        self.trackers = {
            role: BVHTrackerAdapter(role, motion=motion, playback=playback, clock=clock)
            for role in TrackerRole
        }
        self.gloves = {
            side: BVHHandAdapter(side, motion=motion, playback=playback, clock=clock)
            for side in HAND_SIDES
        }
        for device in (*self.trackers.values(), *self.gloves.values()):
            device.initialize()

    @property
    def state(self) -> PlaybackState:
        """State of the playback."""
        return self.playback.state

    def start(self) -> None:
        """Start, continue after a stop, or restart after the end."""
        if self.state is PlaybackState.OVER:
            lead = max(self._config.approach, self._config.blend)
            self.motion = self.motion.restarted(self.playback.time(), lead)
            self.playback = make_playback(self.motion, self._config, self._clock)
            for device in (*self.trackers.values(), *self.gloves.values()):
                device.use(self.motion, self.playback)
        self.playback.play()

    def stop(self) -> None:
        """Hold the present pose."""
        self.playback.pause()
