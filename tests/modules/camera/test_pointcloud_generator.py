# SPDX-License-Identifier: Apache-2.0

import dataclasses

import numpy as np
import pytest

from teleop_system.exceptions import ConfigError, InvalidValueError
from teleop_system.modules.camera.pointcloud_generator import (
    PointCloudConfig,
    PointCloudGenerator,
)
from tests.modules.camera.streaming.scenes import scene


@pytest.mark.parametrize("skew", [0.0, 3.0])
def test_points_project_back_to_their_pixels(skew: float) -> None:
    frame = scene()
    frame.intrinsics[0, 1] = skew
    cloud = PointCloudGenerator(PointCloudConfig(near=0.0, far=100.0)).generate(frame)
    inverse = np.linalg.inv(frame.extrinsics)
    camera = cloud.points @ inverse[:3, :3].T + inverse[:3, 3]
    # Depth 0 is at the near limit here, but a point without depth has no pixel.
    seen = camera[:, 2] > 1e-3
    pixels = camera[seen] @ frame.intrinsics.T
    columns, rows = np.rint(pixels[:, :2] / pixels[:, 2:]).astype(int).T
    np.testing.assert_allclose(frame.depth[rows, columns], camera[seen, 2], atol=1e-5)
    np.testing.assert_array_equal(frame.rgb[rows, columns], cloud.colors[seen])
    assert seen.sum() == (frame.depth > 0.0).sum()


def test_the_middle_of_the_picture_lies_straight_ahead() -> None:
    frame = scene()
    camera = PointCloudGenerator(PointCloudConfig(frame="camera")).generate(frame)
    middle = camera.points[np.argmin(np.abs(camera.points[:, :2]).sum(axis=1))]
    np.testing.assert_allclose(middle, [0.0, 0.0, 0.8], atol=1e-6)
    world = PointCloudGenerator().generate(frame)
    ahead = world.points[np.argmin(np.abs(camera.points[:, :2]).sum(axis=1))]
    # The camera looks along x from 1.4 m above the floor.
    np.testing.assert_allclose(ahead, [0.9, 0.0, 1.4], atol=1e-6)


def test_points_out_of_range_are_left_out() -> None:
    cloud = PointCloudGenerator(PointCloudConfig(near=1.5, far=2.0, frame="camera")).generate(
        scene()
    )
    assert cloud.points[:, 2].min() >= 1.5
    assert cloud.points[:, 2].max() <= 2.0
    assert len(cloud.points) > 0


def test_a_stride_keeps_every_nth_pixel() -> None:
    frame = dataclasses.replace(scene(), depth=np.ones((120, 160), np.float32))
    full = PointCloudGenerator(PointCloudConfig(frame="camera")).generate(frame)
    thin = PointCloudGenerator(PointCloudConfig(stride=3, frame="camera")).generate(frame)
    assert len(thin.points) == 40 * 54
    np.testing.assert_array_equal(
        thin.points.reshape(40, 54, 3), full.points.reshape(120, 160, 3)[::3, ::3]
    )


def test_a_camera_without_depth_gives_no_points() -> None:
    frame = dataclasses.replace(scene(), depth=np.zeros((120, 160), np.float32))
    assert PointCloudGenerator().generate(frame).points.shape == (0, 3)


def test_another_camera_has_its_own_rays() -> None:
    generator = PointCloudGenerator(PointCloudConfig(frame="camera"))
    generator.generate(scene())
    other = scene()
    other.intrinsics[0, 0] *= 2.0
    found = generator.generate(other)
    expected = PointCloudGenerator(PointCloudConfig(frame="camera")).generate(other)
    np.testing.assert_array_equal(found.points, expected.points)


def test_a_camera_without_focal_length_is_an_error() -> None:
    frame = scene()
    frame.intrinsics[0, 0] = 0.0
    with pytest.raises(InvalidValueError, match=r"focal lengths must be positive, got 0\.0"):
        PointCloudGenerator().generate(frame)


def test_settings_that_leave_no_points_are_refused() -> None:
    with pytest.raises(ConfigError, match="far must exceed near"):
        PointCloudConfig(near=2.0, far=1.0)


def test_points_agree_with_those_of_open3d() -> None:
    o3d = pytest.importorskip("open3d")
    frame = scene()
    matrix = frame.intrinsics
    image = o3d.geometry.RGBDImage.create_from_color_and_depth(
        o3d.geometry.Image(frame.rgb),
        o3d.geometry.Image(frame.depth),
        depth_scale=1.0,
        depth_trunc=100.0,
        convert_rgb_to_intensity=False,
    )
    pinhole = o3d.camera.PinholeCameraIntrinsic(
        160, 120, matrix[0, 0], matrix[1, 1], matrix[0, 2], matrix[1, 2]
    )
    peer = o3d.geometry.PointCloud.create_from_rgbd_image(
        image, pinhole, np.linalg.inv(frame.extrinsics)
    )
    cloud = PointCloudGenerator().generate(frame)
    np.testing.assert_allclose(cloud.points, np.asarray(peer.points), atol=1e-5)
    np.testing.assert_allclose(cloud.colors / 255.0, np.asarray(peer.colors), atol=1e-6)
