# SPDX-License-Identifier: Apache-2.0
"""Geometry of the Tesollo DG-5F: joints, limits, forward kinematics and Jacobians of five fingers.

Everything is written for the right hand. The left hand is its mirror image in the xz-plane: its
inputs and outputs are mirrored. The hand frame is that of the mount: +z along the fingers, +x out
of the palm, thumb towards +y (left: -y). Functions take H hands at once, because NumPy's cost is
per call.

Point positions and their derivatives are linear in products of sines and cosines of a finger's
angles. One constant matrix per finger times these products gives all points and Jacobians.
"""

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

FINGERS = ("thumb", "index", "middle", "ring", "pinky")
JOINTS_PER_FINGER = 4
JOINT_COUNT = len(FINGERS) * JOINTS_PER_FINGER
FINGER_RADIUS = 0.0105
"""Radius of the capsules that model the finger links in [m]."""
TIP_CENTRE = 0.0071
"""Distance from the tip frame to the centre of the round finger tip in [m]."""

_PALM = 0.0738
_LONG = [[0.01765, 0.0, 0.0265], [0.0, 0.0, 0.0388], [0.0, 0.0, 0.0388], [0.0, 0.0, 0.0255]]
_OFFSETS = np.array(
    [
        [[-0.0162, 0.019, 0.0128], [0.04195, 0, 0], [0, 0.031, 0], [0, 0.0388, 0], [0, 0.0363, 0]],
        [[-0.0071, 0.027, 0.0661], *_LONG],
        [[-0.0071, 0.0025, 0.0701], *_LONG],
        [[-0.0071, -0.022, 0.0621], *_LONG],
        [[0.0103, -0.0195, 0.0182], [0, -0.028, 0.0381], [0, 0, 0.031], [0, 0, 0.0388],
         [0, 0, 0.0363]],
    ]
)  # fmt: skip  # (5, 5, 3)
_OFFSETS[:, 0, 2] += _PALM
_AXES = np.eye(3)[[[0, 2, 0, 0], [0, 1, 1, 1], [0, 1, 1, 1], [0, 1, 1, 1], [2, 0, 1, 1]]]

_RIGHT_ANGLE = np.pi / 2
LOWER = np.array(
    [
        [-0.3839724354387525, -np.pi, -_RIGHT_ANGLE, -_RIGHT_ANGLE],
        [-0.4188790204786391, 0.0, -_RIGHT_ANGLE, -_RIGHT_ANGLE],
        [-0.6108652381980153, 0.0, -_RIGHT_ANGLE, -_RIGHT_ANGLE],
        [-0.6108652381980153, 0.0, -_RIGHT_ANGLE, -_RIGHT_ANGLE],
        [-0.0174532925199433, -0.4188790204786391, -_RIGHT_ANGLE, -_RIGHT_ANGLE],
    ]
).ravel()
"""Lower limits of the right hand in [rad], shape (20,)."""
UPPER = np.array(
    [
        [0.8901179185171081, 0.0, _RIGHT_ANGLE, _RIGHT_ANGLE],
        [0.6108652381980153, 2.007128639793479, _RIGHT_ANGLE, _RIGHT_ANGLE],
        [0.6108652381980153, 1.954768762233649, _RIGHT_ANGLE, _RIGHT_ANGLE],
        [0.4188790204786391, 1.902408884673819, _RIGHT_ANGLE, _RIGHT_ANGLE],
        [1.047197551196598, 0.6108652381980153, _RIGHT_ANGLE, _RIGHT_ANGLE],
    ]
).ravel()
"""Upper limits of the right hand in [rad], shape (20,)."""
# The last two joints of a finger can bend backwards; those of a person cannot.
CURL_LOWER = np.where(np.tile([False, False, True, True], 5), 0.0, LOWER)
"""Lower limits of the right hand in [rad] where fingers may only curl, shape (20,)."""

MIRROR = np.array([-1, -1, -1, -1] + [-1, 1, 1, 1] * 3 + [-1, -1, 1, 1], dtype=np.float64)
"""Factor that converts joint positions between left and right hand, shape (20,)."""
MIRROR_POINT = np.array([1.0, -1.0, 1.0])
"""Factor that converts points in the hand frame between left and right hand."""

for _constant in (_OFFSETS, _AXES, LOWER, UPPER, CURL_LOWER, MIRROR, MIRROR_POINT):
    _constant.setflags(write=False)


def joint_names(side: str) -> tuple[str, ...]:
    """Return the 20 joint names of the left or right hand in vector order."""
    return tuple(
        f"{side[0]}j_dg_{finger}_{joint}" for finger in range(1, 6) for joint in range(1, 5)
    )


class FingerPoints(NamedTuple):
    """Joints 2, 3, 4 and the tip of each finger of H right hands.

    Attributes:
        points: In the hand frame in [m], shape (5, H, 4, 3).
        jacobians: Derivatives by the four joints of the finger in [m/rad], shape
            (5, H, 4, 4, 3): finger, hand, point, joint, component.
    """

    points: Array
    jacobians: Array

    @property
    def tips(self) -> Array:
        """Finger tips in [m], shape (5, H, 3)."""
        return self.points[:, :, 3]


def finger_points(positions: Array, *, extension: float = 0.0) -> FingerPoints:
    """Return points along the fingers of right hands, and their Jacobians.

    Args:
        positions: Joint positions of right hands in [rad], shape (H, 20).
        extension: Distance from the tip frame to the point taken as tip, in [m].
    """
    hands = len(positions)
    values = np.matmul(_products(positions), _tables(extension)[1])  # (5, H, 60)
    points = values[:, :, :_POINTS].reshape(5, hands, 4, 3)
    return FingerPoints(points, values[:, :, _POINTS:].reshape(5, hands, 4, 4, 3))


def finger_positions(positions: Array, *, extension: float = 0.0) -> Array:
    """Return the points of `finger_points()` without Jacobians, shape (5, H, 4, 3)."""
    values: Array = np.matmul(_products(positions), _tables(extension)[0])
    return values.reshape(5, len(positions), 4, 3)


def tip_positions(positions: Array, side: str) -> Array:
    """Return the five tip frames' origins [m], shape (5, 3), for positions [rad], shape (20,)."""
    if side == "right":
        right: Array = finger_positions(positions[None])[:, 0, 3]
        return right
    mirrored: Array = finger_positions((MIRROR * positions)[None])[:, 0, 3] * MIRROR_POINT
    return mirrored


_POINTS = 12
_PRODUCTS = 45


def _products(positions: Array) -> Array:
    """Return (1, s1, c1) x (1, s2, c2) x (1, s3, c3, s34, c34) of all fingers, (5, H, 45)."""
    hands = len(positions)
    angles = positions.reshape(hands, 5, 4).transpose(1, 0, 2).copy()
    angles[..., 3] += angles[..., 2]
    terms = np.ones((5, hands, 4, 3))
    np.sin(angles, out=terms[..., 1])
    np.cos(angles, out=terms[..., 2])
    plane = terms.reshape(5, hands, 1, 12)[..., _PLANE_TERMS]
    first_two = terms[:, :, 0, :, None] * terms[:, :, 1, None, :]
    return (first_two.reshape(5, hands, 9, 1) * plane).reshape(5, hands, _PRODUCTS)


_PLANE_TERMS = np.array([6, 7, 8, 10, 11])
# Row m holds the derivative of term m in terms of all: (1, s, c)' = (0, c, -s).
_ANGLE_RATE = np.array([[0, 0, 0], [0, 0, 1], [0, -1, 0]], dtype=np.float64)
_LAST_RATE = np.zeros((5, 5))
_LAST_RATE[3, 4], _LAST_RATE[4, 3] = 1.0, -1.0
_PLANE_RATE = _LAST_RATE.copy()
_PLANE_RATE[1, 2], _PLANE_RATE[2, 1] = 1.0, -1.0


@functools.cache
def _tables(extension: float) -> tuple[Array, Array]:
    """Return the coefficients of the products: (5, 45, 12), and (5, 45, 60) with Jacobians."""
    points = np.stack([_point_table(finger, extension) for finger in range(5)])
    rates = [
        np.einsum("fijmpc,in->fnjmpc", points, _ANGLE_RATE),
        np.einsum("fijmpc,jn->finmpc", points, _ANGLE_RATE),
        np.einsum("fijmpc,mn->fijnpc", points, _PLANE_RATE),
        np.einsum("fijmpc,mn->fijnpc", points, _LAST_RATE),
    ]
    positions = points.reshape(5, _PRODUCTS, _POINTS)
    jacobians = np.stack(rates, axis=-2).reshape(5, _PRODUCTS, -1)
    return positions, np.concatenate([positions, jacobians], axis=-1)


def _point_table(finger: int, extension: float) -> Array:
    """Return the coefficients of joints 2, 3, 4 and the tip of a finger, (3, 3, 5, 4, 3)."""
    base, to_second, *links = _OFFSETS[finger]
    along = links[-1] / np.linalg.norm(links[-1])
    across = np.cross(_AXES[finger, 3], along)
    lengths = [float(link @ along) for link in links]
    lengths[2] += extension
    # In the plane of the last joints, per point: coefficients of 1, s3, c3, s34 and c34.
    plane = np.zeros((5, 4, 3))
    plane[0, 1:] = lengths[0] * along
    plane[1, 2:], plane[2, 2:] = lengths[1] * across, lengths[1] * along
    plane[3, 3:], plane[4, 3:] = lengths[2] * across, lengths[2] * along
    first, second = (_rotation_terms(axis) for axis in _AXES[finger, :2])
    table: Array = np.einsum("iab,jbc,mpc->ijmpa", first, second, plane)
    table[:, 0, 0] += (first @ to_second)[:, None, :]
    table[0, 0, 0] += base
    return table


def _rotation_terms(axis: Array) -> Array:
    """Return the coefficients of 1, sin and cos in a rotation matrix about an axis, (3, 3, 3)."""
    k = np.cross(np.eye(3), axis)
    return np.stack([np.eye(3) + k @ k, k, -k @ k])
