# SPDX-License-Identifier: Apache-2.0
"""Which OpenGL back end is used, and what happens without one."""

import logging
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from teleop_system.exceptions import RenderingUnavailableError
from teleop_system.simulators import gl_backend
from tests.simulators.conftest import Start, run_script
from tests.simulators.small_models import STILL_LIFE

SCRIPT = """
import sys
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
simulator = MuJoCoSimulator()
assert simulator.initialize({{"mjcf_path": {path!r}}})
picture = simulator.render()
print("picture" if picture is not None else "none")
{end}
"""


def require(backend: str) -> None:
    """Skip where a back end is not installed."""
    try:
        {"egl": gl_backend._probe_egl, "osmesa": gl_backend._probe_osmesa}[backend]()
    except OSError as error:
        pytest.skip(str(error))


def test_osmesa_is_used_where_egl_fails(rby1_path: Path) -> None:
    require("osmesa")
    break_egl = """
from teleop_system.simulators import gl_backend
def absent():
    raise OSError("absent")
gl_backend._PROBES["egl"] = absent
"""
    end = "assert 'mujoco.osmesa' in sys.modules"
    result = run_script(break_egl + SCRIPT.format(path=str(rby1_path), end=end), MUJOCO_GL="")
    assert (result.returncode, result.stdout, result.stderr) == (0, "picture\n", "")


def test_without_opengl_the_robot_runs_without_cameras_and_logs_it_once(
    rby1_path: Path,
) -> None:
    end = """
from teleop_system.exceptions import RenderingUnavailableError
simulator.step(0.1)
assert simulator.render() is None
try:
    simulator.get_camera_rgbd("head_camera")
except RenderingUnavailableError as error:
    assert "MUJOCO_GL" in str(error)
else:
    raise SystemExit("drew a picture")
"""
    script = "import logging; logging.basicConfig()\n" + SCRIPT.format(
        path=str(rby1_path), end=end
    )
    result = run_script(script, MUJOCO_GL="disable")
    assert (result.returncode, result.stdout) == (0, "none\n"), result.stderr
    assert result.stderr.count("cameras are not available") == 1


def test_missing_libraries_are_named_with_the_command_to_install_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def absent() -> None:
        raise OSError("cannot open shared object file")

    monkeypatch.delenv("MUJOCO_GL", raising=False)
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.setattr(gl_backend, "_PROBES", {"egl": absent, "osmesa": absent})
    with pytest.raises(RenderingUnavailableError) as caught:
        gl_backend.open_context(8, 8)
    message = str(caught.value)
    assert "egl: cannot open" in message
    assert "osmesa: cannot open" in message
    assert "sudo apt install libegl1 libgl1-mesa-dri libosmesa6" in message


@pytest.mark.parametrize(
    ("environ", "platform", "expected"),
    [
        ({}, "linux", ("egl", "osmesa")),
        ({"DISPLAY": ":0"}, "linux", ("egl", "osmesa", "glfw")),
        ({"MUJOCO_GL": "OSMesa"}, "linux", ("osmesa",)),
        ({"MUJOCO_GL": "glx"}, "linux", ("glfw",)),
        ({"MUJOCO_GL": "off"}, "linux", ()),
        ({"MUJOCO_GL": "on"}, "linux", ("egl", "osmesa")),
        ({}, "darwin", ("cgl", "glfw")),
        ({}, "win32", ("glfw",)),
    ],
)
def test_back_ends_are_tried_best_first(
    environ: dict[str, str], platform: str, expected: tuple[str, ...]
) -> None:
    assert gl_backend.candidates(environ, platform) == expected


def test_an_error_of_pyopengl_counts_as_a_failed_back_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class GLError(Exception):
        pass

    def fail() -> None:
        raise GLError("bad context")

    monkeypatch.setitem(sys.modules, "OpenGL.error", SimpleNamespace(Error=GLError))
    monkeypatch.setenv("MUJOCO_GL", "egl")
    monkeypatch.setattr(gl_backend, "_PROBES", {"egl": fail})
    with pytest.raises(RenderingUnavailableError, match="egl: bad context"):
        gl_backend.open_context(8, 8)


def test_an_unknown_back_end_is_reported_with_the_valid_ones() -> None:
    with pytest.raises(RenderingUnavailableError, match=r"'vulkan'.*egl, osmesa, glfw"):
        gl_backend.candidates({"MUJOCO_GL": "vulkan"}, "linux")


def test_an_unavailable_back_end_is_logged_once(
    start: Start, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MUJOCO_GL", "disable")
    simulator = start(STILL_LIFE)
    with caplog.at_level(logging.WARNING):
        assert [simulator.render() for _ in range(3)] == [None, None, None]
    assert caplog.text.count("cameras are not available") == 1


@pytest.mark.parametrize("backend", ["egl", "osmesa"])
def test_the_users_choice_of_back_end_is_respected(rby1_path: Path, backend: str) -> None:
    require(backend)
    end = f"import sys; assert 'mujoco.{backend}' in sys.modules; simulator.shutdown()"
    result = run_script(SCRIPT.format(path=str(rby1_path), end=end), MUJOCO_GL=backend)
    assert (result.returncode, result.stdout, result.stderr) == (0, "picture\n", "")


def test_a_process_that_does_not_call_shutdown_ends_without_an_error(rby1_path: Path) -> None:
    require("egl")
    result = run_script(SCRIPT.format(path=str(rby1_path), end=""))
    assert (result.returncode, result.stdout, result.stderr) == (0, "picture\n", "")
