# SPDX-License-Identifier: Apache-2.0
"""Time to show point clouds of 640 x 480 frames: our part, and Open3D's drawing.

Our part is to unproject a frame, to pass the points to Open3D and to move the viewpoint; it must
leave time for 30 frames per second. Drawing takes as long as OpenGL needs on the graphics card or
the processor. Without a screen the window is in Xvfb.
"""

import json
import os
import subprocess
import sys
import time

import numpy as np

from bench.views import rendered_frame
from teleop_system.modules.camera.pointcloud_generator import (
    PointCloudConfig,
    PointCloudGenerator,
)
from teleop_system.modules.camera.pointcloud_viewer import PointCloudViewer, has_screen

STRIDES = (2, 1)
FRAMES, WARM_UP = 40, 5
LONGEST = 1e3 / 30.0
XVFB = ("xvfb-run", "-a", "-s", "-screen 0 1280x960x24")


def rows(frames: int = FRAMES) -> list[dict[str, object]]:
    """Measure all strides; return times and verdict."""
    screen = () if has_screen() else XVFB
    command = [*screen, sys.executable, "-m", __name__, str(frames)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=600.0)
    found: list[dict[str, object]] = json.loads(done.stdout.splitlines()[-1])
    return found


def _measure(stride: int, frames: int) -> dict[str, object]:
    frame = rendered_frame()
    generator = PointCloudGenerator(PointCloudConfig(stride=stride))
    viewer = _TimedViewer()
    assert viewer.open(), "no window can be opened"
    whole, count = [], 0
    for _ in range(frames):
        begun = time.perf_counter()
        cloud = generator.generate(frame)
        viewer.show(cloud, frame)
        whole.append(time.perf_counter() - begun)
        count = len(cloud.points)
    viewer.close()
    drawing = 1e3 * np.array(viewer.drawing[WARM_UP:])
    ours = 1e3 * np.array(whole[WARM_UP:]) - drawing
    p95 = float(np.percentile(ours, 95.0))
    return {
        "window": f"every {stride}. pixel" if stride > 1 else "every pixel",
        "points": count,
        "ours, p50 [ms]": round(float(np.median(ours)), 1),
        "ours, p95 [ms]": round(p95, 1),
        "at most [ms]": round(LONGEST, 1),
        "drawing, p50 [ms]": round(float(np.median(drawing)), 1),
        "frames/s": round(1.0 / float(np.mean(whole[WARM_UP:])), 1),
        "ok": p95 <= LONGEST,
    }


class _TimedViewer(PointCloudViewer):
    """Records the drawing times in [s]."""

    def __init__(self) -> None:
        super().__init__()
        self.drawing: list[float] = []

    def refresh(self) -> bool:
        begun = time.perf_counter()
        is_open = super().refresh()
        self.drawing.append(time.perf_counter() - begun)
        return is_open


if __name__ == "__main__":
    os.environ.setdefault("XDG_RUNTIME_DIR", "/tmp")
    found = [_measure(stride, int(sys.argv[1])) for stride in STRIDES]
    sys.stdout.write(json.dumps(found) + "\n")
