# SPDX-License-Identifier: Apache-2.0
"""How the recorder of a replay evaluates the robot's reports."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("rclpy")

from teleop_system.mocap.playback import PlaybackState
from teleop_system.mocap.ros2_replay_recorder import ReplayRecorder
from teleop_system.ros2.status import Level, StatusReport
from tests.ros2.spinning import spinning

HOLD = "stale: right_arm: no fresh sample arrived in time (0.2 s, limit 0.08 s)"
LIMIT = "velocity: right_arm_3: a joint would move too fast (3 rad/s, limit 2 rad/s)"
BLIND = "camera: head_camera: no images (rendering failed: OpenGL lost its context)"


def report(level: Level, *causes: str) -> StatusReport:
    values = {f"cause.{index}": cause for index, cause in enumerate(causes)}
    return StatusReport("teleop/robot", level, values={"state": "engaged", **values})


def test_holds_are_counted_and_a_camera_without_pictures_does_not_count(tmp_path: Path) -> None:
    replay: Any = SimpleNamespace(state=PlaybackState.PLAYING)
    with spinning("recording") as node:
        recorder = ReplayRecorder(node, replay, tmp_path / "replay.npz", {})
        for heard in (
            report(Level.OK),
            report(Level.WARN, BLIND),
            report(Level.OK, LIMIT),
            report(Level.WARN, HOLD),
            report(Level.WARN, BLIND, HOLD),
            report(Level.WARN, BLIND),
            report(Level.WARN, HOLD),
        ):
            recorder.record_report(heard)
        notes = recorder._data.notes
    assert notes["holds"] == 2
    assert notes["interventions"] == {"velocity": 1, "stale": 3}
