# SPDX-License-Identifier: Apache-2.0
"""The options of all solvers: the same for each, so that solvers can be swapped by name alone."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from teleop_system.exceptions import ConfigError, UnknownNameError
from teleop_system.solvers.chain_config import ChainConfig
from teleop_system.utils.validators import (
    require_in_range,
    require_non_negative,
    require_positive,
)

BACKENDS = ("auto", "daqp", "proxqp", "osqp")

DEFAULT_VELOCITY = math.pi
"""Greatest speed of a joint that has no limit in the model or the options in [rad/s]."""
DEFAULT_ACCELERATION = 10.0
"""Greatest acceleration of a joint that has no limit in the options in [rad/s^2]."""

LimitsByName = Mapping[str, float] | float


@dataclass(frozen=True, slots=True)
class ChainWeights:
    """How much a chain's target counts against the others."""

    position_weight: float = 1.0
    """Cost of a position error in [1/m]; 0 leaves the position free."""
    orientation_weight: float = 0.5
    """Cost of an orientation error in [1/rad]; 0 leaves the orientation free."""

    def __post_init__(self) -> None:
        require_non_negative(self, "position_weight", "orientation_weight")


@dataclass(frozen=True, slots=True)
class SolverParameters:
    """The options that a configuration may set.

    The defaults follow targets as exactly as the limits permit. Teleoperation needs calmer
    joints: see `settings.SolverSettings` and `config/teleop/arm.yaml`.
    """

    backend: Literal["auto", "daqp", "proxqp", "osqp"] = "auto"
    """QP library; "auto" takes the first that is installed."""
    posture_weight: float = 0.005
    """Cost of leaving the posture target in [1/rad]; small, so that targets come first."""
    posture_speed: float = 0.5
    """Rate at which the posture target is approached if the targets allow it in [1/s]."""
    limit_weight: float = 0.0
    """Cost of being near a position limit in [1/rad]."""
    limit_margin: float = 0.2
    """Distance of a joint from its limit that counts as near in [rad]."""
    limit_speed: float = 2.0
    """Rate at which a joint leaves its limit if the targets allow it in [1/s]."""
    damping: float = 1e-6
    """Cost of joint motion, squared, in [1/rad^2]; keeps singular postures well-behaved."""
    inertia: float = 0.0
    """Cost of a change of joint motion from tick to tick, squared, in [1/rad^2]; joints that
    accelerate more slowly than 10 rad/s^2 pay more."""
    acceleration_share: float = 1.0
    """Part of the accelerations that is used, from 0.05 to 1. The rest is left to a limiter of
    the commands, which keeps a jerk limit as well."""
    adaptive_damping: float = 2.0
    """Factor of the further damping that grows with a chain's error."""
    position_tolerance: float = 1e-3
    """Largest position error that counts as success in [m]."""
    orientation_tolerance: float = 1e-2
    """Largest orientation error that counts as success in [rad]."""
    collision_slow: float = 0.05
    """Distance below which the allowed speed of approach falls in [m]."""
    collision_stop: float = 0.01
    """Distance at which they no longer approach each other in [m]."""
    collision_speed: float = 0.5
    """Greatest speed of approach at `collision_slow` in [m/s]."""

    def __post_init__(self) -> None:
        require_non_negative(self, "posture_weight", "limit_weight", "limit_margin")
        require_non_negative(self, "damping", "inertia", "adaptive_damping")
        require_positive(self, "posture_speed", "limit_speed")
        require_positive(self, "position_tolerance", "orientation_tolerance")
        require_in_range(self, "acceleration_share", 0.05, 1.0)
        require_positive(self, "collision_stop", "collision_speed")
        if not self.collision_slow > self.collision_stop:
            raise ConfigError(
                f"collision_slow must exceed collision_stop = {self.collision_stop}, "
                f"got {self.collision_slow!r}"
            )
        if self.backend not in BACKENDS:
            raise UnknownNameError("QP back end", self.backend, BACKENDS)

    def options(self) -> dict[str, Any]:
        """Return the parameters as keywords of `IIKSolver.initialize()`."""
        return {item.name: getattr(self, item.name) for item in fields(SolverParameters)}


@dataclass(frozen=True, slots=True)
class SolverOptions(SolverParameters):
    """The keywords of `initialize()`: the parameters, and what describes the robot.

    A solver ignores options that it does not use; an unknown name raises
    UnknownNameError.
    """

    chains: Mapping[str, ChainConfig] = field(default_factory=dict)
    """Chains by name; `solve()` moves the first."""
    joint_names: tuple[str, ...] | None = None
    """Joints to move, in the order of every joint vector; by default the joints from the root
    to each chain's frame, chain after chain. All other joints stay at `reference_posture`."""
    reference_posture: Mapping[str, float] = field(default_factory=dict)
    """Positions by joint name in [rad]: of the joints that are not moved, and the first posture
    target of those that are. Joints not named are at 0, or the nearest limit to it."""
    position_limits: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Lower and upper positions by joint name in [rad], over those of the model."""
    velocity_limits: LimitsByName = field(default_factory=dict)
    """Greatest speeds by joint name, or one for all, in [rad/s], over those of the model."""
    acceleration_limits: LimitsByName = field(default_factory=dict)
    """Greatest accelerations by joint name, or one for all, in [rad/s^2]."""
    collision_pairs: tuple[tuple[str, str], ...] = ()
    """Pairs of links that must keep their distance; `QPIKSolver` alone enforces them."""
    rebase_ticks: float = 4.0
    """Joints further from the last result than this many ticks at full speed are taken as a new
    start at rest."""
    return_speed: float = 0.2
    """Speed at which a joint that starts outside its limits moves back in [rad/s]."""
    gains: Mapping[str, Any] = field(default_factory=dict)
    """Joint gains by chain, shape (joints, 6); `ProportionalMapper` alone uses them."""

    @classmethod
    def from_keywords(cls, keywords: Mapping[str, Any]) -> "SolverOptions":
        """Return checked options; None means the default, and chains may be plain mappings.

        Raises:
            UnknownNameError: A keyword is not an option.
            ConfigError: A value is of the wrong kind or out of range.
        """
        known = [item.name for item in fields(cls)]
        for name in keywords:
            if name not in known:
                raise UnknownNameError("solver option", name, known)
        given = {name: value for name, value in keywords.items() if value is not None}
        if "chains" in given:
            given["chains"] = _chains(given["chains"])
        if "joint_names" in given:
            given["joint_names"] = tuple(given["joint_names"])
        if "collision_pairs" in given:
            given["collision_pairs"] = tuple((a, b) for a, b in given["collision_pairs"])
        return cls(**given)

    def __post_init__(self) -> None:
        SolverParameters.__post_init__(self)  # With slots, `super()` finds another class.
        require_positive(self, "rebase_ticks", "return_speed")
        names = self.joint_names
        if names is not None and len(set(names)) != len(names):
            raise ConfigError(f"joint_names holds a name twice: {', '.join(names)}")


def _chains(given: Mapping[str, Any]) -> dict[str, ChainConfig]:
    chains = {}
    for name, config in given.items():
        try:
            made = config if isinstance(config, ChainConfig) else ChainConfig(**config)
        except TypeError as error:
            raise ConfigError(f"chain {name!r}: {error}") from error
        chains[name] = made
    return chains
