# SPDX-License-Identifier: Apache-2.0
"""A recorded operator, the arm node and the simulated robot: played, recorded and scored."""

import os
from pathlib import Path

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy")

from teleop_system.exceptions import ConfigError  # noqa: E402 - after the check for ROS 2.
from teleop_system.mocap.data_recorder import DataRecorder  # noqa: E402
from teleop_system.ros2.status import ROBOT  # noqa: E402
from teleop_system.tools.replay.recorded_run import score_recording  # noqa: E402
from teleop_system.utils.ros2_helpers import TopicNames  # noqa: E402
from tests.mocap.files import clip, needs_clips  # noqa: E402
from tests.ros2.harness import Bench  # noqa: E402

BRIDGE, ARM, BASE, REPLAY = (
    "mujoco_bridge",
    "arm_teleop_node",
    "locomotion_node",
    "bvh_replay_publisher",
)
MODULES = {
    BRIDGE: "teleop_system.simulators.mujoco_ros2_bridge",
    ARM: "teleop_system.modules.arm_teleop.arm_teleop_node",
    BASE: "teleop_system.modules.locomotion.locomotion_node",
    REPLAY: "teleop_system.mocap.bvh_replay_publisher",
}
MOCAP = ["hardware=mocap", "mocap.approach=1.0"]


def replay(bench: Bench, file: str, record: Path, speed: float, *others: str) -> None:
    """Start all nodes, start the motion by its service, and wait for its end."""
    bench.start(MODULES[BRIDGE], BRIDGE, auto_engage=True, self_test=False, overrides=MOCAP)
    for node in (ARM, *others):
        bench.start(MODULES[node], node, overrides=MOCAP)
    played = {"file": file, "speed": speed, "record": str(record)}
    bench.start(MODULES[REPLAY], REPLAY, autostart=False, overrides=MOCAP, **played)
    for node in (BRIDGE, ARM, *others, REPLAY):
        bench.bring_up(node)
    bench.wait(lambda: bench.value("following", ROBOT) == "true", lambda: bench.reports)
    state = lambda: bench.value("playback", f"teleop/{REPLAY}")  # noqa: E731 - used twice.
    bench.wait(lambda: state() == "ready")  # The robot follows, but nothing moves yet.
    assert bench.trigger(TopicNames.START_PLAYBACK).success
    bench.wait(lambda: state() == "playing")
    bench.wait(lambda: state() == "over")
    bench.wait(record.is_file)
    assert bench.transition(REPLAY, "deactivate")
    assert bench.transition(REPLAY, "cleanup")  # By now everything has been written.


@pytest.mark.realtime
def test_a_staged_replay_is_followed_recorded_and_scored(tmp_path: Path) -> None:
    record = tmp_path / "wave.npz"
    with Bench("replayed") as bench:
        replay(bench, "wave", record, 2.0)
    score, run = score_recording(record)
    assert score.is_safe, score
    assert score.estops == 0
    assert score.duration > 6.0
    assert run.times[0] == 0.0
    assert run.times[-1] == pytest.approx(run.motion.duration)
    # Samples come late on a machine that is busy with other tests; a hand that stayed where it was
    # would be twice as far away. The test below judges the error on a calm machine.
    assert max(hand.error for hand in score.hands.values()) < 0.1
    swing = np.ptp(run.measured[:, run.joints.index("right_arm_3")])
    assert swing > 0.3


@pytest.mark.skipif(not os.environ.get("TELEOP_FULL"), reason="TELEOP_FULL is not set")
@pytest.mark.realtime
def test_tracking_errors_over_topics_stay_within_their_bounds(tmp_path: Path) -> None:
    record = tmp_path / "wave.npz"
    with Bench("replayed") as bench:
        replay(bench, "wave", record, 1.0)
    score, _ = score_recording(record)
    assert max(hand.error for hand in score.hands.values()) <= 0.025


@pytest.mark.skipif(not os.environ.get("TELEOP_FULL"), reason="TELEOP_FULL is not set")
@pytest.mark.realtime
@needs_clips
@pytest.mark.parametrize("name", ["02_01", "05_02", "38_03", "62_20"])
def test_real_recordings_are_followed_over_topics(name: str, tmp_path: Path) -> None:
    record = tmp_path / f"{name}.npz"
    with Bench("replayed") as bench:
        replay(bench, str(clip(name)), record, 1.0, BASE)
    score, _ = score_recording(record)
    assert score.is_safe, score
    assert max(hand.error for hand in score.hands.values()) <= 0.025
    assert score.walk is not None
    assert abs(score.walk.share - 1.0) <= 0.15


def test_a_file_that_is_not_a_replay_is_an_error(tmp_path: Path) -> None:
    recorder = DataRecorder()
    recorder.record("joints", 0.0, [1.0])
    with pytest.raises(ConfigError, match=r"not a replay recording; .*playback"):
        score_recording(recorder.save(tmp_path / "joints.npz"))
    with pytest.raises(ConfigError, match="nowhere"):
        score_recording(tmp_path / "nowhere.npz")
