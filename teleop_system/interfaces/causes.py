# SPDX-License-Identifier: Apache-2.0
"""Why a command was changed, held or refused: the rules, and the causes they yield.

Whatever stops or slows the robot says so with a `Cause`. Causes are shown to the operator, put on
the status topic, logged (throttled) and kept in the run's artefacts, so that nobody has to guess.
"""

import enum
from dataclasses import dataclass


class Severity(enum.IntEnum):
    """How much of the motion a cause takes away."""

    INFO = 0
    """The command passed; something is worth knowing."""
    LIMITED = 1
    """The command was changed to stay within a limit."""
    HOLD = 2
    """The part does not follow; it holds, or brakes to hold."""
    STOP = 3
    """Nothing follows until a person acts."""


class Rule(enum.Enum):
    """Every rule of the command path: its id, the unit of its numbers, and what it means."""

    NON_FINITE = ("non_finite", "", "a number is NaN or infinite")
    NON_UNIT = ("non_unit", "", "a quaternion is not of unit length")
    WRONG_SHAPE = ("wrong_shape", "", "a vector has the wrong length or unknown names")
    TIME_ORDER = ("time_order", "s", "a time stamp repeats, runs backwards or lies ahead")
    STALE = ("stale", "s", "no fresh sample arrived in time")
    LOST = ("lost", "s", "the device reports that it has lost the body")
    INPUT_JUMP = ("input_jump", "m", "a tracked body moved further than a person can")
    SWAPPED = ("swapped", "m", "left and right seem to be exchanged")
    NOT_ENGAGED = ("not_engaged", "", "the operator has not engaged this part")
    ENGAGE_JUMP = ("engage_jump", "rad", "the first command after engaging would jump")
    UNREACHABLE = ("unreachable", "m", "the target is out of reach; the nearest pose is held")
    UNSUPPORTED = ("unsupported", "m/s", "the robot cannot move in that direction")
    POSITION = ("position", "rad", "a joint would leave its range")
    VELOCITY = ("velocity", "rad/s", "a joint would move too fast")
    ACCELERATION = ("acceleration", "rad/s^2", "a joint would accelerate too fast")
    JERK = ("jerk", "rad/s^3", "a joint's acceleration would change too fast")
    STOPPING_SPEED = ("stopping_speed", "rad/s", "a joint could not brake before its limit")
    WORKSPACE = ("workspace", "m", "a hand would leave the allowed space")
    SELF_COLLISION = ("self_collision", "m", "two links come too close to each other")
    OVERRUN = ("overrun", "s", "the control loop came late")
    RIVAL = ("rival", "", "two senders command one part; the first keeps it")
    DEAD_CLIENT = ("dead_client", "s", "nobody commands this part any more")
    ESTOP = ("estop", "", "the emergency stop is latched")

    def __init__(self, id_: str, unit: str, meaning: str) -> None:
        self.id = id_
        self.unit = unit
        self.meaning = meaning


@dataclass(frozen=True, slots=True)
class Cause:
    """One intervention: what rule acted, on what, by which number, since when.

    Attributes:
        rule: The rule that acted.
        subject: The joint, link, tracker or part concerned.
        value: What was asked for or measured, in the rule's unit.
        limit: What would have been allowed, in the rule's unit.
        since: Time at which the rule began to act without a break in [s].
        severity: How much of the motion it takes away.
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
