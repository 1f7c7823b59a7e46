# SPDX-License-Identifier: Apache-2.0
"""Optional import of MuJoCo: the package can be imported without it."""

import logging
import os
from typing import Any

# The import of MuJoCo fails if MUJOCO_GL names an unknown back end. `gl_backend` chooses the back
# end at the first rendering and reports a wrong name then.
_gl = os.environ.pop("MUJOCO_GL", None)
try:
    import mujoco as _installed
except ImportError:
    _installed = None
finally:
    if _gl is not None:
        os.environ["MUJOCO_GL"] = _gl

mujoco: Any = _installed
"""MuJoCo, or None if it is not installed; `initialize()` of the simulator reports that."""

logger = logging.getLogger(__name__)


def _log_warning(message: str) -> None:
    logger.warning("MuJoCo: %s", " ".join(message.split()))


# By default MuJoCo appends its warnings to a file in the working directory.
if mujoco is not None and mujoco.get_mju_user_warning() is None:
    mujoco.set_mju_user_warning(_log_warning)
