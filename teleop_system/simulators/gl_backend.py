# SPDX-License-Identifier: Apache-2.0
"""Finds an OpenGL back end for rendering without a screen.

MuJoCo chooses the back end at import from `MUJOCO_GL`, and a wrong choice fails late. This module
chooses at the first image: the user's `MUJOCO_GL` if set, else EGL, else OSMesa, else a hidden
window if there is a display.
"""

import ctypes
import importlib
import logging
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

from teleop_system.exceptions import RenderingUnavailableError

logger = logging.getLogger(__name__)

SWITCHED_OFF = ("disable", "disabled", "off", "false", "0")
UNSPECIFIC = ("", "enable", "enabled", "on", "true", "1")
APT_COMMAND = "sudo apt install libegl1 libgl1-mesa-dri libosmesa6"

_EGL_PLATFORM_DEVICE = 0x313F
_MOST_EGL_DEVICES = 16


def candidates(environ: Mapping[str, str], platform: str = sys.platform) -> tuple[str, ...]:
    """Return the back ends to try, best first; empty if the user has disabled rendering.

    Raises:
        RenderingUnavailableError: `MUJOCO_GL` is not a back end of this platform.
    """
    if platform == "darwin":
        known: tuple[str, ...] = ("cgl", "glfw")
    elif platform.startswith("linux"):
        known = ("egl", "osmesa", "glfw")
    else:
        known = ("glfw",)
    requested = environ.get("MUJOCO_GL", "").strip().lower()
    requested = {"glx": "glfw", "wgl": "glfw"}.get(requested, requested)
    if requested in SWITCHED_OFF:
        return ()
    if requested not in UNSPECIFIC:
        if requested not in known:
            raise RenderingUnavailableError(
                f"MUJOCO_GL={requested!r} is unknown; valid choices: {', '.join(known)}"
            )
        return (requested,)
    has_screen = not platform.startswith("linux") or bool(environ.get("DISPLAY"))
    return tuple(name for name in known if name != "glfw" or has_screen)


def open_context(width: int, height: int) -> Any:
    """Return a new OpenGL context of MuJoCo, for the calling thread only.

    Raises:
        RenderingUnavailableError: No back end works; the message says what to install.
    """
    os.environ.setdefault("EGL_LOG_LEVEL", "fatal")  # Mesa warns about missing graphics cards.
    names = candidates(os.environ)
    if not names:
        raise RenderingUnavailableError("rendering is disabled by MUJOCO_GL")
    failures = []
    for name in names:
        try:
            # PyOpenGL fixes its platform at import, so probe a back end before importing its
            # module.
            _PROBES.get(name, _no_probe)()
            if name in _PROBES and "OpenGL" not in sys.modules:
                os.environ["PYOPENGL_PLATFORM"] = name  # A parent process may have set another.
            context = importlib.import_module(f"mujoco.{name}").GLContext(width, height)
            context.make_current()
        except _failures() as error:
            failures.append(f"{name}: {' '.join(str(error).split())}")
        else:
            logger.debug("rendering with %s", name)
            return context
    raise RenderingUnavailableError(
        f"no OpenGL back end works ({'; '.join(failures)}); on Debian or Ubuntu, "
        f"run: {APT_COMMAND}"
    )


def _failures() -> tuple[type[Exception], ...]:
    """Return the exceptions of a failing back end, including PyOpenGL's if it is loaded."""
    expected: tuple[type[Exception], ...] = (ImportError, AttributeError, OSError, RuntimeError)
    pyopengl = sys.modules.get("OpenGL.error")
    return (*expected, pyopengl.Error) if pyopengl is not None else expected


def _probe_egl() -> None:
    """Raise OSError if EGL is missing or has no device."""
    egl = ctypes.CDLL("libEGL.so.1")
    lookup = egl.eglGetProcAddress
    lookup.restype = ctypes.c_void_p
    pointer, number = ctypes.c_void_p, ctypes.c_int
    query_address = lookup(b"eglQueryDevicesEXT")
    display_address = lookup(b"eglGetPlatformDisplayEXT")
    if not query_address or not display_address:
        raise OSError("libEGL.so.1 cannot render without a screen")
    query = ctypes.CFUNCTYPE(number, number, pointer, pointer)(query_address)
    display_of = ctypes.CFUNCTYPE(pointer, number, pointer, pointer)(display_address)
    initialize = egl.eglInitialize
    initialize.argtypes = [pointer, pointer, pointer]
    devices, count = (pointer * _MOST_EGL_DEVICES)(), number()
    query(_MOST_EGL_DEVICES, devices, ctypes.byref(count))
    for device in devices[: count.value]:
        display = display_of(_EGL_PLATFORM_DEVICE, device, None)
        if display and initialize(display, None, None):
            return
    raise OSError("libEGL.so.1 finds no device")


def _probe_osmesa() -> None:
    ctypes.CDLL("libOSMesa.so.8")


def _no_probe() -> None:
    """Accept without a probe; creating the context is the test."""


_PROBES: dict[str, Callable[[], None]] = {"egl": _probe_egl, "osmesa": _probe_osmesa}
