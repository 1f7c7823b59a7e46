# SPDX-License-Identifier: Apache-2.0
"""The one import of MuJoCo, so that this package can be imported where it is not installed."""

import logging
from typing import Any

try:
    import mujoco as _installed
except ImportError:
    _installed = None

mujoco: Any = _installed
"""MuJoCo, or None where it is not installed; `initialize()` of the simulator says so."""

logger = logging.getLogger(__name__)


def _log_warning(message: str) -> None:
    logger.warning("MuJoCo: %s", " ".join(message.split()))


# Left alone, MuJoCo appends its warnings to a file in the working directory.
if mujoco is not None and mujoco.get_mju_user_warning() is None:
    mujoco.set_mju_user_warning(_log_warning)
