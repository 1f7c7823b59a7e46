# SPDX-License-Identifier: Apache-2.0
"""A solver is made for a robot from its description and the weights of a configuration."""

import pytest

from teleop_system.exceptions import ModelError, UnknownNameError
from teleop_system.robots import load_robot
from teleop_system.settings import ChainWeights
from teleop_system.solvers import ChainConfig, make_solver


def weights_in_use(**weights: ChainWeights) -> dict[str, float]:
    solver = make_solver(load_robot("rby1"), weights=weights)
    chains: dict[str, ChainConfig] = solver._options.chains  # type: ignore[attr-defined]
    return {name: chain.position_weight for name, chain in chains.items()}


def test_weights_are_found_by_name_before_kind() -> None:
    found = weights_in_use(arm=ChainWeights(2.0), left_arm=ChainWeights(3.0))
    assert found == {"right_arm": 2.0, "left_arm": 3.0, "torso": ChainConfig("x").position_weight}


def test_weights_of_an_unknown_chain_are_an_error() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'left_arm'"):
        weights_in_use(left_amr=ChainWeights())


def test_a_robot_without_arm_and_torso_is_an_error() -> None:
    with pytest.raises(ModelError, match="'dg5f_right' has neither an arm nor a torso"):
        make_solver(load_robot("dg5f_right"))


def test_the_names_of_the_contract_can_be_imported_from_its_modules() -> None:
    from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
    from teleop_system.solvers.pink_ik_solver import ChainConfig as FromPink
    from teleop_system.solvers.pink_ik_solver import PinkIKSolver
    from teleop_system.solvers.proportional_mapper import ProportionalMapper

    assert FromPink is ChainConfig
    assert all(
        isinstance(each, type) for each in (MuJoCoSimulator, PinkIKSolver, ProportionalMapper)
    )
