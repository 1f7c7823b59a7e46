# SPDX-License-Identifier: Apache-2.0
"""Builds a solver for a robot from its description."""

from typing import TYPE_CHECKING, Any

from teleop_system import registry
from teleop_system.exceptions import MissingExtraError, UnknownNameError
from teleop_system.interfaces import IIKSolver
from teleop_system.solvers.chain_config import ChainConfig

if TYPE_CHECKING:
    from teleop_system.robots.description import Chain, RobotDescription

KINDS = ("arm", "torso")
"""Kinds of chain that a solver moves."""


def make_solver(description: "RobotDescription", name: str = "qp", **options: Any) -> IIKSolver:
    """Return an initialised solver for the arms and the torso of a robot.

    Chains, joints, limits, reference posture and collision pairs come from the description;
    the joints are those of the chains, in the order of the description. Arms come first among
    the chains, so that `solve()` moves an arm.

    Args:
        description: The robot.
        name: Registered name of the solver: "qp", "pink", "dls", "proportional" or another's.
        options: Any of `SolverOptions`, over what the description says.

    Raises:
        UnknownNameError: There is no such solver, or the robot has neither arm nor torso.
        ModelError: The model file cannot be used.
        MissingExtraError: A library of the solver is not installed.
    """
    solver: IIKSolver = registry.create("solver", name)
    model = description.urdf or description.mjcf
    if not solver.initialize(str(model), **(_options(description) | options)):
        raise MissingExtraError(f"a library of the solver {name!r}", "ik")
    return solver


def _options(description: "RobotDescription") -> dict[str, Any]:
    chains = [chain for chain in description.chains.values() if chain.kind in KINDS]
    if not chains:
        raise UnknownNameError("arm or torso", description.name, description.chains)
    joints = dict.fromkeys(joint for chain in chains for joint in chain.joints)
    limits = {joint: description.joints[joint] for joint in joints}
    return {
        "chains": {chain.name: _config(chain) for chain in sorted(chains, key=_arms_first)},
        "joint_names": tuple(joints),
        "reference_posture": dict(description.poses.get(description.initial_pose, {})),
        "position_limits": {joint: (limit.lower, limit.upper) for joint, limit in limits.items()},
        "velocity_limits": {joint: limit.velocity for joint, limit in limits.items()},
        "acceleration_limits": {joint: limit.acceleration for joint, limit in limits.items()},
        "collision_pairs": description.collision_pairs,
    }


def _config(chain: "Chain") -> ChainConfig:
    return ChainConfig(ee_frame=chain.end_effector)


def _arms_first(chain: "Chain") -> int:
    return KINDS.index(chain.kind)
