# SPDX-License-Identifier: Apache-2.0
"""A recorded operator on real topics: it waits, starts, stops, and starts again."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy")

from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402 - after the check for ROS 2.
from geometry_msgs.msg import PoseStamped, QuaternionStamped  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from teleop_system.interfaces import TrackerRole  # noqa: E402
from teleop_system.mocap.data_recorder import load_recording_arrays  # noqa: E402
from teleop_system.ros2.status import ROBOT, StatusReport, to_message  # noqa: E402
from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames  # noqa: E402
from tests.ros2.harness import Bench, Listener  # noqa: E402
from tests.waiting import wait_until_constant  # noqa: E402

MODULE = "teleop_system.mocap.bvh_replay_publisher"
NODE = "bvh_replay_publisher"


@pytest.fixture
def bench() -> Iterator[Bench]:
    with Bench("replay_test") as made:
        yield made


def position(ear: Listener, number: int = -1) -> np.ndarray:
    point = ear.messages[number].pose.position
    return np.array([point.x, point.y, point.z])


def playback(bench: Bench) -> str:
    return bench.value("playback", f"teleop/{NODE}")


def largest_step(ear: Listener) -> float:
    """Return the largest distance in [m] between two samples."""
    positions = np.array([position(ear, number) for number in range(ear.count)])
    return float(np.linalg.norm(np.diff(positions, axis=0), axis=1).max())


def test_it_waits_starts_stops_and_starts_again_without_a_jump(
    bench: Bench, tmp_path: Path
) -> None:
    record = tmp_path / "replay.npz"
    bench.start(MODULE, NODE, file="wave", autostart=False, speed=4.0, record=str(record))
    hand = bench.listen(PoseStamped, TopicNames.tracker(TrackerRole.RIGHT_HAND))
    head = bench.listen(QuaternionStamped, TopicNames.HMD_ORIENTATION)
    fingers = bench.listen(JointState, TopicNames.hand_joints("left"))
    assert bench.transition(NODE, "configure")
    assert not bench.trigger(TopicNames.START_PLAYBACK).success  # It is not active yet.
    assert bench.transition(NODE, "activate")
    bench.wait(lambda: min(hand.count, head.count, fingers.count) > 20)
    bench.wait(lambda: playback(bench) == "ready")
    first = position(hand, 0)
    np.testing.assert_allclose(position(hand), first)  # READY: the first pose, repeatedly.
    assert len(fingers.last.position) == 20

    assert bench.trigger(TopicNames.START_PLAYBACK).success
    bench.wait(lambda: playback(bench) == "playing")
    bench.wait(lambda: np.linalg.norm(position(hand) - first) > 0.1)
    answer = bench.trigger(TopicNames.STOP_PLAYBACK)
    assert answer.success
    assert "stopped at" in answer.message
    bench.wait(lambda: playback(bench) == "paused")
    wait_until_constant(lambda: position(hand).tolist(), 0.2, within=1.0)

    assert bench.trigger(TopicNames.START_PLAYBACK).success
    bench.wait(lambda: playback(bench) == "over")
    hand.clear()
    assert "from the start" in bench.trigger(TopicNames.START_PLAYBACK).message
    bench.wait(lambda: playback(bench) == "over")
    # A wave is slower than 2 m/s and is played at four times its speed; best effort loses samples.
    assert largest_step(hand) < 0.5
    assert bench.transition(NODE, "deactivate")
    assert bench.transition(NODE, "cleanup")
    arrays = load_recording_arrays(record)
    assert len(arrays["right_hand"]) > 100
    assert np.all(np.diff(arrays["right_hand_stamp"]) >= 0.0)


def test_it_starts_automatically_once_the_robot_follows(bench: Bench) -> None:
    bench.start(MODULE, NODE, file="wave")
    status = bench.publisher(DiagnosticArray, TopicNames.STATUS, QoSPreset.STATUS)
    hand = bench.listen(PoseStamped, TopicNames.tracker(TrackerRole.RIGHT_HAND))
    bench.bring_up(NODE)
    bench.wait(lambda: hand.count > 30)
    assert playback(bench) in ("", "ready")

    def engage() -> None:
        values = {"state": "engaged", "following": "true"}
        report = StatusReport(ROBOT, values=values)
        status.publish(to_message([report], bench.node.get_clock().now().to_msg()))

    with bench.repeat(10.0, engage):
        bench.wait(lambda: playback(bench) == "playing")


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"file": "nowhere.bvh"}, "no such file"),
        ({"file": "wave", "overrides": ["mocap.scale=-1"]}, "mocap.scale"),
    ],
)
def test_an_unplayable_file_fails_the_transition_with_the_reason(
    bench: Bench, parameters: dict[str, object], reason: str
) -> None:
    process = bench.start(MODULE, NODE, **parameters)
    assert not bench.transition(NODE, "configure")
    assert reason in process.log()
