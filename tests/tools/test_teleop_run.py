# SPDX-License-Identifier: Apache-2.0
"""A whole run: the robot follows, a video is saved, and impossible runs are refused."""

from pathlib import Path

import numpy as np
import pytest

from teleop_system.exceptions import UnknownNameError
from teleop_system.robot_side.engagement_table import EngagementState
from teleop_system.settings import TeleopSettings, load_settings
from teleop_system.tools.teleop_run import TeleopResult, run_teleop
from tests.robots.models import SIX_AXIS

FAST = ["simulation.real_time=false"]
BLIND = [*FAST, "simulation.render=false", "session.record=false"]


def recorded(folder: Path, *overrides: str) -> TeleopSettings:
    """Settings of a run that is recorded, because tracking is judged from the recording."""
    return load_settings([*FAST, "simulation.render=false", f"session.runs={folder}", *overrides])


@pytest.fixture(scope="module")
def five_seconds(tmp_path_factory: pytest.TempPathFactory) -> TeleopResult:
    folder = tmp_path_factory.mktemp("runs")
    return run_teleop(recorded(folder, "operator.duration=5"), window=False)


def test_both_arms_and_the_torso_follow_for_the_whole_time(five_seconds: TeleopResult) -> None:
    assert {entry.chain for entry in five_seconds.outcome.tracking} == {
        "torso",
        "right_arm",
        "left_arm",
    }
    assert five_seconds.summary.state is EngagementState.ENGAGED
    assert five_seconds.summary.duration >= 5.0


@pytest.mark.parametrize("arm", ["right_arm", "left_arm"])
def test_hands_stay_within_a_centimetre_of_their_targets(
    five_seconds: TeleopResult, arm: str
) -> None:
    (entry,) = (entry for entry in five_seconds.outcome.tracking if entry.chain == arm)
    assert entry.figures["position_rms"] < 0.01
    assert np.degrees(entry.figures["orientation_rms"]) < 3.0


def test_the_robot_never_touches_itself(five_seconds: TeleopResult) -> None:
    assert five_seconds.outcome.self_contacts == []


def test_a_picture_and_a_video_of_the_whole_time_are_saved(tmp_path: Path) -> None:
    import imageio_ffmpeg

    drawn: list[tuple[int, int]] = []
    small = ["simulation.width=64", "simulation.height=48", f"session.runs={tmp_path}"]
    result = run_teleop(
        load_settings([*FAST, *small, "session.self_test=false", "operator.duration=2"]),
        window=False,
        on_drawing=lambda done, total: drawn.append((done, total)),
    )
    assert [file.name for file in result.files] == ["run.png", "run.mp4"]
    frames, _ = imageio_ffmpeg.count_frames_and_secs(str(result.files[1]))
    assert frames == pytest.approx(10.0 * result.summary.duration, abs=1.0)
    assert drawn[-1] == (frames, frames)


def test_status_is_reported_while_it_runs() -> None:
    seen: list[float] = []
    run_teleop(
        load_settings([*BLIND, "operator.duration=1"]),
        on_status=lambda status: seen.append(status.time),
    )
    assert seen
    assert seen == sorted(seen)


def test_a_hand_without_an_arm_follows_its_glove() -> None:
    settings = load_settings([*BLIND, "robot=dg5f", "operator.duration=1"])
    assert run_teleop(settings).summary.state is EngagementState.ENGAGED


def test_weights_for_a_chain_that_does_not_exist_are_refused() -> None:
    settings = load_settings([*BLIND, "solver.chains={left_amr: {position_weight: 1}}"])
    with pytest.raises(UnknownNameError, match="left_arm"):
        run_teleop(settings)


def test_a_model_in_a_folder_can_be_run_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "six_axis").mkdir()
    (tmp_path / "six_axis" / "arm.xml").write_text(SIX_AXIS)
    monkeypatch.setenv("TELEOP_MODELS_DIR", str(tmp_path))
    result = run_teleop(
        recorded(tmp_path / "runs", "robot.name=six_axis", "operator.duration=3"), window=False
    )
    (entry,) = result.outcome.tracking
    assert entry.chain == "arm"
    assert result.summary.state is EngagementState.ENGAGED
