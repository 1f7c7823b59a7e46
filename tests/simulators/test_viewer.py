# SPDX-License-Identifier: Apache-2.0
"""The window: opened on a virtual display, and refused without a display."""

import shutil
import sys
from pathlib import Path

import pytest

from teleop_system.exceptions import RenderingUnavailableError
from teleop_system.simulators.viewer import interactive_viewer
from tests.simulators.conftest import Start, run_script
from tests.simulators.small_models import ARM

SCRIPT = """
from teleop_system.exceptions import RenderingUnavailableError
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
from teleop_system.simulators.viewer import interactive_viewer
simulator = MuJoCoSimulator()
assert simulator.initialize({{"mjcf_path": {path!r}}})
try:
    with interactive_viewer(simulator) as viewer:
        for _ in range(10):
            with viewer.lock():
                simulator.step(0.01)
            viewer.sync()
        print("shown" if viewer.is_running() else "gone")
except RenderingUnavailableError as error:
    print(error)
simulator.shutdown()
"""


def test_a_window_opens_follows_and_closes_without_output(rby1_path: Path) -> None:
    wrapper = shutil.which("xvfb-run")
    if wrapper is None:
        pytest.skip("xvfb-run is not installed")
    result = run_script(SCRIPT.format(path=str(rby1_path)), wrapper=[wrapper, "-a"])
    assert (result.returncode, result.stdout) == (0, "shown\n"), result.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs X11")
def test_a_display_that_does_not_answer_does_not_block(rby1_path: Path) -> None:
    result = run_script(SCRIPT.format(path=str(rby1_path)), DISPLAY=":4321")
    assert "no window can be opened" in result.stdout, result.stderr


def test_without_a_display_no_window_is_opened(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    with (
        pytest.raises(RenderingUnavailableError, match="display"),
        interactive_viewer(start(ARM)),
    ):
        pass
