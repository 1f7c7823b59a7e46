# SPDX-License-Identifier: Apache-2.0
"""An Intel RealSense through its ROS 2 driver."""

from teleop_system.devices.ros2_rgbd_topics import CameraTopics, RGBDTopicCamera


class RealSenseCamera(RGBDTopicCamera):
    """Colour and aligned depth of `realsense2_camera`, whichever names its version gives them.

    The driver has to align depth to colour: `align_depth.enable:=true enable_sync:=true`.

    Args:
        namespace: Namespace of the driver.
        camera: Name of the camera within it; drivers before 4.55 leave it out.
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


def _topics(prefix: str) -> CameraTopics:
    return CameraTopics(
        color=f"{prefix}/color/image_raw",
        depth=f"{prefix}/aligned_depth_to_color/image_raw",
        info=f"{prefix}/color/camera_info",
    )
