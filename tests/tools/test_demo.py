# SPDX-License-Identifier: Apache-2.0
"""The demonstration: a robot follows, is filmed, and can be stopped."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from teleop_system.exceptions import ModelError, UnknownNameError
from teleop_system.robots import load_robot
from teleop_system.settings import load_settings
from teleop_system.simulators.frame_poses import FramePoses
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
from teleop_system.tools.demo import DemoResult, run_demo
from teleop_system.tools.demo.show import make_loop
from tests.robots.models import SIX_AXIS

FAST = ["simulation.real_time=false", "simulation.render=false"]
SMALL = ["simulation.real_time=false", "simulation.width=64", "simulation.height=48"]


def rms(values: list[float]) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


@pytest.fixture(scope="module")
def five_seconds() -> DemoResult:
    return run_demo(load_settings([*FAST, "operator.duration=5"]), window=False)


def test_both_arms_and_the_torso_follow(five_seconds: DemoResult) -> None:
    assert set(five_seconds.position_errors) == {"torso", "right_arm", "left_arm"}
    assert five_seconds.simulated == pytest.approx(5.0)
    assert five_seconds.ticks == 500


@pytest.mark.parametrize("arm", ["right_arm", "left_arm"])
def test_hands_stay_within_a_centimetre_of_the_operators(
    five_seconds: DemoResult, arm: str
) -> None:
    assert rms(five_seconds.position_errors[arm]) < 0.01
    assert np.degrees(rms(five_seconds.orientation_errors[arm])) < 3.0


def test_the_robot_really_moves_with_the_operator() -> None:
    settings = load_settings([*FAST, "operator=sinusoid"])
    robot = load_robot("rby1")
    simulator = MuJoCoSimulator()
    simulator.initialize({"mjcf_path": str(robot.mjcf), "keyframe": "ready"})
    loop = make_loop(settings, robot, simulator)
    poses = FramePoses(simulator, "base", ["ee_right"])
    heights = []
    for _ in range(400):  # One period of the sine.
        loop.tick()
        poses.update()
        heights.append(poses["ee_right"].position[2])
    simulator.shutdown()
    assert np.ptp(heights) == pytest.approx(0.2, abs=0.01)  # Twice the amplitude.


def test_a_hand_sine_is_followed_closely() -> None:
    settings = load_settings([*FAST, "operator=sinusoid", "operator.duration=10"])
    result = run_demo(settings)
    for arm in ("right_arm", "left_arm"):
        assert rms(result.position_errors[arm]) < 0.01


def test_the_robot_with_hands_follows_too() -> None:
    settings = load_settings([*FAST, "robot=rby1_dg5f", "operator.duration=2"])
    result = run_demo(settings)
    assert rms(result.position_errors["left_arm"]) < 0.01


def test_a_picture_and_a_video_of_the_whole_time_are_saved(tmp_path: Path) -> None:
    import imageio_ffmpeg

    drawn: list[tuple[int, int]] = []
    result = run_demo(
        load_settings([*SMALL, "operator.duration=2"]),
        output=tmp_path / "new",
        window=False,
        on_drawing=lambda done, total: drawn.append((done, total)),
    )
    assert [file.name for file in result.files] == ["demo.png", "demo.mp4"]
    frames, seconds = imageio_ffmpeg.count_frames_and_secs(str(result.files[1]))
    assert frames == 21  # Both ends count.
    assert seconds == pytest.approx(2.1, abs=0.05)
    assert drawn[-1] == (21, 21)


def test_status_is_reported_while_it_runs() -> None:
    seen: list[float] = []
    run_demo(
        load_settings([*FAST, "operator.duration=1"]),
        on_status=lambda so_far: seen.append(so_far.simulated),
    )
    assert seen
    assert seen == sorted(seen)


def test_a_robot_without_arms_is_refused() -> None:
    with pytest.raises(ModelError, match="dg5f_right"):
        run_demo(load_settings([*FAST, "robot=dg5f"]))


def test_weights_for_a_chain_that_does_not_exist_are_refused() -> None:
    settings = load_settings([*FAST, "solver.chains={left_amr: {position_weight: 1}}"])
    with pytest.raises(UnknownNameError, match="left_arm"):
        run_demo(settings)


def test_a_model_dropped_into_a_folder_follows_by_its_name_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "six_axis").mkdir()
    (tmp_path / "six_axis" / "arm.xml").write_text(SIX_AXIS)
    monkeypatch.setenv("TELEOP_MODELS_DIR", str(tmp_path))
    result = run_demo(load_settings([*FAST, "robot.name=six_axis", "operator.duration=1"]))
    assert len(result.position_errors["arm"]) == 100


def test_ctrl_c_ends_it_cleanly(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "teleop_system.cli", "demo", "operator.duration=null"]
    command += ["simulation.render=false", "--no-window", "--output", str(tmp_path)]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
        # A runner in the background may have Ctrl-C switched off, which children inherit.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stdout is not None
    assert "Ctrl-C" in process.stdout.readline()
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(3.0)  # Long enough for the loop to be under way.
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=30)
    assert process.returncode in (0, 130)
    assert "Traceback" not in errors
    assert "followed for" in output or process.returncode == 130
