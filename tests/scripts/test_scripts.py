# SPDX-License-Identifier: Apache-2.0
"""The scripts: their output, results and exit codes, and how they end."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.waiting import LIMIT, run_to_end, wait_for, work_of

SCRIPTS = Path(__file__).parents[2] / "scripts"
QUICK = ("simulation.real_time=false", "simulation.render=false")


def command(script: str, *arguments: str) -> list[str]:
    return [sys.executable, str(SCRIPTS / script), *arguments]


def run(script: str, arguments: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script in its own folder, as on a machine without a display."""
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    return run_to_end(
        command(script, *arguments), cwd=folder, env=environment | {"COLUMNS": "200"}
    )


def test_a_session_writes_every_artefact_and_ends_with_zero(tmp_path: Path) -> None:
    done = run("run_teleop.py", ["--no-gui", *QUICK, "operator.duration=3"], tmp_path)
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "runs").iterdir()
    assert {path.name for path in folder.iterdir()} == {
        "config.yaml",
        "environment.json",
        "events.jsonl",
        "inputs.npz",
        "metrics.json",
        "report.html",
        "timing.json",
        "trace.npz",
    }
    assert "report.html" in done.stdout
    assert "provider" in done.stdout
    metrics = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["tracking"]["right_arm"]["position_rms"] < 0.015
    assert metrics["self_contacts"] == []


def test_ctrl_c_ends_a_session_cleanly_with_its_report(tmp_path: Path) -> None:
    process = subprocess.Popen(
        command("run_teleop.py", "--no-gui", "simulation.render=false", "operator.duration=null"),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        if "camera" in line:  # The last line of the table of signals: the session starts.
            break
    events = tmp_path / "runs"
    progress = lambda: work_of([process.pid])  # noqa: E731
    wait_for(lambda: any(events.glob("*/events.jsonl")), progress=progress)
    folder = next(events.iterdir())
    wait_for(
        lambda: "engaged" in (folder / "events.jsonl").read_text(encoding="utf-8"),
        progress=progress,
    )
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, errors
    assert "interrupted" in output
    assert "Traceback" not in errors
    assert (folder / "report.html").is_file()


@pytest.mark.parametrize(
    ("script", "arguments", "message"),
    [
        ("run_teleop.py", ["--mode", "hardware"], "needs drivers for robot 'rby1'"),
        ("run_teleop.py", ["--modules", "arm,legs"], "session.modules cannot be 'legs'"),
        ("run_teleop.py", ["sesion.mode=simulation"], "did you mean 'session'"),
        ("run_teleop.py", ["hardware.signals.head=null"], "camera needs 'head'"),
        ("test_arm_teleop_standalone.py", ["--mode", "hardware"], "needs drivers for robot"),
    ],
)
def test_a_mistake_is_reported_in_one_line(
    script: str, arguments: list[str], message: str, tmp_path: Path
) -> None:
    done = run(script, arguments, tmp_path)
    output = " ".join((done.stdout + done.stderr).split())
    assert done.returncode == 2
    assert message in output
    assert "Traceback" not in output
    assert not any((tmp_path / "runs").glob("*"))


@pytest.mark.parametrize(
    "script",
    [
        "test_arm_teleop_standalone.py",
        "test_hand_teleop_standalone.py",
        "test_camera_standalone.py",
    ],
)
def test_a_single_module_passes_its_trial(script: str, tmp_path: Path) -> None:
    quick = ["--no-gui", "--fast", "simulation.render=false", "operator.duration=8"]
    done = run(script, quick, tmp_path)
    assert done.returncode == 0, done.stdout
    assert "verdict: PASS" in done.stdout


def test_the_base_passes_its_trial(tmp_path: Path) -> None:
    done = run("test_locomotion_standalone.py", ["--fast", "simulation.render=false"], tmp_path)
    assert done.returncode == 0, done.stdout
    assert "the base command is exactly zero while the operator stands still: 0 m/s" in done.stdout


def test_a_failed_trial_exits_with_one(tmp_path: Path) -> None:
    # Hands with a low weight lag behind.
    lame = ["--fast", "simulation.render=false", "operator.duration=6"]
    lame += ["solver.chains.arm.position_weight=0.001"]
    done = run("test_arm_teleop_standalone.py", lame, tmp_path)
    assert done.returncode == 1
    assert "verdict: FAIL" in done.stdout


@pytest.mark.parametrize("step", ["1", "2"])
def test_a_step_of_the_demonstration_passes(step: str, tmp_path: Path) -> None:
    quick = ["--no-gui", "--fast", "simulation.render=false", "operator.duration=6"]
    done = run("demo_teleop_sim.py", ["--step", step, *quick], tmp_path)
    assert done.returncode == 0, done.stdout
    assert f"step {step}:" in done.stdout


def test_there_are_five_steps(tmp_path: Path) -> None:
    done = run("demo_teleop_sim.py", ["--step", "6"], tmp_path)
    assert done.returncode == 2
    assert "choose from" in done.stderr
