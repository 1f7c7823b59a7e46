# SPDX-License-Identifier: Apache-2.0
"""Rules of the command path, and the causes that they report.

Every intervention that stops or slows the robot reports a `Cause`. Causes appear on the operator's
panel, on the status topic, in the log (throttled) and in the artefacts of a run.
"""

import enum
from dataclasses import dataclass


class Severity(enum.IntEnum):
    """Effect of a cause on the motion."""

    INFO = 0
    """The command passed; the cause is for information."""
    LIMITED = 1
    """The command was changed to stay within a limit."""
    HOLD = 2
    """The part does not follow; it brakes and holds."""
    STOP = 3
    """No part follows until a person acts."""


class Rule(enum.Enum):
    """Every rule of the command path: id, unit and meaning."""

    NON_FINITE = ("non_finite", "", "a number is NaN or infinite")
    NON_UNIT = ("non_unit", "", "a quaternion is not of unit length")
    WRONG_SHAPE = ("wrong_shape", "", "a vector has the wrong length or unknown names")
    TIME_ORDER = ("time_order", "s", "a time stamp repeats, runs backwards or is in the future")
    STALE = ("stale", "s", "no fresh sample arrived in time")
    LOST = ("lost", "s", "the device has lost the tracked body")
    INPUT_JUMP = ("input_jump", "m", "a tracked body moved further than a person can")
    SWAPPED = ("swapped", "m", "left and right trackers seem to be swapped")
    NOT_ENGAGED = ("not_engaged", "", "the operator has not engaged this part")
    ENGAGE_JUMP = ("engage_jump", "rad", "the first command after engaging is too far away")
    UNREACHABLE = ("unreachable", "m", "the target is out of reach; the nearest pose is held")
    UNSUPPORTED = ("unsupported", "m/s", "the robot cannot move in that direction")
    POSITION = ("position", "rad", "a joint would exceed its position limits")
    VELOCITY = ("velocity", "rad/s", "a joint would exceed its velocity limit")
    ACCELERATION = ("acceleration", "rad/s^2", "a joint would exceed its acceleration limit")
    JERK = ("jerk", "rad/s^3", "a joint would exceed its jerk limit")
    STOPPING_SPEED = (
        "stopping_speed",
        "rad/s",
        "a joint could not brake before its limit",
    )
    WORKSPACE = ("workspace", "m", "a hand would leave the workspace")
    SELF_COLLISION = ("self_collision", "m", "two links come too close to each other")
    OVERRUN = ("overrun", "s", "the control loop is late")
    RIVAL = ("rival", "", "two senders command the same part; the first one keeps it")
    DEAD_CLIENT = ("dead_client", "s", "no more commands arrive for this part")
    ESTOP = ("estop", "", "the emergency stop is latched")

    def __init__(self, id_: str, unit: str, meaning: str) -> None:
        self.id = id_
        self.unit = unit
        self.meaning = meaning


@dataclass(frozen=True, slots=True)
class Cause:
    """One intervention of a rule.

    Attributes:
        rule: The rule that acted.
        subject: The joint, link, tracker or part that it acted on.
        value: Commanded or measured value, in the rule's unit.
        limit: Allowed value, in the rule's unit.
        since: Time in [s] since which the rule acts without a break.
        severity: Effect on the motion.
    """

    rule: Rule
    subject: str
    value: float
    limit: float
    since: float
    severity: Severity = Severity.LIMITED

    def __str__(self) -> str:
        unit = f" {self.rule.unit}" if self.rule.unit else ""
        return (
            f"{self.rule.id}: {self.subject}: {self.rule.meaning} "
            f"({self.value:.4g}{unit}, limit {self.limit:.4g}{unit})"
        )
