# SPDX-License-Identifier: Apache-2.0
"""Deadlines of the streaming scripts."""

import time
from pathlib import Path

import pytest

from teleop_system.modules.camera.pointcloud_generator import PointCloudConfig
from teleop_system.tools.streaming import Deadline, view
from tests.modules.camera.streaming.scenes import FakeCamera


def test_a_duration_starts_when_the_camera_is_open(tmp_path: Path) -> None:
    pytest.importorskip("open3d")
    deadline = Deadline(0.3)
    time.sleep(0.4)  # A camera that takes long to open.
    begun = time.monotonic()
    files = view(
        FakeCamera(),
        PointCloudConfig(stride=2),
        deadline=deadline,
        report=lambda text: None,
        window=False,
        folder=tmp_path,
    )
    assert files is not None and all(path.stat().st_size > 0 for path in files)
    assert time.monotonic() - begun >= 0.3


def test_a_deadline_without_a_duration_ends_on_request() -> None:
    deadline = Deadline()
    assert not deadline.is_over()
    deadline.is_stopped = True
    assert deadline.is_over()
