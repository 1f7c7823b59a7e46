# SPDX-License-Identifier: Apache-2.0
"""A window that shows a running simulation."""

import contextlib
import importlib
import os
import sys
import threading
import warnings
from collections.abc import Iterator
from typing import Any

from teleop_system.exceptions import RenderingUnavailableError
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator

CLOSING_TIME = 10.0
"""Longest time for a window to close in [s]."""


def has_display() -> bool:
    """Return whether a window can be opened."""
    if not sys.platform.startswith("linux"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


@contextlib.contextmanager
def interactive_viewer(simulator: MuJoCoSimulator) -> Iterator[Any]:
    """Show a simulation while the block runs; the owner steps it and calls `sync()`.

    Yields:
        MuJoCo's passive viewer: `is_running()`, `sync()`, and `lock()` around steps.

    Raises:
        RenderingUnavailableError: There is no display, or the window cannot be opened.
    """
    launcher = _load_launcher()
    before = set(threading.enumerate())
    started: set[threading.Thread] = set()
    try:
        # Without its panels: their sliders write to actuators, past the safety manager.
        with launcher.launch_passive(
            simulator.model, simulator.data, show_left_ui=False, show_right_ui=False
        ) as viewer:
            started = set(threading.enumerate()) - before
            yield viewer
    finally:
        # Ending the process while the window's thread still renders causes a segmentation fault.
        for thread in started:
            thread.join(CLOSING_TIME)


def _load_launcher() -> Any:
    """Return MuJoCo's viewer after a check that a window can be opened.

    Without the check, the viewer would wait forever for a window that never opens.
    """
    if not has_display():
        raise RenderingUnavailableError(
            "no display for a window; set DISPLAY, or use render() for images"
        )
    try:
        launcher = importlib.import_module("mujoco.viewer")
        glfw = importlib.import_module("glfw")
    except (ImportError, RuntimeError) as error:
        raise RenderingUnavailableError(f"MuJoCo's viewer cannot be opened: {error}") from error
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        usable = glfw.init()
    if not usable:
        reason = "; ".join(str(warning.message) for warning in caught) or "GLFW does not start"
        raise RenderingUnavailableError(f"no window can be opened: {reason}")
    return launcher
