# SPDX-License-Identifier: Apache-2.0
"""The bridge when drawing fails: it reports that, physics continues, and pictures return."""

from pathlib import Path

import pytest
from sensor_msgs.msg import Image

from teleop_system.ros2.status import ROBOT, Level
from teleop_system.utils.ros2_helpers import TopicNames
from tests.simulators.mujoco_ros2_bridge import blind_bridge
from tests.simulators.mujoco_ros2_bridge.rig import running_bridge


def test_a_failing_camera_is_reported_retried_and_recovers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = tmp_path / "blind"
    monkeypatch.setenv(blind_bridge.FAULT_FILE, str(fault))
    camera = {"camera": True, "camera_width": 64, "camera_height": 48}
    with running_bridge(module=blind_bridge.MODULE, **camera) as rig:
        bench = rig.bench
        pictures = bench.listen(Image, TopicNames.CAMERA_COLOR_IMAGE, raw=True)
        bench.wait(lambda: pictures.count > 2, "no pictures at all")
        bench.wait_for_state("ready")
        with rig.commanding():
            rig.engage()
            assert "camera" not in bench.causes()
            for outage in (1, 2):
                fault.touch()
                bench.wait(lambda: blind_bridge.FAULT in bench.causes())
                report = bench.reports[ROBOT]
                assert report.level >= Level.WARN
                assert report.causes[0].startswith("camera: head_camera: no images")
                rig.states.clear()
                pictures.clear()
                bench.wait(lambda: rig.states.count > 150, "physics stands still")
                assert pictures.count <= 1  # One may have been in transit.
                log = rig.process.log()
                assert log.count("no images of") == outage, "reported once per outage"
                assert "teleop doctor" in log
                assert bench.value("following") == "true"
                fault.unlink()
                bench.wait(lambda: pictures.count > 3, "pictures never came back")
                bench.wait(lambda: "camera" not in bench.causes(), bench.causes)
        assert rig.process.log().count("are available again") == 2
