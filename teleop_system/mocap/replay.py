# SPDX-License-Identifier: Apache-2.0
"""A whole recorded person: all trackers and gloves of one motion, started and stopped together."""

from teleop_system.interfaces import TrackerRole
from teleop_system.interfaces.master_device import HAND_SIDES
from teleop_system.mocap.bvh_hand_adapter import BVHHandAdapter
from teleop_system.mocap.bvh_motion import load_motion, make_playback
from teleop_system.mocap.bvh_tracker_adapter import BVHTrackerAdapter
from teleop_system.mocap.config import MocapConfig
from teleop_system.mocap.mapped_motion import MappedMotion
from teleop_system.mocap.playback import Clock, Playback, PlaybackState


class Replay:
    """Plays a motion on all its devices at once.

    It waits in the first pose. Started after its end, it comes back to that pose without a jump
    and plays again, from where the person then stands.

    Args:
        config: Which motion, and how.
        clock: Monotonic time in [s].

    Attributes:
        motion: The motion.
        playback: Where in it we are.
        trackers: By role.
        gloves: By side.

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
        """What it does now."""
        return self.playback.state

    def start(self) -> None:
        """Begin, go on after a stop, or begin again after the end."""
        if self.state is PlaybackState.OVER:
            lead = max(self._config.approach, self._config.blend)
            self.motion = self.motion.again(self.playback.time(), lead)
            self.playback = make_playback(self.motion, self._config, self._clock)
            for device in (*self.trackers.values(), *self.gloves.values()):
                device.use(self.motion, self.playback)
        self.playback.play()

    def stop(self) -> None:
        """Stay where it is."""
        self.playback.pause()
