# SPDX-License-Identifier: Apache-2.0
"""One chain's target, how far the chain is from it, and the step to take towards it.

Runs for every chain of every tick on three or four numbers at a time, where plain floats are
several times faster than arrays; hence the unrolled arithmetic.
"""

from collections.abc import Sequence
from math import atan2, sqrt

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import InvalidPoseError
from teleop_system.interfaces import Pose6D
from teleop_system.solvers.chain_config import ChainConfig

Array = NDArray[np.float64]
Vector = Sequence[float]
Twist = tuple[float, float, float, float, float, float]

ZERO = (0.0, 0.0, 0.0)
NO_TWIST = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)

UNIT_TOLERANCE = 1e-3
"""How far the length of a target's quaternion may be from 1 before it is refused."""
TWICE_TOLERANCE = 2.0 * UNIT_TOLERANCE
FULL_SAY = (0.1, 0.5)
"""Errors [m], [rad] up to which a chain has all of its weight."""
LEAST_SAY = 1e-3
"""Part of its weights, squared, that a chain always has."""
LEVER = 0.5
"""Distance from a joint to the frame it moves that damping reckons with in [m]."""
CURVED = 0.02**2
"""Square of the part of a target's motion that a tick may leave over because it is curved."""
FARTHEST = 1e6
"""Coordinates of a target beyond this [m] are taken as this, lest their squares overflow."""
TARGET_ACCELERATION = (15.0, 60.0)
"""Changes of a target's velocity up to these [m/s^2], [rad/s^2] count as motion that is to be
followed without lag; what is faster is a jump, to be caught up with."""


class ChainTask:
    """Follows one target with one frame.

    The step asked for is the target's own motion since the last tick, plus what is left of the
    old error, shortened so that the chain arrives without overshooting: with `A` the planned
    deceleration, a distance `s` is closed by `sqrt((A dt²)² + 2 A dt² s) - A dt²`, nearly all
    of it where `s` is small against `A dt²`.
    """

    __slots__ = (
        "_bias",
        "_is_held",
        "_motion",
        "_quaternion",
        "_rates",
        "_residual",
        "_target",
        "_target_quaternion",
        "_views",
        "_weights",
        "away",
        "config",
        "damping",
        "name",
        "position",
        "share",
        "step",
    )

    def __init__(self, name: str, config: ChainConfig, position: Array, rotation: Array) -> None:
        self.name = name
        self.config = config
        self.position: Vector = ZERO
        """Where the frame is in the world [m], as of the last `observe()`."""
        self.step: Twist = NO_TWIST
        """Step asked for in this tick: linear [m], then angular [rad], world axes."""
        self.share = 1.0
        """Part of its weights, squared, that the chain has in this tick: the farther away its
        target, the less, so that no unreachable target drags the other chains off theirs."""
        self.damping = 0.0
        """Damping that the part of `step` which is catching up asks for."""
        self.away = (0.0, 0.0)
        """Distances from the target in [m] and [rad], as of the last `measure()`."""
        self._views = (position, rotation)
        self._weights = (config.position_weight**2, config.orientation_weight**2)
        self._rates = (0.0,) * 6
        self._is_held = False
        self._bias = NO_TWIST
        self._motion = NO_TWIST
        self._residual = NO_TWIST
        self._quaternion = self._target_quaternion = (0.0, 0.0, 0.0, 1.0)
        self._target: Vector = ZERO

    def set_period(self, dt: float) -> None:
        """Prepare for ticks of `dt` [s]; the target is taken to be at rest."""
        config = self.config
        linear, angular = config.linear_acceleration, config.angular_acceleration
        jumps = [value * dt * dt for value in TARGET_ACCELERATION]
        self._rates = (
            *(linear * dt * dt, jumps[0], config.linear_speed * dt),
            *(angular * dt * dt, jumps[1], config.angular_speed * dt),
        )
        self._motion = NO_TWIST

    def observe(self) -> None:
        """Read the frame's placement after the forward kinematics were updated."""
        position, rotation = self._views
        self.position = position.tolist()
        (a, b, c), (d, e, f), (g, h, i) = rotation.tolist()
        trace = a + e + i
        if trace > 0.0:
            s = sqrt(trace + 1.0)
            k = 0.5 / s
            self._quaternion = ((h - f) * k, (c - g) * k, (d - b) * k, 0.5 * s)
        elif a >= e and a >= i:
            s = sqrt(1.0 + a - e - i)
            k = 0.5 / s
            self._quaternion = (0.5 * s, (b + d) * k, (c + g) * k, (h - f) * k)
        elif e >= i:
            s = sqrt(1.0 + e - a - i)
            k = 0.5 / s
            self._quaternion = ((b + d) * k, 0.5 * s, (f + h) * k, (c - g) * k)
        else:
            s = sqrt(1.0 + i - a - e)
            k = 0.5 / s
            self._quaternion = ((c + g) * k, (f + h) * k, 0.5 * s, (d - b) * k)

    def aim(self, pose: Pose6D) -> None:
        """Take a new target.

        Raises:
            InvalidPoseError: It is marked invalid or its quaternion is not of unit length.
        """
        if not pose.valid:
            raise InvalidPoseError(f"the target of {self.name!r} is marked invalid")
        x, y, z, w = pose.orientation.tolist()
        squared = x * x + y * y + z * z + w * w
        if not 1.0 - TWICE_TOLERANCE < squared < 1.0 + TWICE_TOLERANCE:  # NaN fails, too.
            raise InvalidPoseError(
                f"the target of {self.name!r} needs a unit quaternion, "
                f"got one of length {sqrt(squared):.6g}"
            )
        k = 1.0 / sqrt(squared)
        self._target_quaternion = (x * k, y * k, z * k, w * k)
        self._target = x, y, z = pose.position.tolist()
        if not (
            -FARTHEST < x < FARTHEST and -FARTHEST < y < FARTHEST and -FARTHEST < z < FARTHEST
        ):
            self._target = [max(-FARTHEST, min(FARTHEST, value)) for value in (x, y, z)]
        self._is_held = False

    def hold(self) -> None:
        """Keep the pose the frame had when it was last told where to go, or has now."""
        if not self._is_held:
            self._target = self.position
            self._target_quaternion = self._quaternion
            self._is_held = True
            self.forget_motion()

    def forget_motion(self) -> None:
        """Start anew: the target is taken to be at rest, the error all still to be closed."""
        self._bias = NO_TWIST
        self._motion = NO_TWIST
        self._residual = self._error()

    def release(self) -> None:
        """Let the next `hold()` take the pose of that moment."""
        self._is_held = False

    def measure(self) -> tuple[float, float]:
        """Return the distances from the target in [m] and [rad], after `observe()`."""
        self._residual = x, y, z, rx, ry, rz = self._error()
        self.away = sqrt(x * x + y * y + z * z), sqrt(rx * rx + ry * ry + rz * rz)
        return self.away

    def plan(self) -> None:
        """Compute `step` and `damping` of a tick."""
        ex, ey, ez, fx, fy, fz = self._error()
        sx, sy, sz, tx, ty, tz = self.step
        slow, jump, fast, turn_slow, turn_jump, turn_fast = self._rates
        rx, ry, rz, ux, uy, uz = self._residual
        mx, my, mz = ex - rx, ey - ry, ez - rz
        nx, ny, nz = fx - ux, fy - uy, fz - uz
        dx, dy, dz = ex - sx, ey - sy, ez - sz
        gx, gy, gz = fx - tx, fy - ty, fz - tz
        if (
            dx * dx + dy * dy + dz * dz < slow * slow
            and gx * gx + gy * gy + gz * gz < turn_slow * turn_slow
        ):
            # Going on as before closes the whole error: nothing is left to be shortened.
            bx, by, bz, cx, cy, cz = self._bias
            if rx * rx + ry * ry + rz * rz < CURVED * (
                mx * mx + my * my + mz * mz
            ) and ux * ux + uy * uy + uz * uz < CURVED * (nx * nx + ny * ny + nz * nz):
                # What every tick leaves over, for motions are not as straight as steps.
                bx, by, bz, cx, cy, cz = bx + rx, by + ry, bz + rz, cx + ux, cy + uy, cz + uz
            else:
                bx = by = bz = cx = cy = cz = 0.0
            self._bias = (bx, by, bz, cx, cy, cz)
            self.step = (ex + bx, ey + by, ez + bz, fx + cx, fy + cy, fz + cz)
            self.damping, self.share = 0.0, 1.0
            self._motion = (mx, my, mz, nx, ny, nz)
            return
        self._bias = NO_TWIST
        ax, ay, az, bx, by, bz = self._motion
        ax, ay, az = _nearer((ax, ay, az), (mx, my, mz), jump)
        bx, by, bz = _nearer((bx, by, bz), (nx, ny, nz), turn_jump)
        self._motion = (ax, ay, az, bx, by, bz)
        cx, cy, cz, close, far = _shortened(ex - ax, ey - ay, ez - az, slow, fast)
        hx, hy, hz, turn, turned = _shortened(fx - bx, fy - by, fz - bz, turn_slow, turn_fast)
        self.step = (ax + cx, ay + cy, az + cz, bx + hx, by + hy, bz + hz)
        weight, turn_weight = self._weights
        distance, angle = FULL_SAY
        self.share = share = max(LEAST_SAY, 1.0 / max(1.0, far / distance, turned / angle))
        self.damping = share * (weight * close * LEVER + turn_weight * turn)

    def target_from(self, position: Vector, quaternion: Vector) -> Twist:
        """Return how the target lies from a pose: [m] and [rad], world axes."""
        return _twist(position, quaternion, self._target, self._target_quaternion)

    def _error(self) -> Twist:
        return _twist(self.position, self._quaternion, self._target, self._target_quaternion)


def _twist(position: Vector, quaternion: Vector, target: Vector, turned: Vector) -> Twist:
    """Return the way from a pose to another: translation and rotation vector, world axes."""
    px, py, pz = position
    tx, ty, tz = target
    ax, ay, az, aw = turned
    bx, by, bz, bw = quaternion
    # The rotation from the one to the other in world axes: second times inverse first.
    x = ax * bw - aw * bx - ay * bz + az * by
    y = ay * bw - aw * by + ax * bz - az * bx
    z = az * bw - aw * bz - ax * by + ay * bx
    w = aw * bw + ax * bx + ay * by + az * bz
    sine = sqrt(x * x + y * y + z * z)
    if sine < 1e-9:
        k = 2.0 if w > 0.0 else -2.0
    elif w > 0.0:
        k = 2.0 * atan2(sine, w) / sine
    else:
        k = 2.0 * atan2(-sine, -w) / sine
    return tx - px, ty - py, tz - pz, x * k, y * k, z * k


def _nearer(old: Vector, new: Vector, limit: float) -> Vector:
    """Return `new`, or what lies `limit` from `old` on the way there where it is further."""
    ox, oy, oz = old
    nx, ny, nz = new
    dx, dy, dz = nx - ox, ny - oy, nz - oz
    change = sqrt(dx * dx + dy * dy + dz * dz)
    if change <= limit:
        return new
    k = limit / change
    return ox + dx * k, oy + dy * k, oz + dz * k


def _shortened(
    x: float, y: float, z: float, brake: float, fastest: float
) -> tuple[float, float, float, float, float]:
    """Return the step that closes the distance, its length, and the distance."""
    left = sqrt(x * x + y * y + z * z)
    if left < 1e-12:
        return x, y, z, left, left
    close = min(sqrt(brake * (brake + 2.0 * left)) - brake, fastest)
    k = close / left
    return x * k, y * k, z * k, close, left
