# SPDX-License-Identifier: Apache-2.0
"""The operator's modules, from their reports."""

from teleop_system.robot_side.intake import OperatorModules


def test_nobody_heard_means_nothing_fresh() -> None:
    assert not OperatorModules().are_fresh(0.0)


def test_every_module_that_is_there_must_have_its_inputs() -> None:
    modules = OperatorModules()
    modules.receive("arm", fresh=True, detail="", now=1.0)
    assert modules.are_fresh(1.5)
    modules.receive("hand", fresh=False, detail="left glove is stale", now=1.5)
    assert not modules.are_fresh(1.6)
    assert modules.missing(1.6) == "hand: left glove is stale"
    modules.receive("hand", fresh=True, detail="", now=1.7)
    assert modules.are_fresh(1.8)


def test_a_module_that_fell_silent_no_longer_counts() -> None:
    modules = OperatorModules()
    modules.receive("hand", fresh=False, detail="left glove is stale", now=1.0)
    modules.receive("arm", fresh=True, detail="", now=1.9)
    assert modules.present(2.1) == ("arm",)
    assert modules.are_fresh(2.1) and modules.missing(2.1) == ""
    assert not modules.are_fresh(3.0)
