# SPDX-License-Identifier: Apache-2.0
"""Finds an OpenGL back end that draws without a screen.

MuJoCo chooses one when it is imported, from `MUJOCO_GL`, and fails late where that was wrong. We
choose when the first picture is asked for, whatever was imported before: the user's `MUJOCO_GL`
where it is set, else EGL, else OSMesa, else a hidden window where there is a display.
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
    """Return the back ends to try, best first; none where the user has switched them off.

    Raises:
        RenderingUnavailableError: `MUJOCO_GL` names no back end of this platform.
    """
    if platform == "darwin":
        known: tuple[str, ...] = ("cgl", "glfw")
    elif platform.startswith("linux"):
        known = ("egl", "osmesa", "glfw")
    else:
        known = ("glfw",)
    wish = environ.get("MUJOCO_GL", "").strip().lower()
    wish = {"glx": "glfw", "wgl": "glfw"}.get(wish, wish)
    if wish in SWITCHED_OFF:
        return ()
    if wish not in UNSPECIFIC:
        if wish not in known:
            raise RenderingUnavailableError(
                f"MUJOCO_GL={wish!r} names no OpenGL back end; valid choices: {', '.join(known)}"
            )
        return (wish,)
    has_screen = not platform.startswith("linux") or bool(environ.get("DISPLAY"))
    return tuple(name for name in known if name != "glfw" or has_screen)


def open_context(width: int, height: int) -> Any:
    """Return a new OpenGL context of MuJoCo's kind, for use in the calling thread only.

    Raises:
        RenderingUnavailableError: No back end works here; the message says what to install.
    """
    os.environ.setdefault("EGL_LOG_LEVEL", "fatal")  # Mesa complains of absent graphics cards.
    names = candidates(os.environ)
    if not names:
        raise RenderingUnavailableError("drawing is switched off by MUJOCO_GL")
    failures = []
    for name in names:
        try:
            # PyOpenGL settles on a platform when it is imported, so that a back end has to be
            # known to work before its module is.
            _PROBES.get(name, _assume)()
            if name in _PROBES and "OpenGL" not in sys.modules:
                os.environ["PYOPENGL_PLATFORM"] = name  # A parent process may have left another.
            context = importlib.import_module(f"mujoco.{name}").GLContext(width, height)
            context.make_current()
        except _failures() as error:
            failures.append(f"{name}: {' '.join(str(error).split())}")
        else:
            logger.debug("drawing with %s", name)
            return context
    raise RenderingUnavailableError(
        f"no OpenGL back end works here ({'; '.join(failures)}); on Debian or Ubuntu, "
        f"type: {APT_COMMAND}"
    )


def _failures() -> tuple[type[Exception], ...]:
    """Return all that a back end may fail with; PyOpenGL's own errors once it is loaded."""
    expected: tuple[type[Exception], ...] = (ImportError, AttributeError, OSError, RuntimeError)
    pyopengl = sys.modules.get("OpenGL.error")
    return (*expected, pyopengl.Error) if pyopengl is not None else expected


def _probe_egl() -> None:
    """Raise OSError where EGL is absent or has no device to draw on."""
    egl = ctypes.CDLL("libEGL.so.1")
    lookup = egl.eglGetProcAddress
    lookup.restype = ctypes.c_void_p
    pointer, number = ctypes.c_void_p, ctypes.c_int
    query_address = lookup(b"eglQueryDevicesEXT")
    display_address = lookup(b"eglGetPlatformDisplayEXT")
    if not query_address or not display_address:
        raise OSError("libEGL.so.1 cannot draw without a screen")
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
    raise OSError("libEGL.so.1 finds no device to draw on")


def _probe_osmesa() -> None:
    ctypes.CDLL("libOSMesa.so.8")


def _assume() -> None:
    """Leave the proof to the context itself."""


_PROBES: dict[str, Callable[[], None]] = {"egl": _probe_egl, "osmesa": _probe_osmesa}
