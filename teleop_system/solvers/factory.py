# SPDX-License-Identifier: Apache-2.0
"""Builds a solver for a robot from its description."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from teleop_system import registry
from teleop_system.exceptions import MissingExtraError, ModelError, UnknownNameError
from teleop_system.interfaces import IIKSolver
from teleop_system.robots.description import CHAIN_KINDS
from teleop_system.solvers.chain_config import ChainConfig
from teleop_system.solvers.options import ChainWeights

if TYPE_CHECKING:
    from teleop_system.robots.description import Chain, RobotDescription

KINDS = ("arm", "torso")
"""Kinds of chain that a solver moves."""


def make_solver(
    description: "RobotDescription",
    name: str = "qp",
    *,
    weights: Mapping[str, ChainWeights] | None = None,
    **options: Any,
) -> IIKSolver:
    """Return an initialised solver for the arms and the torso of a robot.

    Chains, joints, limits, reference posture and collision pairs come from the description;
    the joints are those of the chains, in the order of the description. Arms come first among
    the chains, so that `solve()` moves an arm.

    Args:
        description: The robot.
        name: Registered name of the solver: "qp", "pink", "dls", "proportional" or another's.
        weights: Weights by name or, failing that, by kind of chain.
        options: Any of `SolverOptions`; they take precedence over the description.

    Raises:
        UnknownNameError: There is no such solver, or weights are for no chain of the robot.
        ModelError: The model file cannot be used, or the robot has neither arm nor torso.
        MissingExtraError: A library of the solver is not installed.
    """
    solver: IIKSolver = registry.create("solver", name)
    model = description.urdf or description.mjcf
    if not solver.initialize(str(model), **(solver_options(description, weights or {}) | options)):
        raise MissingExtraError(f"a library of the solver {name!r}", "ik")
    return solver


def solver_options(
    description: "RobotDescription", weights: Mapping[str, ChainWeights]
) -> dict[str, Any]:
    """Return the `SolverOptions` that follow from the description of a robot.

    Raises:
        UnknownNameError: Weights are for no chain of the robot.
        ModelError: The robot has neither arm nor torso.
    """
    chains = [chain for chain in description.chains.values() if chain.kind in KINDS]
    if not chains:
        raise ModelError(f"robot {description.name!r} has neither an arm nor a torso to move")
    for name in weights:
        if name not in description.chains and name not in CHAIN_KINDS:
            raise UnknownNameError(
                "chain or kind of chain", name, [*description.chains, *CHAIN_KINDS]
            )
    joints = dict.fromkeys(joint for chain in chains for joint in chain.joints)
    limits = {joint: description.joints[joint] for joint in joints}
    return {
        "chains": {
            chain.name: _config(chain, weights) for chain in sorted(chains, key=_arms_first)
        },
        "joint_names": tuple(joints),
        "reference_posture": dict(description.poses.get(description.initial_pose, {})),
        "position_limits": {joint: (limit.lower, limit.upper) for joint, limit in limits.items()},
        "velocity_limits": {joint: limit.velocity for joint, limit in limits.items()},
        "acceleration_limits": {joint: limit.acceleration for joint, limit in limits.items()},
        "collision_pairs": description.collision_pairs,
    }


def _config(chain: "Chain", weights: Mapping[str, ChainWeights]) -> ChainConfig:
    weight = weights.get(chain.name) or weights.get(chain.kind)
    if weight is None:
        return ChainConfig(ee_frame=chain.end_effector)
    return ChainConfig(
        ee_frame=chain.end_effector,
        position_weight=weight.position_weight,
        orientation_weight=weight.orientation_weight,
    )


def _arms_first(chain: "Chain") -> int:
    return KINDS.index(chain.kind)
