# SPDX-License-Identifier: Apache-2.0
"""The engagement state machine as data: its states, guards and transitions.

`Engagement` walks this table; no transition exists outside it.
"""

import enum
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields

from teleop_system.exceptions import ConfigError


class EngagementState(enum.Enum):
    """The states between power-up and an operator in control."""

    STARTING = "starting"
    WAITING_FOR_STATE = "waiting_for_state"
    SYNCING = "syncing"
    HOMING = "homing"
    SELF_TEST = "self_test"
    READY = "ready"
    ENGAGED = "engaged"
    ERROR_RECOVERY = "error_recovery"
    FAILED = "failed"
    ESTOPPED = "estopped"


# These two are made in every cycle; frozen dataclasses take twice as long to make.
@dataclass(slots=True)
class EngagementInputs:
    """The conditions of the system and the requests of the operator in one cycle.

    Requests may be held or pulsed; requests for motion count once, on their rising edge. The next
    update is compared with this object, so it must not change after it was passed.

    Attributes:
        robot_connected: The link to the robot is up.
        state_fresh: The robot's measured state is recent.
        synced: Our model of the robot agrees with its measured state.
        at_home: The robot stands in its home pose.
        self_test_passed: The self-test has passed.
        inputs_fresh: The operator's devices deliver recent, valid samples.
        clutch_closed: The operator holds the clutch, so that motion counts.
        engage_requested: The operator requests control.
        disengage_requested: The operator gives up control.
        fault: A fault from which the system may recover.
        fatal: A fault from which it cannot recover.
        detail: The fault in words.
        restart_requested: A person requests a restart after a failure.
        estop_pressed: An emergency stop is pressed, or was since the last update.
        estop_reset_requested: A person requests a reset of the emergency stop.
    """

    robot_connected: bool = False
    state_fresh: bool = False
    synced: bool = False
    at_home: bool = False
    self_test_passed: bool = False
    inputs_fresh: bool = False
    clutch_closed: bool = False
    engage_requested: bool = False
    disengage_requested: bool = False
    fault: bool = False
    fatal: bool = False
    detail: str = ""
    restart_requested: bool = False
    estop_pressed: bool = False
    estop_reset_requested: bool = False


@dataclass(frozen=True, slots=True)
class EngagementConfig:
    """Time-outs of the states, and the number of retries."""

    starting: float = 30.0
    """Time for the robot to connect in [s]."""
    waiting_for_state: float = 10.0
    """Time for the first robot state to arrive in [s]."""
    syncing: float = 5.0
    """Time for the model to agree with the robot in [s]."""
    homing: float = 30.0
    """Time to reach the home pose in [s]."""
    self_test: float = 15.0
    """Time for the self-test to pass in [s]."""
    inputs_lost: float = 2.0
    """How long inputs may be missing before control is given up in [s]."""
    backoff: float = 1.0
    """Pause before the first retry in [s]; it doubles with each."""
    longest_backoff: float = 30.0
    """Longest pause before a retry in [s]."""
    healthy_after: float = 10.0
    """Time without a fault after which retries are forgotten in [s]."""
    max_retries: int = 5
    """Recoveries in a row before giving up."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not value > 0:
                raise ConfigError(f"engagement.{field.name} must be positive, got {value}")


@dataclass(slots=True)
class Situation:
    """Everything that a guard may use.

    Attributes:
        inputs: The present conditions and requests.
        config: Time-outs and retries.
        engage: The operator has just requested control.
        reset: A person has just requested a reset of the emergency stop.
        restart: A person has just requested a restart.
        inputs_lost_for: How long the operator's inputs have been missing in [s].
        retries: Recoveries since the last healthy period.
        prepared: Homing and self-test were passed since the start.
        consent: No emergency stop since a person last requested motion.
        gave_up: The system had failed before the emergency stop was pressed.
    """

    inputs: EngagementInputs
    config: EngagementConfig
    engage: bool = False
    reset: bool = False
    restart: bool = False
    inputs_lost_for: float = 0.0
    retries: int = 0
    prepared: bool = False
    consent: bool = True
    gave_up: bool = False


Guard = Callable[[Situation], bool]

GUARDS: dict[str, Guard] = {
    "always": lambda s: True,
    "e-stop pressed": lambda s: s.inputs.estop_pressed,
    "e-stop reset": lambda s: s.reset,
    "e-stop reset after a failure": lambda s: (
        s.reset and (s.gave_up or s.inputs.fatal or s.retries > s.config.max_retries)
    ),
    "fatal fault": lambda s: s.inputs.fatal,
    "fault": lambda s: s.inputs.fault,
    "robot disconnected": lambda s: not s.inputs.robot_connected,
    "robot state stale": lambda s: not s.inputs.state_fresh,
    "robot connected": lambda s: s.inputs.robot_connected,
    "robot state fresh": lambda s: s.inputs.state_fresh,
    "not synced": lambda s: not s.inputs.synced,
    "synced, prepared before": lambda s: s.inputs.synced and s.prepared,
    "synced, motion allowed": lambda s: s.inputs.synced and not s.prepared and s.consent,
    "at home": lambda s: s.inputs.at_home,
    "self-test passed": lambda s: s.inputs.self_test_passed,
    "engage requested, inputs fresh": lambda s: (
        s.engage and s.inputs.inputs_fresh and not s.inputs.disengage_requested
    ),
    "disengage requested": lambda s: s.inputs.disengage_requested,
    "inputs lost": lambda s: s.inputs_lost_for > s.config.inputs_lost,
    "retries used up": lambda s: s.retries > s.config.max_retries,
    "restart requested": lambda s: s.restart,
}
"""Every condition a transition can name."""

BACKOFF = "backoff"
"""The time-out that grows with the retries."""


@dataclass(frozen=True, slots=True)
class Transition:
    """One row of the table.

    Attributes:
        sources: The states it leaves.
        guard: The condition, a key of `GUARDS`.
        target: The state it enters.
        reason: The reason shown to the operator.
        timeout: The time-out of `EngagementConfig` that must have passed in the state, if any.
    """

    sources: tuple[EngagementState, ...]
    guard: str
    target: EngagementState
    reason: str
    timeout: str | None = None


_S = EngagementState
_ALL = tuple(_S)
_PREPARING = (_S.STARTING, _S.WAITING_FOR_STATE, _S.SYNCING, _S.HOMING, _S.SELF_TEST)
_WORKING = (*_PREPARING, _S.READY, _S.ENGAGED)
_CONNECTED = _WORKING[1:]
_MEASURED = _WORKING[2:]


def _row(
    sources: EngagementState | Iterable[EngagementState],
    guard: str,
    target: EngagementState,
    reason: str,
    timeout: str | None = None,
) -> Transition:
    listed = (sources,) if isinstance(sources, EngagementState) else tuple(sources)
    return Transition(listed, guard, target, reason, timeout)


TABLE: tuple[Transition, ...] = (
    _row(
        (state for state in _ALL if state is not _S.ESTOPPED),
        "e-stop pressed",
        _S.ESTOPPED,
        "emergency stop pressed; holding position under power",
    ),
    _row(_S.ESTOPPED, "e-stop reset after a failure", _S.FAILED, "failed before the e-stop"),
    _row(_S.ESTOPPED, "e-stop reset", _S.WAITING_FOR_STATE, "emergency stop was reset"),
    _row((*_WORKING, _S.ERROR_RECOVERY), "fatal fault", _S.FAILED, "fatal fault"),
    _row(_WORKING, "fault", _S.ERROR_RECOVERY, "fault"),
    _row(_CONNECTED, "robot disconnected", _S.ERROR_RECOVERY, "the robot is disconnected"),
    _row(_MEASURED, "robot state stale", _S.ERROR_RECOVERY, "the robot's state is stale"),
    _row(_S.STARTING, "robot connected", _S.WAITING_FOR_STATE, "robot connected"),
    _row(_S.STARTING, "always", _S.ERROR_RECOVERY, "the robot did not connect", "starting"),
    _row(_S.WAITING_FOR_STATE, "robot state fresh", _S.SYNCING, "robot state received"),
    _row(
        _S.WAITING_FOR_STATE,
        "always",
        _S.ERROR_RECOVERY,
        "the robot sent no state",
        "waiting_for_state",
    ),
    _row(_S.SYNCING, "synced, prepared before", _S.READY, "synchronised with the robot again"),
    _row(_S.SYNCING, "synced, motion allowed", _S.HOMING, "synchronised with the robot"),
    _row(
        _S.SYNCING,
        "not synced",
        _S.ERROR_RECOVERY,
        "the commands do not agree with the robot's state",
        "syncing",
    ),
    _row(_S.HOMING, "at home", _S.SELF_TEST, "home pose reached"),
    _row(_S.HOMING, "always", _S.ERROR_RECOVERY, "the home pose was not reached", "homing"),
    _row(_S.SELF_TEST, "self-test passed", _S.READY, "self-test passed; ready to engage"),
    _row(_S.SELF_TEST, "always", _S.ERROR_RECOVERY, "the self-test did not pass", "self_test"),
    _row(_S.READY, "engage requested, inputs fresh", _S.ENGAGED, "the operator took control"),
    _row(_S.ENGAGED, "disengage requested", _S.READY, "the operator gave up control"),
    _row(_S.ENGAGED, "inputs lost", _S.READY, "the operator's inputs were lost"),
    _row(_S.ERROR_RECOVERY, "retries used up", _S.FAILED, "gave up after too many retries"),
    _row(_S.ERROR_RECOVERY, "fault", _S.ERROR_RECOVERY, "the fault persists", BACKOFF),
    _row(_S.ERROR_RECOVERY, "robot connected", _S.WAITING_FOR_STATE, "trying again", BACKOFF),
    _row(_S.ERROR_RECOVERY, "always", _S.STARTING, "trying to connect again", BACKOFF),
    _row(_S.FAILED, "restart requested", _S.STARTING, "restarted by a person"),
)
"""Every transition; of those that apply, the first is taken, and one an update."""
