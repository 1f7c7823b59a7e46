# SPDX-License-Identifier: Apache-2.0
"""The one import of MuJoCo, so that the package can be imported where it is not installed."""

import logging
import os
from typing import Any

# MuJoCo refuses to be imported where this names no OpenGL back end it knows. Which one draws is
# chosen when the first picture is asked for, and a wrong name is told then, in `gl_backend`.
_wish = os.environ.pop("MUJOCO_GL", None)
try:
    import mujoco as _installed
except ImportError:
    _installed = None
finally:
    if _wish is not None:
        os.environ["MUJOCO_GL"] = _wish

mujoco: Any = _installed
"""MuJoCo, or None where it is not installed; `initialize()` of the simulator says so."""

logger = logging.getLogger(__name__)


def _log_warning(message: str) -> None:
    logger.warning("MuJoCo: %s", " ".join(message.split()))


# Left alone, MuJoCo appends its warnings to a file in the working directory.
if mujoco is not None and mujoco.get_mju_user_warning() is None:
    mujoco.set_mju_user_warning(_log_warning)
