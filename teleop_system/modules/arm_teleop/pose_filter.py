# SPDX-License-Identifier: Apache-2.0
"""Smoothing of a tracker's poses: calm at rest, prompt in motion, and a little ahead of time.

A one-euro filter (Casiez, Roussel and Vogel, CHI 2012) for position and rotation that is moved on
with its own estimate of the speed before each correction, as far as that speed stands out from
the noise. On the hands of three simulated people, 30 s each at 100 Hz, with noise of 2 mm and
0.5 degrees on every axis, three filters that leave the same noise at rest (1.0 mm, 0.27 degrees):

| filter                   | lag position, rotation | error in motion    |
|--------------------------|------------------------|--------------------|
| fixed low-pass of 2.8 Hz | 50 ms, 50 ms           | 8.0 mm, 1.03 deg   |
| one-euro                 | 14 ms, 19 ms           | 2.8 mm, 0.49 deg   |
| this one                 | 9.5 ms, 14 ms          | 2.4 mm, 0.43 deg   |
"""

from math import exp, expm1, pi, sqrt

from teleop_system.modules.arm_teleop.config import SmoothingConfig
from teleop_system.modules.arm_teleop.spatial import (
    ORIGIN,
    Placement,
    Quaternion,
    Vector,
    from_rotation_vector,
    multiply,
)

STILL: Vector = (0.0, 0.0, 0.0)
TURN = 2.0 * pi


class PoseFilter:
    """Smooths the poses of one tracker and tells where it is by now."""

    __slots__ = (
        "_coast",
        "_is_empty",
        "_pose",
        "_position_terms",
        "_raw",
        "_rotation_terms",
        "_spin",
        "_turn",
        "_velocity",
        "_way",
    )

    def __init__(self, config: SmoothingConfig) -> None:
        self._position_terms = (
            TURN * config.min_cutoff,
            TURN * config.beta,
            TURN * config.derivative_cutoff,
            config.lead,
            config.rest_speed,
        )
        self._rotation_terms = (
            TURN * config.turn_min_cutoff,
            TURN * config.turn_beta,
            TURN * config.turn_derivative_cutoff,
            config.lead,
            config.rest_turn,
        )
        self._coast = config.coast_time
        self.reset()

    def reset(self) -> None:
        """Forget the past; the next pose passes unchanged."""
        self._is_empty = True
        self._pose = self._raw = ORIGIN
        self._velocity = self._spin = STILL  # As estimated, noise and all.
        self._way = self._turn = STILL  # As far as they are believed.

    def update(self, position: Vector, orientation: Quaternion, dt: float) -> None:
        """Take a pose measured `dt` [s] after the last; the quaternion is of unit length."""
        if self._is_empty:
            self._is_empty = False
            self._pose = (position, orientation)
        elif dt > 0.0:
            self._pose = (self._translate(position, dt), self._rotate(orientation, dt))
        else:
            return
        self._raw = (position, orientation)

    def predict(self, age: float) -> Placement:
        """Return where the body is `age` [s] after the newest pose, coming to rest by and by."""
        if age <= 0.0:
            return self._pose
        time = -self._coast * expm1(-age / self._coast)
        (px, py, pz), q = self._pose
        (vx, vy, vz), (wx, wy, wz) = self._way, self._turn
        turn = from_rotation_vector((wx * time, wy * time, wz * time))
        return (px + vx * time, py + vy * time, pz + vz * time), multiply(turn, q)

    def left(self, age: float) -> tuple[float, float]:
        """Return how far in [m] and [rad] `predict()` has still to go at an age [s]."""
        time = self._coast * exp(-max(age, 0.0) / self._coast)
        return time * _length(self._way), time * _length(self._turn)

    # Both run for every tracker of every tick, hence the unrolled arithmetic.

    def _translate(self, position: Vector, dt: float) -> Vector:
        least, rise, pace, lead, rest = self._position_terms
        x, y, z = position
        ox, oy, oz = self._raw[0]
        vx, vy, vz = self._velocity
        k = -expm1(-pace * dt)
        vx += k * ((x - ox) / dt - vx)
        vy += k * ((y - oy) / dt - vy)
        vz += k * ((z - oz) / dt - vz)
        self._velocity = (vx, vy, vz)
        speed = sqrt(vx * vx + vy * vy + vz * vz)
        trust = lead * speed / (speed + rest)
        self._way = vx, vy, vz = trust * vx, trust * vy, trust * vz
        px, py, pz = self._pose[0]
        px, py, pz = px + vx * dt, py + vy * dt, pz + vz * dt
        k = -expm1(-(least + rise * speed) * dt)
        return px + k * (x - px), py + k * (y - py), pz + k * (z - pz)

    def _rotate(self, orientation: Quaternion, dt: float) -> Quaternion:
        # Turns from sample to sample are small, and so are the steps of the filter: to first
        # order a turn is twice the vector part, and a step is along the chord.
        least, rise, pace, lead, rest = self._rotation_terms
        x, y, z, w = orientation
        ox, oy, oz, ow = self._raw[1]
        rate = 2.0 / dt if ow * w + ox * x + oy * y + oz * z >= 0.0 else -2.0 / dt
        wx, wy, wz = self._spin
        k = -expm1(-pace * dt)
        wx += k * (rate * (ow * x - ox * w + oy * z - oz * y) - wx)
        wy += k * (rate * (ow * y - oy * w + oz * x - ox * z) - wy)
        wz += k * (rate * (ow * z - oz * w + ox * y - oy * x) - wz)
        self._spin = (wx, wy, wz)
        speed = sqrt(wx * wx + wy * wy + wz * wz)
        trust = lead * speed / (speed + rest)
        self._turn = wx, wy, wz = trust * wx, trust * wy, trust * wz
        half = 0.5 * dt
        wx, wy, wz = half * wx, half * wy, half * wz
        qx, qy, qz, qw = self._pose[1]
        px, py, pz, pw = (
            qx + wx * qw + wy * qz - wz * qy,
            qy - wx * qz + wy * qw + wz * qx,
            qz + wx * qy - wy * qx + wz * qw,
            qw - wx * qx - wy * qy - wz * qz,
        )
        k = -expm1(-(least + rise * speed) * dt)
        keep, sign = 1.0 - k, k if px * x + py * y + pz * z + pw * w >= 0.0 else -k
        x, y, z, w = (
            keep * px + sign * x,
            keep * py + sign * y,
            keep * pz + sign * z,
            keep * pw + sign * w,
        )
        k = 1.0 / sqrt(x * x + y * y + z * z + w * w)
        return x * k, y * k, z * k, w * k


def _length(vector: Vector) -> float:
    x, y, z = vector
    return sqrt(x * x + y * y + z * z)
