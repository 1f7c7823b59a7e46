# SPDX-License-Identifier: Apache-2.0
"""Parameters of the arm controller, as in `config/teleop/arm.yaml`."""

from dataclasses import dataclass, field
from typing import Literal

from teleop_system.modules.gate import GateConfig
from teleop_system.safety.config import RAMP_TIME
from teleop_system.safety.staleness import LOOP, check_reaction
from teleop_system.utils.validators import (
    require_choice,
    require_in_range,
    require_non_negative,
    require_positive,
)
from teleop_system.utils.workspace_box import WorkspaceBox

MAPPINGS = ("relative", "absolute")
HEADINGS = ("auto", "waist", "head", "room")


@dataclass(frozen=True, slots=True)
class LimbConfig:
    """How one limb follows the operator's motion."""

    scale: float = 1.0
    """Distance of the robot per distance of the operator; a calibration has its own scale."""
    rotation_scale: float = 1.0
    """Rotation of the robot per rotation of the operator."""
    workspace: WorkspaceBox | None = None
    """Box that targets stay in; null for no box."""

    def __post_init__(self) -> None:
        require_in_range(self, "scale", 0.0, 5.0)
        require_in_range(self, "rotation_scale", 0.0, 2.0)


@dataclass(frozen=True, slots=True)
class SmoothingConfig:
    """Smoothing of the trackers: calm at rest, prompt in motion."""

    min_cutoff: float = 1.0
    """Cutoff of positions at rest in [Hz]."""
    beta: float = 20.0
    """Rise of that cutoff with speed in [1/m]."""
    derivative_cutoff: float = 2.0
    """Cutoff of the speed estimate in [Hz]."""
    turn_min_cutoff: float = 1.0
    """Cutoff of rotations at rest in [Hz]."""
    turn_beta: float = 5.0
    """Rise of that cutoff with angular speed in [1/rad]."""
    turn_derivative_cutoff: float = 2.0
    """Cutoff of the angular speed estimate in [Hz]."""
    lead: float = 0.9
    """Share of the estimated speed that is used, from 0 to 1; a larger share means less lag."""
    rest_speed: float = 0.1
    """Speed in [m/s] of which half counts as noise; of a higher speed, less does."""
    rest_turn: float = 0.4
    """Angular speed in [rad/s] of which half counts as noise."""
    coast_time: float = 0.05
    """Time constant in [s] with which motion runs out without new samples."""

    def __post_init__(self) -> None:
        names = set(self.__slots__) - {"lead", "beta", "turn_beta"}
        require_positive(self, *sorted(names))
        require_non_negative(self, "beta", "turn_beta")
        require_in_range(self, "lead", 0.0, 1.0)
        require_in_range(self, "coast_time", 0.005, 0.1, unit="s")


def _limbs() -> dict[str, LimbConfig]:
    return {"arm": LimbConfig(), "torso": LimbConfig()}


@dataclass(frozen=True, slots=True)
class ArmTeleopConfig:
    """How the operator's hands and waist move the robot's arms and torso."""

    rate: float = 100.0
    """Control frequency in [Hz]."""
    mapping: Literal["relative", "absolute"] = "relative"
    """Relative: motion counts from where the clutch closed. Absolute: needs a calibration."""
    heading: Literal["auto", "waist", "head", "room"] = "auto"
    """Which tracker gives the operator's heading when the clutch closes: auto is the waist, or the
    head without a waist tracker; room is the x axis of the room."""
    limbs: dict[str, LimbConfig] = field(default_factory=_limbs)
    """By name of a chain, or by its kind: arm, torso."""
    reach: float = 0.97
    """Share of an arm's stretched length that targets stay within; 1 is singular."""
    lean: float = 0.1
    """How far the torso may leave its own target to help a hand reach, in [m]."""
    posture: str | None = None
    """Named pose that the joints prefer if the targets leave a choice; null for the robot's
    `teleop` or, without one, its initial pose."""
    smoothing: SmoothingConfig = field(default_factory=SmoothingConfig)
    """Smoothing of the trackers."""
    gate: GateConfig = field(default_factory=GateConfig)
    """Limits of a usable sample of a tracker."""
    ramp_time: float = RAMP_TIME
    """Shortest time in [s] to catch up with the operator after engaging or resuming."""
    catch_up_speed: float = 0.4
    """Largest speed in [m/s] of a hand that catches up; a long distance takes longer."""
    catch_up_turn: float = 1.2
    """Largest angular speed in [rad/s] of a hand that catches up."""
    resume_distance: float = 0.3
    """A tracker that is found within this distance in [m] of where it was lost resumes its
    mapping; further away, the clutch closes again."""
    resume_angle: float = 1.0
    """The same for its orientation in [rad]."""
    resync: float = 0.02
    """Difference in [rad] or [m] between a joint and its command above which a limb that is
    engaged starts from the joint."""
    slack: float = 0.05
    """Difference in [rad] or [m] between a joint in motion and its command above which the
    command moves towards the joint."""
    max_residual: float = 0.06
    """Largest residual in [m] of a calibration with which the arms may be engaged."""
    stall_after: float = LOOP.timeout
    """Time between two ticks in [s] above which the loop has stalled; the arms hold first."""

    def __post_init__(self) -> None:
        require_in_range(self, "rate", 20.0, 1000.0, unit="Hz")
        require_choice(self, "mapping", MAPPINGS)
        require_choice(self, "heading", HEADINGS)
        require_in_range(self, "reach", 0.1, 1.0)
        require_in_range(self, "lean", 0.0, 1.0, unit="m")
        require_in_range(self, "ramp_time", RAMP_TIME, 10.0, unit="s")
        require_positive(self, "catch_up_speed", "catch_up_turn", "resync", "slack")
        require_positive(self, "max_residual", "stall_after")
        require_non_negative(self, "resume_distance", "resume_angle")
        check_reaction("gate.stale_after", self.gate.stale_after, self.rate)

    @property
    def period(self) -> float:
        """Nominal time between two ticks in [s]."""
        return 1.0 / self.rate

    def limb(self, chain: str, kind: str) -> LimbConfig:
        """Return the parameters of a chain by its name, else by its kind, else the defaults."""
        return self.limbs.get(chain) or self.limbs.get(kind) or LimbConfig()
