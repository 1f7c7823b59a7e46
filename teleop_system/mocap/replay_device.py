# SPDX-License-Identifier: Apache-2.0
"""Base of the trackers and gloves of a recorded person."""

import logging
from typing import Any

from typing_extensions import override

from teleop_system.exceptions import TeleopError
from teleop_system.interfaces import IReplayDevice
from teleop_system.mocap.bvh_motion import load_motion, make_playback, mocap_config
from teleop_system.mocap.config import MocapConfig
from teleop_system.mocap.mapped_motion import MappedMotion
from teleop_system.mocap.playback import Clock, Playback

logger = logging.getLogger(__name__)


class ReplayDevice(IReplayDevice):
    """A device whose samples come from a recorded motion.

    Args:
        subject: Name of the device, for messages.
        motion: The motion if it is already loaded; else `options` name it.
        playback: The playback if other devices share it.
        clock: Monotonic time in [s].
        options: Fields of `MocapConfig`, such as `file`.

    Raises:
        ConfigError: An option is unknown or invalid.
    """

    def __init__(
        self,
        subject: str,
        motion: MappedMotion | None,
        playback: Playback | None,
        clock: Clock,
        options: dict[str, Any],
    ) -> None:
        self._subject = subject
        self._config = mocap_config(options) if motion is None else MocapConfig()
        self._motion = motion
        self._playback = playback
        self._clock = clock
        self._is_connected = False

    @property
    def playback(self) -> Playback | None:
        """The playback, to pause, seek and change speed; None before `initialize()`."""
        return self._playback

    @property
    def motion(self) -> MappedMotion | None:
        """The motion; None before `initialize()` unless it was given."""
        return self._motion

    def use(self, motion: MappedMotion, playback: Playback) -> None:
        """Continue with another motion and playback."""
        self._motion, self._playback = motion, playback

    @override
    def play(self) -> None:
        if self._playback is not None:
            self._playback.play()

    @property
    @override
    def is_over(self) -> bool:
        return self._playback is not None and self._playback.is_over

    def initialize(self) -> bool:
        """Load the motion; on failure log the reason and return False."""
        try:
            if self._motion is None:
                self._motion = load_motion(self._config)
            if self._playback is None:
                self._playback = make_playback(self._motion, self._config, self._clock)
        except TeleopError as error:
            logger.error("%s: %s", self._subject, error)
            return False
        self._is_connected = True
        return True

    def is_connected(self) -> bool:
        """Return whether the motion is loaded."""
        return self._is_connected

    def shutdown(self) -> None:
        """Return to the first pose; safe to call twice and before `initialize()`."""
        self._is_connected = False
        if self._playback is not None:
            self._playback.rewind()
