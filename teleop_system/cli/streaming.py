# SPDX-License-Identifier: Apache-2.0
"""The scripts `demo_rgbd_streaming.py` and `demo_pointcloud_viewer.py`."""

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from teleop_system.cli.errors import EXIT_INTERRUPTED, EXIT_MISTAKE, is_debugging, print_error
from teleop_system.cli.output import console
from teleop_system.exceptions import TeleopError
from teleop_system.settings import load_settings
from teleop_system.utils.logger import setup_logging

if TYPE_CHECKING:
    from teleop_system.tools.streaming import Deadline, RosOptions

SERVERS = {"server": "simulated", "ros2-server": "ros2"}
VIEWERS = {"client": "stream", "ros2-viewer": "ros2"}
SOURCES = ("simulated", "stream", "ros2", "realsense")


def stream_rgbd(arguments: Sequence[str] | None = None) -> int:
    """Serve or view a stream as a script; return its exit code."""
    parser = _parser(
        "Stream the robot's camera. server: serve the camera of a new simulated robot; "
        "ros2-server: serve the camera topics; client: view a stream; ros2-viewer: "
        "view the topics."
    )
    parser.add_argument("--mode", choices=(*SERVERS, *VIEWERS), default="server")
    parser.add_argument(
        "--hmd",
        action="store_true",
        help="client: send /master/hmd/orientation to the robot's head",
    )
    chosen = parser.parse_args(arguments)
    if chosen.mode in SERVERS:
        return _run(chosen, _serve)
    chosen.source = VIEWERS[chosen.mode]
    return _run(chosen, _view)


def view_pointcloud(arguments: Sequence[str] | None = None) -> int:
    """Show the point cloud of a camera as a script; return its exit code."""
    parser = _parser("Show the point cloud of a camera.")
    parser.add_argument("--source", choices=SOURCES, default="simulated")
    chosen = parser.parse_args(arguments)
    chosen.hmd = False
    return _run(chosen, _view)


def _parser(description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="configuration changes")
    parser.add_argument("--duration", type=float, help="duration [s]")
    parser.add_argument(
        "--no-gui", action="store_true", help="write files instead of opening a window"
    )
    parser.add_argument("--output", type=Path, default=Path("outputs"), help="folder of the files")
    parser.add_argument(
        "--stride", type=int, default=2, help="draw only every n-th row and column"
    )
    parser.add_argument("--far", type=float, default=10.0, help="largest shown depth [m]")
    parser.add_argument("--topic-prefix", default="", help="prefix of the robot's topics")
    parser.add_argument("--use-sim-time", action="store_true", help="use simulated time")
    return parser


def _run(chosen: argparse.Namespace, work: Any) -> int:
    setup_logging()
    from teleop_system.tools.streaming import Deadline, RosOptions

    deadline = Deadline(chosen.duration)

    def end(*_: object) -> None:
        deadline.is_stopped = True

    previous = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        ros = RosOptions(chosen.topic_prefix, chosen.use_sim_time)
        work(chosen, deadline, ros)
    except TeleopError as error:
        if is_debugging():
            raise
        print_error(error)
        return EXIT_MISTAKE
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
    return EXIT_INTERRUPTED if deadline.is_stopped else 0


def _serve(chosen: argparse.Namespace, deadline: "Deadline", ros: "RosOptions") -> None:
    from teleop_system.tools.streaming import serve

    settings = load_settings(chosen.overrides)
    serve(SERVERS[chosen.mode], settings, deadline=deadline, report=_ReportPrinter(), ros=ros)


def _view(chosen: argparse.Namespace, deadline: "Deadline", ros: "RosOptions") -> None:
    import contextlib

    from teleop_system.modules.camera.pointcloud_generator import PointCloudConfig
    from teleop_system.modules.camera.pointcloud_viewer import has_screen
    from teleop_system.tools.head_source import hmd_to_stream
    from teleop_system.tools.streaming import open_camera, view

    settings = load_settings(chosen.overrides)
    window = has_screen() and not chosen.no_gui
    if not window and deadline.duration is None:
        deadline.duration = 5.0
    points = PointCloudConfig(stride=chosen.stride, far=chosen.far)
    with contextlib.ExitStack() as stack:
        camera = stack.enter_context(open_camera(chosen.source, settings, ros))
        if chosen.hmd:
            stack.enter_context(hmd_to_stream(camera, ros))
        files = view(
            camera,
            points,
            deadline=deadline,
            report=_ReportPrinter(),
            window=window,
            folder=chosen.output,
        )
    for path in files or ():
        console().print(f"written: {path}", highlight=False)


class _ReportPrinter:
    """Prints reports: in one line on a terminal, else only changes."""

    def __init__(self) -> None:
        self._last = ""

    def __call__(self, text: str) -> None:
        if text == self._last:
            return
        is_first, self._last = not self._last, text
        if sys.stdout.isatty() and not is_first:
            console().print(text, end="\r", highlight=False, soft_wrap=True)
        else:
            console().print(text, highlight=False, soft_wrap=True)
