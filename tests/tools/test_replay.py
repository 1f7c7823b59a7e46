# SPDX-License-Identifier: Apache-2.0
"""Recorded motions in whole sessions, and their scores."""

import json
import math
import os
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from teleop_system.cli.main import app
from teleop_system.exceptions import BVHError, ConfigError
from teleop_system.interfaces import TrackerRole
from teleop_system.mocap.bvh_motion import motions_dir, shipped_motions
from teleop_system.mocap.synthesis.motions import MOTIONS
from teleop_system.mocap.synthesis.writer import bvh_text
from teleop_system.robots import load_robot
from teleop_system.session.robot_proportions import robot_proportions
from teleop_system.tools.replay.replay import find_files, replay_settings, run_replay
from teleop_system.tools.replay.sweep import parse_grid, run_sweep, sweep_page
from tests.mocap.files import clip, needs_clips, write

QUICK = ("simulation.render=false", "session.self_test=false")
full = pytest.mark.skipif(not os.environ.get("TELEOP_FULL"), reason="TELEOP_FULL is not set")


def quick(file: Path | str, runs: Path, *overrides: str) -> object:
    settings = replay_settings(Path(file), [*QUICK, f"session.runs={runs}", *overrides])
    return run_replay(settings, film=False)


def test_a_wave_is_followed_safely_and_reported(tmp_path: Path) -> None:
    result = quick("wave", tmp_path)
    score = result.score  # type: ignore[attr-defined]
    assert score.is_safe, score
    assert score.state == "engaged"
    for hand in score.hands.values():
        assert hand.error <= 0.015
        assert hand.unreachable + hand.too_fast <= 0.05
    document = json.loads((result.folder / "score.json").read_text())  # type: ignore[attr-defined]
    assert document["safe"] is True
    assert set(document["hands"]) == {"left_arm", "right_arm"}
    page = (result.folder / "report.html").read_text()  # type: ignore[attr-defined]
    assert "Replay of wave" in page
    trace = np.load(result.folder / "trace.npz")  # type: ignore[attr-defined]
    # Nothing is measured before the first pose is reached.
    moved = np.nanmax(trace["measured"], axis=0) - np.nanmin(trace["measured"], axis=0)
    names = [str(name) for name in trace["joints"]]
    assert moved[names.index("right_arm_3")] > 0.3


def test_proportions_contain_the_shoulders_of_the_robot() -> None:
    fit = robot_proportions(load_robot("rby1"))
    assert fit is not None
    assert fit.reach == pytest.approx(0.66, abs=0.01)
    assert fit.shoulders["left"][1] == pytest.approx(0.22, abs=1e-3)
    assert fit.hands["right"][0] > 0.3  # The ready pose has the hands in front.
    # About y, by half of the 50 degrees between a hanging arm and the ready pose.
    assert abs(fit.rotations["left"][1]) == pytest.approx(0.42, abs=0.01)
    assert robot_proportions(load_robot("dg5f")) is None


def test_files_folders_and_names_are_found(tmp_path: Path) -> None:
    for name in ("b", "a"):
        write(tmp_path, "HIERARCHY", f"{name}.bvh")
    assert [path.stem for path in find_files([tmp_path, Path("wave")])] == ["a", "b", "wave"]
    assert len(find_files([])) == len(shipped_motions()) == 6
    (tmp_path / "empty").mkdir()
    with pytest.raises(BVHError, match=r"no .*bvh"):
        find_files([tmp_path / "empty"])


def test_the_script_reproduces_the_shipped_motions() -> None:
    for name, (perform, skeleton) in MOTIONS.items():
        path = motions_dir() / f"{name}.bvh"
        assert path.read_text(encoding="utf-8") == bvh_text(perform(), skeleton())
        assert path.stat().st_size < 100_000


def test_the_command_reports_mistakes_in_one_sentence(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["replay", str(tmp_path / "nowhere.bvh")])
    assert result.exit_code != 0
    assert "no such file" in result.output
    assert "Traceback" not in result.output


def test_a_grid_has_every_combination_and_the_best_comes_first(tmp_path: Path) -> None:
    grid = parse_grid(["mocap.speed=1.0", "mocap.scale=0.1,0.9"])
    common = [*QUICK, f"session.runs={tmp_path}", "operator.duration=3.0"]
    points = run_sweep(Path("wave"), grid, common, workers=1)
    assert [point.failure for point in points] == ["", ""]
    assert [point.overrides[1] for point in points] == ["mocap.scale=0.9", "mocap.scale=0.1"]
    assert 0.0 < points[0].error < 0.025
    # A hand at a tenth of the arm's length would be inside the robot's chest.
    assert math.isnan(points[1].error)
    page = sweep_page(Path("wave"), grid, points)
    assert page.count("<tr>") == 3
    assert "no reachable target" in page
    assert "<polyline" in page


@pytest.mark.parametrize("wrong", ["mocap.speed", "=1", "mocap.speed="])
def test_an_axis_without_values_is_an_error(wrong: str) -> None:
    with pytest.raises(ConfigError, match="an axis must be"):
        parse_grid([wrong])


@full
@pytest.mark.parametrize("name", shipped_motions())
def test_every_shipped_motion_is_followed(name: str, tmp_path: Path) -> None:
    score = quick(name, tmp_path).score  # type: ignore[attr-defined]
    assert score.is_safe, score
    assert max(hand.error for hand in score.hands.values()) <= 0.025
    assert abs(score.walk.share - 1.0) <= 0.15


@full
@needs_clips
@pytest.mark.parametrize("loop", [False, True])
@pytest.mark.parametrize("name", ["02_01", "05_02", "38_03", "62_20"])
def test_real_recordings_are_followed_safely(name: str, loop: bool, tmp_path: Path) -> None:
    score = quick(clip(name), tmp_path, f"mocap.loop={str(loop).lower()}").score  # type: ignore[attr-defined]
    assert score.is_safe, score
    assert abs(score.walk.share - 1.0) <= 0.15
    if not loop:
        assert max(hand.error for hand in score.hands.values()) <= 0.025


def test_every_tracker_has_its_role() -> None:
    settings = replay_settings(Path("wave"))
    assert {role.value for role in TrackerRole} <= set(settings.hardware.measured)
