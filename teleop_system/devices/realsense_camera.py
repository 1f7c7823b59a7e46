# SPDX-License-Identifier: Apache-2.0
"""An Intel RealSense camera through its ROS 2 driver."""

from teleop_system.devices.ros2_rgbd_topics import CameraTopicNames, RGBDTopicCamera


class RealSenseCamera(RGBDTopicCamera):
    """Colour and aligned depth of `realsense2_camera`, old and new topic names.

    The driver must align depth to colour: `align_depth.enable:=true enable_sync:=true`.

    Args:
        namespace: Namespace of the driver.
        camera: Name of the camera within it; drivers before 4.55 omit it.
        patience: Longest wait for the first frame in [s].
    """

    def __init__(
        self, namespace: str = "camera", camera: str = "camera", *, patience: float = 5.0
    ) -> None:
        super().__init__(
            "RealSense camera",
            _topics(f"/{namespace}/{camera}"),
            _topics(f"/{camera}"),
            patience=patience,
        )


def _topics(prefix: str) -> CameraTopicNames:
    return CameraTopicNames(
        color=f"{prefix}/color/image_raw",
        depth=f"{prefix}/aligned_depth_to_color/image_raw",
        info=f"{prefix}/color/camera_info",
    )
