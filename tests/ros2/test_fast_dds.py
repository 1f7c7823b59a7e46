# SPDX-License-Identifier: Apache-2.0
"""Pictures through shared memory: no picture is lost, and users keep their own settings."""

import contextlib
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from sensor_msgs.msg import Image
from std_msgs.msg import Int32

from teleop_system.ros2 import fast_dds
from teleop_system.utils.ros2_helpers import TopicNames
from tests.ros2.harness import Bench, Listener, NodeProcess
from tests.ros2.picture_source import REQUESTS

SOURCE = "tests.ros2.picture_source"

ROUNDS = 8
"""With this many, less than one run in a thousand passes by chance without shared memory."""


def number_of(ear: Listener) -> int:
    """Return the stamp of the newest picture that came; 0 before the first."""
    return int.from_bytes(ear.last[4:8], "little") if ear.count else 0


def test_every_picture_arrives_whole() -> None:
    with Bench() as bench, contextlib.closing(NodeProcess(SOURCE, "picture_source", {})):
        color = bench.listen(Image, TopicNames.CAMERA_COLOR_IMAGE, raw=True)
        depth = bench.listen(Image, TopicNames.CAMERA_DEPTH_IMAGE, raw=True)
        ask = bench.publisher(Int32, REQUESTS)
        # Publisher and listener find each other in their own time, so the first may be lost.
        with bench.repeat(5.0, lambda: ask.publish(Int32(data=1))):
            bench.wait(lambda: number_of(color) == number_of(depth) == 1, "no picture at all")
        for number in range(2, 2 + ROUNDS):
            ask.publish(Int32(data=number))
            bench.wait(
                lambda expected=number: number_of(color) == number_of(depth) == expected,
                lambda: f"came: colour {number_of(color)}, depth {number_of(depth)}",
            )


def test_settings_of_the_user_are_kept() -> None:
    for name in fast_dds.USER_VARIABLES:
        environment = {name: "theirs"}
        assert not fast_dds.enlarge_shared_memory(environment)
        assert environment == {name: "theirs"}


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="there is no shared memory")
def test_the_profiles_name_the_segment_s_size() -> None:
    environment: dict[str, str] = {}
    assert fast_dds.enlarge_shared_memory(environment)
    profiles = ElementTree.parse(environment["FASTDDS_DEFAULT_PROFILES_FILE"])
    sizes = [node.text for node in profiles.iter() if node.tag.endswith("segment_size")]
    assert sizes == [str(fast_dds.SEGMENT)]


def test_nothing_changes_on_a_machine_without_shared_memory(tmp_path: Path) -> None:
    environment: dict[str, str] = {}
    assert not fast_dds.enlarge_shared_memory(environment, tmp_path / "absent")
    assert not environment
