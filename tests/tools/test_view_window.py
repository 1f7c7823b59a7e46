# SPDX-License-Identifier: Apache-2.0
"""A real window on a virtual display."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.robots.models import SIX_AXIS, write_robot
from tests.waiting import run_to_end

SHOW = """
import contextlib, sys
from teleop_system.robots import load_robot
from teleop_system.tools import robot_view

opened = robot_view.interactive_viewer

class FiveFrames:
    def __init__(self, viewer):
        self.viewer, self.shown, self.lock = viewer, 0, viewer.lock
    def is_running(self):
        return self.viewer.is_running() and self.shown < 5
    def sync(self):
        self.viewer.sync()
        self.shown += 1

@contextlib.contextmanager
def limited(simulator):
    with opened(simulator) as viewer:
        frames = FiveFrames(viewer)
        yield frames
        sys.stdout.write(f"shown {frames.shown}")

robot_view.interactive_viewer = limited
robot_view.show_robot(load_robot(sys.argv[1]), robot_view.ViewOptions())
"""


@pytest.fixture
def screen() -> Iterator[str]:
    """The name of a virtual display."""
    if shutil.which("Xvfb") is None:
        pytest.skip("Xvfb is not installed")
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", "640x480x24", "-nolisten", "tcp"]
    server = subprocess.Popen(command, pass_fds=[write], stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as numbers:
        number = numbers.readline().strip()
    try:
        assert number, "Xvfb did not start"
        yield f":{number}"
    finally:
        server.terminate()
        server.wait()


def test_a_window_shows_the_robot_until_it_is_closed(screen: str, tmp_path: Path) -> None:
    folder = write_robot(tmp_path / "six_axis", arm_xml=SIX_AXIS)
    done = run_to_end(
        [sys.executable, "-c", SHOW, str(folder)], env={**os.environ, "DISPLAY": screen}
    )
    assert "shown 5" in done.stdout, done.stderr
    assert done.returncode == 0, done.stderr
