# SPDX-License-Identifier: Apache-2.0
"""How old each kind of input may become, and what happens then.

Every time-out of the package stands in this table. Where a config file can change one, the
default of that key comes from here.
"""

from dataclasses import dataclass

from teleop_system.exceptions import ConfigError

REACTION_TIME = 0.1
"""Promise: a hold or a ramp begins at most this long after the last fresh sample [s]."""
FUTURE_TOLERANCE = 0.02
"""How far in [s] a stamp may lie in the future."""
STANDSTILL_TIME = 0.5
"""Promise: the base stands at most this long after the last fresh sample [s]."""


@dataclass(frozen=True, slots=True)
class StaleInputPolicy:
    """How long one kind of input counts.

    Attributes:
        source: What sends the input.
        timeout: Greatest age at which the input still counts in [s].
        reaction: What the receiver does with an older one.
    """

    source: str
    timeout: float
    reaction: str

    def is_stale(self, age: float) -> bool:
        """Return whether an input of this age in [s] no longer counts."""
        return is_stale(age, self.timeout)


SAMPLE = StaleInputPolicy("tracker, glove", 0.08, "the part brakes and holds")
HEAD_SAMPLE = StaleInputPolicy("headset", 0.06, "the head brakes and holds")
COMMAND = StaleInputPolicy("command of a part", 0.08, "the part brakes and holds")
OWNER = StaleInputPolicy("owner of a part", 0.3, "the part holds; another sender may take it")
BASE_COMMAND = StaleInputPolicy("velocity of the base", 0.3, "the base has stopped following")
OPERATOR_INPUT = StaleInputPolicy("operator's inputs", 0.1, "engaging is refused, or ends")
ROBOT_STATE = StaleInputPolicy("state of the robot", 0.1, "the engagement recovers")
CLUTCH = StaleInputPolicy("clutch", 0.5, "the clutch opens")
OPERATOR_MODULE = StaleInputPolicy("module of the operator side", 1.0, "it counts as absent")
LOOP = StaleInputPolicy("control loop", 0.1, "every part holds, then ramps again")
ROBOT_LINK = StaleInputPolicy("commanded joint positions", 0.5, "controllers send no commands")
STATUS = StaleInputPolicy("status report", 1.0, "the state counts as unknown")
TRAJECTORY_START = StaleInputPolicy("start time of a trajectory", 0.5, "it is refused")
HEAD_ANGLES = StaleInputPolicy("pan and tilt of a stream's client", 0.5, "the head holds")
HEAD_REQUEST = StaleInputPolicy("head of a stream's client", 1.5, "others may turn the head")
HEAD_CLIENT = StaleInputPolicy("client that turns the head", 1.0, "another client may turn it")
CAMERA = StaleInputPolicy("camera topics", 0.3, "the camera counts as disconnected")
CAMERA_WARNING = StaleInputPolicy("pictures for a stream", 3.0, "a warning is logged")
STREAM_CLIENT = StaleInputPolicy("client of a stream", 15.0, "the connection is closed")

POLICIES = (
    SAMPLE,
    HEAD_SAMPLE,
    COMMAND,
    OWNER,
    BASE_COMMAND,
    OPERATOR_INPUT,
    ROBOT_STATE,
    CLUTCH,
    OPERATOR_MODULE,
    LOOP,
    ROBOT_LINK,
    STATUS,
    TRAJECTORY_START,
    HEAD_ANGLES,
    HEAD_REQUEST,
    HEAD_CLIENT,
    CAMERA,
    CAMERA_WARNING,
    STREAM_CLIENT,
)
"""All of them, in the order of the command path."""


def is_stale(age: float, timeout: float) -> bool:
    """Return whether an input of this age in [s] is stale; NaN counts as stale."""
    return not age <= timeout


def check_reaction(name: str, stale_after: float, rate: float) -> None:
    """Check that a hold begins in time: one tick after the sample has become stale.

    Args:
        name: The config key that `stale_after` comes from.
        stale_after: Greatest age of a fresh sample in [s].
        rate: Rate of the loop in [Hz].

    Raises:
        ConfigError: The hold would begin later than `REACTION_TIME`.
    """
    if stale_after + 1.0 / rate > REACTION_TIME + 1e-9:
        raise ConfigError(
            f"{name} plus one tick must not exceed {REACTION_TIME} s, got "
            f"{stale_after} s at {rate} Hz"
        )
