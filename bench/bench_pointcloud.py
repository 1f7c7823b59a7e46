# SPDX-License-Identifier: Apache-2.0
"""Time to unproject a 640 x 480 frame, against Open3D's own unprojection of the same frame.

For Open3D only the unprojection counts, not the creation of its images, and the faster of its two
point cloud classes. Both return coloured points in the world frame. They alternate; the processor
time of all threads counts.
"""

import time
from collections.abc import Callable

import numpy as np
import open3d as o3d

from bench.views import rendered_frame
from teleop_system.modules.camera.pointcloud_generator import (
    PointCloudConfig,
    PointCloudGenerator,
)

REPETITIONS = 40
FAR = 65.0


def rows(repetitions: int = REPETITIONS) -> list[dict[str, object]]:
    """Measure both; return the times and the verdict."""
    frame = rendered_frame()
    generator = PointCloudGenerator(PointCloudConfig(near=0.01, far=FAR))
    matrix, pose = frame.intrinsics, np.linalg.inv(frame.extrinsics)
    image = o3d.geometry.RGBDImage.create_from_color_and_depth(
        o3d.geometry.Image(frame.rgb),
        o3d.geometry.Image(frame.depth),
        depth_scale=1.0,
        depth_trunc=FAR,
        convert_rgb_to_intensity=False,
    )
    pinhole = o3d.camera.PinholeCameraIntrinsic(
        frame.width, frame.height, matrix[0, 0], matrix[1, 1], matrix[0, 2], matrix[1, 2]
    )
    tensors = o3d.t.geometry.RGBDImage(
        o3d.t.geometry.Image(frame.rgb), o3d.t.geometry.Image(frame.depth)
    )
    their_matrix, their_pose = o3d.core.Tensor(matrix), o3d.core.Tensor(pose)

    def legacy() -> object:
        return o3d.geometry.PointCloud.create_from_rgbd_image(image, pinhole, pose)

    def tensor() -> object:
        return o3d.t.geometry.PointCloud.create_from_rgbd_image(
            tensors, their_matrix, their_pose, depth_scale=1.0, depth_max=FAR
        )

    works: tuple[Callable[[], object], ...] = (lambda: generator.generate(frame), legacy, tensor)
    for work in works:
        work()
    times = np.array([[_timed(work) for work in works] for _ in range(repetitions)])
    ours, *theirs = np.median(times, axis=0)
    count = len(generator.generate(frame).points)
    ratio = ours / min(theirs)
    first: dict[str, object] = {
        "unprojection": "ours",
        "points": count,
        "median [ms]": round(1e3 * ours, 2),
        "ratio": round(ratio, 2),
        "budget": 1.0,
        "ok": bool(ratio <= 1.0),
    }
    peers = [
        {"unprojection": f"Open3D, {name}", "median [ms]": round(1e3 * value, 2)}
        for name, value in zip(("legacy", "tensor"), theirs, strict=True)
    ]
    return [first, *peers]


def _timed(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun
