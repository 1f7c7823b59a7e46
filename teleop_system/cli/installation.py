# SPDX-License-Identifier: Apache-2.0
"""What is installed on this machine; most packages are not imported."""

import importlib.util
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata

from teleop_system import __version__

# Extra, purpose, and packages as (module, distribution).
EXTRAS: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "sim": (
        "simulation",
        (("mujoco", "mujoco"), ("PIL", "pillow"), ("imageio_ffmpeg", "imageio-ffmpeg")),
    ),
    "ik": (
        "inverse kinematics",
        (("pinocchio", "pin"), ("pink", "pin-pink"), ("qpsolvers", "qpsolvers")),
    ),
    "ros": ("ROS 2", (("rclpy", "ros-rclpy"), ("sensor_msgs", "ros-sensor-msgs"))),
    "gui": ("control panel", (("dearpygui", "dearpygui"),)),
    "mocap": ("recorded motion", (("bvhio", "bvhio"),)),
    "streaming": ("camera streams", (("lz4", "lz4"), ("simplejpeg", "simplejpeg"))),
    "viz": ("point clouds", (("open3d", "open3d"),)),
    "vive": ("Vive trackers", (("openvr", "openvr"),)),
    "rby1": ("the real RB-Y1", (("rby1_sdk", "rby1-sdk"),)),
}
QP_BACKENDS = (("daqp", "daqp"), ("proxsuite", "proxsuite"), ("osqp", "osqp"))
ROS_APT_DISTRIBUTIONS = ("kilted", "jazzy")

_GL_PROBE = (
    "from teleop_system.simulators import gl_backend;"
    "context = gl_backend.open_context(64, 64);"
    "print(type(context).__module__.rpartition('.')[2]);"
    "context.free()"
)
_GL_TIMEOUT = 30.0
"""Time in [s] after which an OpenGL driver counts as broken."""


@dataclass(frozen=True, slots=True)
class Component:
    """One component that the system can use.

    Attributes:
        name: Name.
        present: Whether it is installed.
        found: Version, or what is missing.
        fix: Command that installs it; empty if it is installed.
        required: Whether the package needs it.
    """

    name: str
    present: bool
    found: str
    fix: str = ""
    required: bool = False


def examine() -> Iterator[Component]:
    """Yield every component; the slow ones last."""
    yield _python()
    for extra, (purpose, modules) in EXTRAS.items():
        yield _ros(modules) if extra == "ros" else _extra(extra, purpose, modules)
    yield _qp_backends()
    yield _display()
    yield _opengl()


def _python() -> Component:
    found = f"teleop_system {__version__}, Python {platform.python_version()}"
    present = sys.version_info >= (3, 10)
    return Component("package", present, found, "" if present else "install Python 3.10+", True)


def _extra(extra: str, purpose: str, modules: tuple[tuple[str, str], ...]) -> Component:
    missing = [distribution for module, distribution in modules if not _has(module)]
    name = f"{purpose} [{extra}]"
    if missing:
        fix = f"pip install 'teleop_system[{extra}]'"
        return Component(name, False, f"missing: {', '.join(missing)}", fix)
    return Component(name, True, ", ".join(_versions(modules)))


def _ros(modules: tuple[tuple[str, str], ...]) -> Component:
    distribution = os.environ.get("ROS_DISTRO", "")
    if all(_has(module) for module, _ in modules):
        source = f"apt, {distribution}" if _version("ros-rclpy") is None else "pip wheels"
        return Component("ROS 2 [ros]", True, f"{', '.join(_versions(modules))} ({source})")
    for name in ROS_APT_DISTRIBUTIONS:
        if not distribution and os.path.isfile(f"/opt/ros/{name}/setup.bash"):
            fix = f"source /opt/ros/{name}/setup.bash"
            return Component("ROS 2 [ros]", False, f"{name} is installed but not sourced", fix)
    return Component("ROS 2 [ros]", False, "missing: rclpy", "pip install 'teleop_system[ros]'")


def _qp_backends() -> Component:
    present = [pair for pair in QP_BACKENDS if _has(pair[0])]
    if not present:
        return Component("QP back ends", False, "none", "pip install 'teleop_system[ik]'")
    return Component("QP back ends", True, ", ".join(_versions(tuple(present))))


def _display() -> Component:
    if not sys.platform.startswith("linux"):
        return Component("screen", True, sys.platform)
    for variable in ("DISPLAY", "WAYLAND_DISPLAY"):
        if os.environ.get(variable):
            return Component("screen", True, f"{variable}={os.environ[variable]}")
    return Component("screen", False, "none; pictures replace windows")


def _opengl() -> Component:
    """Open an OpenGL context in another process, because a broken driver kills its process."""
    name = "OpenGL"
    apt = "sudo apt install libegl1 libgl1-mesa-dri libosmesa6"
    if not _has("mujoco"):
        return Component(
            name, False, "not tested without MuJoCo", "pip install 'teleop_system[sim]'"
        )
    try:
        done = subprocess.run(
            [sys.executable, "-c", _GL_PROBE],
            capture_output=True,
            text=True,
            timeout=_GL_TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Component(name, False, f"the driver did not answer in {_GL_TIMEOUT:.0f} s", apt)
    if done.returncode == 0:
        return Component(name, True, f"{done.stdout.strip()}, for cameras without a screen")
    lines = done.stderr.strip().splitlines() or ["the driver crashed"]
    reason = lines[-1].rpartition("Error: ")[2].partition("; on Debian")[0]
    return Component(name, False, f"no cameras: {reason}", apt)


def _has(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _versions(modules: tuple[tuple[str, str], ...]) -> list[str]:
    return [f"{name} {_version(name) or ''}".strip() for _, name in modules]
