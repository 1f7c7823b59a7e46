# SPDX-License-Identifier: Apache-2.0
"""What the streaming scripts do between opening a camera and their end."""

import time
from pathlib import Path

import pytest

from teleop_system.modules.camera.pointcloud_generator import PointCloudConfig
from teleop_system.tools.streaming import Until, view
from tests.modules.camera.streaming.scenes import FakeCamera


def test_a_duration_counts_from_the_open_camera(tmp_path: Path) -> None:
    pytest.importorskip("open3d")
    until = Until(0.3)
    time.sleep(0.4)  # A camera that takes long to open.
    begun = time.monotonic()
    files = view(
        FakeCamera(),
        PointCloudConfig(stride=2),
        until=until,
        report=lambda text: None,
        window=False,
        folder=tmp_path,
    )
    assert files is not None and all(path.stat().st_size > 0 for path in files)
    assert time.monotonic() - begun >= 0.3


def test_something_without_a_duration_ends_when_it_is_told_to() -> None:
    until = Until()
    assert not until.is_over()
    until.is_told = True
    assert until.is_over()
