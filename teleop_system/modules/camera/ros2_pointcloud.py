# SPDX-License-Identifier: Apache-2.0
"""Points as `sensor_msgs/PointCloud2`, as RViz and PCL read them."""

import array

import numpy as np
from builtin_interfaces.msg import Time
from sensor_msgs.msg import PointCloud2, PointField
from std_msgs.msg import Header

from teleop_system.modules.camera.pointcloud_generator import PointCloud

_LAYOUT = np.dtype([("x", "<f4"), ("y", "<f4"), ("z", "<f4"), ("rgb", "<u4")])


def pointcloud_to_msg(cloud: PointCloud, frame_id: str, stamp: Time) -> PointCloud2:
    """Return the message of a cloud; colours are packed in a float, as PCL has them.

    Args:
        cloud: The points.
        frame_id: Name of their axes.
        stamp: Time of exposure on the clock of ROS.
    """
    rows = np.empty(len(cloud.points), _LAYOUT)
    for axis, name in enumerate("xyz"):
        rows[name] = cloud.points[:, axis]
    red, green, blue = cloud.colors.astype(np.uint32).T
    rows["rgb"] = (red << 16) | (green << 8) | blue
    kind = PointField.FLOAT32
    fields = [
        PointField(name=name, offset=4 * place, datatype=kind, count=1)
        for place, name in enumerate(_LAYOUT.names or ())
    ]
    message = PointCloud2(
        header=Header(frame_id=frame_id, stamp=stamp),
        height=1,
        width=len(rows),
        fields=fields,
        is_bigendian=False,
        point_step=_LAYOUT.itemsize,
        row_step=_LAYOUT.itemsize * len(rows),
        is_dense=True,
    )
    message.data = array.array("B", rows.tobytes())  # Anything else is checked byte by byte.
    return message
