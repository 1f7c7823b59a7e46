# SPDX-License-Identifier: Apache-2.0
"""The options that every solver takes, so that solvers can be swapped by name alone."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from teleop_system.exceptions import ConfigError, UnknownNameError
from teleop_system.solvers.chain_config import ChainConfig

BACKENDS = ("auto", "daqp", "proxqp", "osqp")

POSITIVE = (
    "position_tolerance",
    "orientation_tolerance",
    "rebase_ticks",
    "return_speed",
    "collision_stop",
    "collision_speed",
    "posture_speed",
    "limit_speed",
)
NOT_NEGATIVE = (
    "posture_weight",
    "damping",
    "inertia",
    "adaptive_damping",
    "limit_weight",
    "limit_margin",
)

DEFAULT_VELOCITY = math.pi
"""Greatest speed of a joint for which neither model nor options give one in [rad/s]."""
DEFAULT_ACCELERATION = 10.0
"""Greatest acceleration of a joint for which the options give none in [rad/s^2]."""

LimitsByName = Mapping[str, float] | float


@dataclass(frozen=True, slots=True)
class SolverOptions:
    """Everything `initialize()` can be told besides the model file.

    The defaults follow targets as exactly as the limits permit. A robot that is teleoperated wants
    calmer joints; `config/teleop/arm.yaml` says how much.

    A solver that has no use for an option accepts and ignores it; a name that is none of these
    is a mistake and raises UnknownNameError.
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
    collision_slow: float = 0.05
    """Distance below which links approach each other ever more slowly in [m]."""
    collision_stop: float = 0.01
    """Distance at which they no longer approach each other in [m]."""
    collision_speed: float = 0.5
    """Greatest speed of approach at `collision_slow` in [m/s]."""
    acceleration_share: float = 1.0
    """Part of the accelerations that is used, from 0 to 1. What is left over is for a limiter
    of the commands, which has to keep a jerk limit besides."""
    posture_weight: float = 0.005
    """Cost of leaving the posture target in [1/rad]; small, so that targets come first."""
    posture_speed: float = 0.5
    """Rate at which the posture target is approached where the targets allow it in [1/s]."""
    limit_weight: float = 0.0
    """Cost of being near a position limit in [1/rad]."""
    limit_margin: float = 0.2
    """Distance of a joint from its limit that counts as near in [rad]."""
    limit_speed: float = 2.0
    """Rate at which a joint leaves its limit where the targets allow it in [1/s]."""
    damping: float = 1e-6
    """Cost of joint motion, squared, in [1/rad^2]; keeps singular postures well-behaved."""
    inertia: float = 0.0
    """Cost of a change of joint motion from tick to tick, squared, in [1/rad^2]; joints that
    accelerate more slowly than 10 rad/s^2 pay more."""
    adaptive_damping: float = 2.0
    """Factor of the further damping that grows with what a chain has to catch up with."""
    position_tolerance: float = 1e-3
    """Largest position error that counts as success in [m]."""
    orientation_tolerance: float = 1e-2
    """Largest orientation error that counts as success in [rad]."""
    rebase_ticks: float = 4.0
    """Joints given that are further from the last result than this many ticks at full speed
    are taken as a new start at rest."""
    return_speed: float = 0.2
    """Speed at which a joint that starts outside its limits moves back in [rad/s]."""
    backend: str = "auto"
    """QP library: one of BACKENDS; "auto" takes the first that is installed."""
    gains: Mapping[str, Any] = field(default_factory=dict)
    """Joint gains by chain, shape (6, joints); `ProportionalMapper` alone uses them."""

    @classmethod
    def from_keywords(cls, keywords: Mapping[str, Any]) -> "SolverOptions":
        """Return checked options; None stands for the default, chains may be plain mappings.

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
        for name in POSITIVE + NOT_NEGATIVE:
            _check_number(name, getattr(self, name), zero_allowed=name in NOT_NEGATIVE)
        if not 0.0 < self.acceleration_share <= 1.0:
            raise ConfigError(
                f"acceleration_share must be above 0 and at most 1, got {self.acceleration_share}"
            )
        if not self.collision_slow > self.collision_stop:
            raise ConfigError(
                f"collision_slow must exceed collision_stop = {self.collision_stop}, "
                f"got {self.collision_slow}"
            )
        if self.backend not in BACKENDS:
            raise UnknownNameError("QP back end", self.backend, BACKENDS)
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


def _check_number(name: str, value: object, *, zero_allowed: bool) -> None:
    is_number = isinstance(value, int | float) and math.isfinite(value)
    if not is_number or value < 0.0 or (value == 0.0 and not zero_allowed):  # type: ignore[operator]
        wanted = "a finite number >= 0" if zero_allowed else "a positive finite number"
        raise ConfigError(f"{name} must be {wanted}, got {value!r}")
