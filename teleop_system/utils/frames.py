# SPDX-License-Identifier: Apache-2.0
"""Axes and quaternion orders of other systems, to ROS and back.

ROS (REP-103) is x forward, y left, z up, and quaternions are xyzw. Other conventions:

| convention    | forward | left | up | quaternion |
|---------------|---------|------|----|------------|
| SteamVR       | -z      | -x   | y  | wxyz       |
| WebXR         | -z      | -x   | y  | xyzw       |
| BVH           | z       | x    | y  | wxyz       |
| MuJoCo        | x       | y    | z  | wxyz       |
| optical frame | z       | -x   | -y | xyzw       |
| OpenGL camera | -z      | -x   | y  | xyzw       |

All are right-handed, so a rotation is converted by renaming the axes of its vector part. SteamVR,
WebXR and BVH poses are renamed on both sides, world and body: a device at rest is the identity
before and after. A camera frame is different: it is another frame on the same camera, rotated
relative to its ROS frame, and its orientation has that rotation on the right.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from teleop_system.exceptions import InvalidPoseError, UnknownNameError
from teleop_system.utils._arrays import Array, as_matrices, as_vectors
from teleop_system.utils.quaternions import quat_from_matrix, quat_multiply

OPTICAL_IN_CAMERA = np.array([-0.5, 0.5, -0.5, 0.5])
"""Orientation xyzw of the optical frame in the camera's ROS frame: rpy (-pi/2, 0, -pi/2)."""
OPTICAL_IN_CAMERA.setflags(write=False)
BVH_UP_AXES = ("y", "z")
"""Axes of a BVH file that may point up."""


def wxyz_to_xyzw(q: ArrayLike) -> Array:
    """Return a quaternion with its scalar moved from first to last."""
    return _pick(q, "quaternion", (1, 2, 3, 0))


def xyzw_to_wxyz(q: ArrayLike) -> Array:
    """Return a quaternion with its scalar moved from last to first."""
    return _pick(q, "quaternion", (3, 0, 1, 2))


def steamvr_to_ros2_position(position: ArrayLike) -> Array:
    """Return a SteamVR position [m] (..., 3) in ROS axes; a metre ahead becomes +x."""
    return _pick(position, "position", (2, 0, 1), (-1.0, -1.0, 1.0))


def steamvr_to_ros2_quaternion(q: ArrayLike) -> Array:
    """Return a SteamVR orientation wxyz as a ROS orientation xyzw."""
    return _pick(q, "quaternion", (3, 1, 2, 0), (-1.0, -1.0, 1.0, 1.0))


def ros2_to_steamvr_position(position: ArrayLike) -> Array:
    """Return a ROS position [m] (..., 3) in SteamVR axes."""
    return _pick(position, "position", (1, 2, 0), (-1.0, 1.0, -1.0))


def ros2_to_steamvr_quaternion(q: ArrayLike) -> Array:
    """Return a ROS orientation xyzw as a SteamVR orientation wxyz."""
    return _pick(q, "quaternion", (3, 1, 2, 0), (1.0, -1.0, 1.0, -1.0))


def openvr_matrix_to_ros2(matrix: ArrayLike) -> tuple[Array, Array]:
    """Return ROS position [m] and quaternion xyzw of OpenVR [R|t] matrices (..., 3, 4).

    Raises:
        InvalidPoseError: If [R|t] is not a rotation and a finite translation.
    """
    array = as_matrices(matrix, 3, 4, "OpenVR pose")
    translation = array[..., 3]
    if not np.isfinite(translation).all():
        raise InvalidPoseError(f"an OpenVR pose needs finite numbers, got {array.tolist()}")
    quaternion = quat_from_matrix(array[..., :3])
    return steamvr_to_ros2_position(translation), webxr_to_ros2_quaternion(quaternion)


def webxr_to_ros2_position(position: ArrayLike) -> Array:
    """Return a WebXR position [m] (..., 3) in ROS axes."""
    return steamvr_to_ros2_position(position)


def webxr_to_ros2_quaternion(q: ArrayLike) -> Array:
    """Return a WebXR orientation xyzw as a ROS orientation xyzw."""
    return _pick(q, "quaternion", (2, 0, 1, 3), (-1.0, -1.0, 1.0, 1.0))


def ros2_to_webxr_position(position: ArrayLike) -> Array:
    """Return a ROS position [m] (..., 3) in WebXR axes."""
    return ros2_to_steamvr_position(position)


def ros2_to_webxr_quaternion(q: ArrayLike) -> Array:
    """Return a ROS orientation xyzw as a WebXR orientation xyzw."""
    return _pick(q, "quaternion", (1, 2, 0, 3), (-1.0, 1.0, -1.0, 1.0))


def mujoco_to_ros2_quaternion(q: ArrayLike) -> Array:
    """Return a MuJoCo orientation wxyz as xyzw; the axes are those of ROS already."""
    return _pick(q, "quaternion", (1, 2, 3, 0))


def ros2_to_mujoco_quaternion(q: ArrayLike) -> Array:
    """Return a ROS orientation xyzw as MuJoCo's wxyz."""
    return xyzw_to_wxyz(q)


def bvh_to_ros2_position(position: ArrayLike, scale: float = 1.0, up: str = "y") -> Array:
    """Return a BVH position (..., 3) in ROS axes and [m].

    Args:
        position: In the units of the file.
        scale: Length of one such unit in [m].
        up: Axis of the file that points up: "y", with z ahead, or "z", with -y ahead. The left
            side is x in both.
    """
    if _is_z_up(up):
        return scale * _pick(position, "position", (1, 0, 2), (-1.0, 1.0, 1.0))
    return scale * _pick(position, "position", (2, 0, 1))


def bvh_to_ros2_quaternion(q: ArrayLike, up: str = "y") -> Array:
    """Return a BVH orientation wxyz as a ROS orientation xyzw; `up` as for positions."""
    if _is_z_up(up):
        return _pick(q, "quaternion", (2, 1, 3, 0), (-1.0, 1.0, 1.0, 1.0))
    return _pick(q, "quaternion", (3, 1, 2, 0))


def ros2_to_bvh_position(position: ArrayLike, scale: float = 1.0) -> Array:
    """Return a ROS position [m] (..., 3) in BVH axes and units of `scale` [m] each."""
    if not (math.isfinite(scale) and scale > 0.0):
        raise InvalidPoseError(f"the length of a BVH unit must be positive, got {scale}")
    return _pick(position, "position", (1, 2, 0)) / scale


def ros2_to_bvh_quaternion(q: ArrayLike) -> Array:
    """Return a ROS orientation xyzw as a BVH orientation wxyz."""
    return _pick(q, "quaternion", (3, 1, 2, 0))


def optical_to_camera_position(position: ArrayLike) -> Array:
    """Return a point of the optical frame (z ahead, x right, y down) in the ROS camera frame."""
    return _pick(position, "position", (2, 0, 1), (1.0, -1.0, -1.0))


def camera_to_optical_position(position: ArrayLike) -> Array:
    """Return a point of the ROS camera frame (x ahead, y left, z up) in the optical frame."""
    return _pick(position, "position", (1, 2, 0), (-1.0, -1.0, 1.0))


def camera_to_optical_quaternion(q: ArrayLike) -> Array:
    """Return the optical orientation of a camera with the ROS orientation `q`."""
    return quat_multiply(q, OPTICAL_IN_CAMERA)


def optical_to_camera_quaternion(q: ArrayLike) -> Array:
    """Return the ROS orientation of a camera with the optical orientation `q`."""
    return quat_multiply(q, OPTICAL_IN_CAMERA * (-1.0, -1.0, -1.0, 1.0))


def opengl_to_optical_quaternion(q: ArrayLike) -> Array:
    """Return the optical orientation of a MuJoCo or OpenGL camera (x right, y up) at `q`."""
    return quat_multiply(q, (1.0, 0.0, 0.0, 0.0))


def opengl_to_optical_matrix(matrix: ArrayLike) -> Array:
    """Return the optical rotation (..., 3, 3) of a MuJoCo or OpenGL camera, such as cam_xmat."""
    return as_matrices(matrix, 3, 3, "rotation") * (1.0, -1.0, -1.0)


def _is_z_up(up: str) -> bool:
    if up not in BVH_UP_AXES:
        raise UnknownNameError("up axis of a BVH file", up, BVH_UP_AXES)
    return up == "z"


def _pick(
    value: ArrayLike, name: str, order: tuple[int, ...], signs: tuple[float, ...] = ()
) -> Array:
    """Return the components of vectors in another order, with other signs."""
    picked = as_vectors(value, len(order), name).take(order, axis=-1)
    return np.asarray(picked * signs) if signs else picked
