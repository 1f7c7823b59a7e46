# SPDX-License-Identifier: Apache-2.0
"""Simulators of small models and of the RB-Y1."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
from teleop_system.utils.paths import models_dir
from tests.waiting import run_to_end

Start = Callable[..., MuJoCoSimulator]


def run_script(
    script: str, *, wrapper: Sequence[str] = (), **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run Python in its own process, with a fresh OpenGL, and return its output."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYOPENGL_PLATFORM"}
    return run_to_end([*wrapper, sys.executable, "-c", script], env={**inherited, **environment})


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start simulators of MJCF texts or files, and shut them down after the test."""
    running: list[MuJoCoSimulator] = []

    def _start(model: str | Path, **settings: Any) -> MuJoCoSimulator:
        path = model if isinstance(model, Path) else tmp_path / "model.xml"
        if isinstance(model, str):
            path.write_text(model, encoding="utf-8")
        simulator = MuJoCoSimulator()
        assert simulator.initialize({"mjcf_path": path, **settings}) is True
        running.append(simulator)
        return simulator

    yield _start
    for simulator in running:
        simulator.shutdown()


@pytest.fixture(scope="session")
def rby1_path() -> Path:
    return models_dir() / "rby1" / "model_teleop.xml"


@pytest.fixture
def rby1(start: Start, rby1_path: Path) -> MuJoCoSimulator:
    return start(rby1_path)
