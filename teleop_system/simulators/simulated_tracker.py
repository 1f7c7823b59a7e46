# SPDX-License-Identifier: Apache-2.0
"""A simulated tracker."""

import math
import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from teleop_system.exceptions import InvalidValueError, UnknownNameError
from teleop_system.interfaces import IMasterTracker, Pose6D, TrackerRole
from teleop_system.simulators.human.body import OperatorMotion
from teleop_system.utils.quaternion_kernels import from_rotation_vector, multiply

MOTIONS = ("human", "sinusoid")

REFERENCE_POSITIONS: dict[TrackerRole, tuple[float, float, float]] = {
    TrackerRole.RIGHT_HAND: (0.4, -0.3, 1.0),
    TrackerRole.LEFT_HAND: (0.4, 0.3, 1.0),
    TrackerRole.WAIST: (0.0, 0.0, 0.9),
    TrackerRole.RIGHT_FOOT: (0.0, -0.15, 0.05),
    TrackerRole.LEFT_FOOT: (0.0, 0.15, 0.05),
    TrackerRole.HEAD: (0.0, 0.0, 1.6),
}
"""Positions of the trackers of a standing person in [m]; x forward, y left, z up."""

SINE_AMPLITUDES: dict[TrackerRole, float] = {
    TrackerRole.RIGHT_HAND: 0.1,
    TrackerRole.LEFT_HAND: 0.1,
    TrackerRole.WAIST: 0.02,
    TrackerRole.RIGHT_FOOT: 0.0,
    TrackerRole.LEFT_FOOT: 0.0,
    TrackerRole.HEAD: 0.02,
}
"""Default amplitude of the sinusoid in [m]; feet stay on the ground."""
SINE_FREQUENCY = 0.25
HUMAN_AMPLITUDE = 0.2
HUMAN_FREQUENCY = 0.5


class SimulatedTracker(IMasterTracker):
    """Poses of one body part of a simulated person; a pure function of time.

    Trackers with the same seed belong to one person: hands, waist, head and feet move together.
    """

    def __init__(
        self,
        role: TrackerRole | str,
        *,
        motion: str = "human",
        seed: int = 0,
        amplitude: float | Sequence[float] | None = None,
        frequency: float | None = None,
        reference: Pose6D | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Create a tracker.

        Args:
            role: Body part, as a role or its name.
            motion: "human" (reaches between random points) or "sinusoid" (a sine on each axis).
            seed: Seed of the motion, for "human".
            amplitude: Sine amplitude in [m], one or one per axis; largest reach for "human".
            frequency: Sine frequency in [Hz]; reaches per second for "human".
            reference: Rest pose of the body part; None takes that of a standing person.
            clock: Monotonic time in [s].

        Raises:
            UnknownNameError: The role or motion is unknown.
            InvalidValueError: Amplitude or frequency is invalid.
        """
        self._role = _role(role)
        if motion not in MOTIONS:
            raise UnknownNameError("motion", motion, MOTIONS)
        self._reference = reference or Pose6D(
            np.array(REFERENCE_POSITIONS[self._role]), np.array([0.0, 0.0, 0.0, 1.0])
        )
        x, y, z, w = self._reference.orientation.tolist()
        self._rest_orientation = (x, y, z, w)
        self._clock = clock
        self._started: float | None = None
        self._operator: OperatorMotion | None = None
        if motion == "human":
            reach = HUMAN_AMPLITUDE if amplitude is None else float(np.max(amplitude))
            self._operator = OperatorMotion(
                seed, amplitude=reach, frequency=frequency or HUMAN_FREQUENCY
            )
        default = SINE_AMPLITUDES[self._role]
        self._amplitude = _per_axis(default if amplitude is None else amplitude)
        self._rate = 2.0 * math.pi * (SINE_FREQUENCY if frequency is None else frequency)
        if not (math.isfinite(self._rate) and self._rate > 0.0):
            raise InvalidValueError(f"frequency must be positive, got {frequency}")

    def pose_at(self, time: float) -> Pose6D:
        """Return the pose `time` [s] after the start; its stamp is `time`."""
        return self._pose(time, time)

    @override
    def initialize(self) -> bool:
        self._started = self._clock()
        return True

    @override
    def get_pose(self) -> Pose6D:
        now = self._clock()
        if self._started is None:
            return Pose6D.lost(now)
        return self._pose(now - self._started, now)

    @override
    def is_connected(self) -> bool:
        return self._started is not None

    @override
    def get_role(self) -> TrackerRole:
        return self._role

    @override
    def shutdown(self) -> None:
        self._started = None

    def _pose(self, elapsed: float, stamp: float) -> Pose6D:
        reference = self._reference
        if self._operator is None:
            moved = self._amplitude * math.sin(self._rate * max(elapsed, 0.0))
            return Pose6D(reference.position + moved, reference.orientation, stamp)
        offset = self._operator.offset(self._role, elapsed)
        x, y, z = offset.rotation.tolist()
        position = reference.position + offset.translation
        orientation = np.array(multiply(self._rest_orientation, from_rotation_vector((x, y, z))))
        position.setflags(write=False)
        orientation.setflags(write=False)
        return Pose6D.unchecked(position, orientation, stamp)


def _role(role: TrackerRole | str) -> TrackerRole:
    if isinstance(role, TrackerRole):
        return role
    choices = {member.value: member for member in TrackerRole}
    if role not in choices:
        raise UnknownNameError("tracker role", role, choices)
    return choices[role]


def _per_axis(amplitude: float | Sequence[float]) -> NDArray[np.float64]:
    values = np.asarray(amplitude, dtype=np.float64)
    if values.shape not in ((), (3,)) or not np.isfinite(values).all():
        raise InvalidValueError(f"amplitude must be one length or three, got {amplitude!r}")
    return np.broadcast_to(values, (3,)).copy()
