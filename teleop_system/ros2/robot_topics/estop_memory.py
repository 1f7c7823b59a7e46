# SPDX-License-Identifier: Apache-2.0
"""Remembers a latched emergency stop for whoever takes the place of a process that died.

A node that is deactivated or cleaned up keeps the latch itself; one that crashes cannot, and is
started again by its launcher. A file in the machine's temporary folder, one for each domain and
prefix, tells the next process. It goes when the stop is reset, and when the node ends in order.
"""

import logging
import os
import tempfile
from pathlib import Path
from typing import Any

from teleop_system.utils.ros2_helpers import TopicNames

logger = logging.getLogger(__name__)


class EstopMemory:
    """Whether the robot of a node was stopped when its process ended.

    Args:
        node: The `TeleopNode` of the robot's side.
    """

    def __init__(self, node: Any) -> None:
        folder = Path(tempfile.gettempdir()) / f"teleop_system_{os.getuid()}"
        name = node.topic(TopicNames.ESTOP).strip("/").replace("/", "_")
        self._file = folder / f"{name}_{node.context.get_domain_id()}"

    @property
    def is_latched(self) -> bool:
        """Whether a stop was latched, and nobody has reset it since."""
        return self._file.exists()

    def keep(self, latched: bool) -> None:
        """Remember whether a stop is latched; where that cannot be, say so and go on."""
        try:
            if latched:
                self._file.parent.mkdir(mode=0o700, exist_ok=True)
                self._file.touch()
            else:
                self._file.unlink(missing_ok=True)
        except OSError as error:
            logger.warning("an emergency stop would not outlive this process: %s", error)
