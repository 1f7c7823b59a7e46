# SPDX-License-Identifier: Apache-2.0
"""Keeps a latched emergency stop in a file, for the process that follows one that crashed.

The file is removed when the stop is reset, and when its owner ends normally.
"""

import logging
from pathlib import Path

logger = logging.getLogger(__name__)


class EstopMemory:
    """Whether the emergency stop was latched when the last process ended.

    Args:
        file: The file that exists while a stop is latched.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    @property
    def is_latched(self) -> bool:
        """Whether a stop was latched and not reset since."""
        return self._file.exists()

    def keep(self, latched: bool) -> None:
        """Remember whether a stop is latched; a file that cannot be written is only logged."""
        try:
            if latched:
                self._file.parent.mkdir(mode=0o700, exist_ok=True)
                self._file.touch()
            else:
                self._file.unlink(missing_ok=True)
        except OSError as error:
            logger.warning("an emergency stop would not outlive this process: %s", error)
