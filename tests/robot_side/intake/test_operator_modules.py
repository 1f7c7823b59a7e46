# SPDX-License-Identifier: Apache-2.0
"""The operator's modules, as the robot hears of them."""

from teleop_system.robot_side.intake import OperatorModules


def test_nobody_heard_means_nothing_fresh() -> None:
    assert not OperatorModules().are_fresh(0.0)


def test_every_module_that_is_there_must_have_its_inputs() -> None:
    watch = OperatorModules()
    watch.receive("arm", fresh=True, detail="", now=1.0)
    assert watch.are_fresh(1.5)
    watch.receive("hand", fresh=False, detail="left glove is stale", now=1.5)
    assert not watch.are_fresh(1.6)
    assert watch.missing(1.6) == "hand: left glove is stale"
    watch.receive("hand", fresh=True, detail="", now=1.7)
    assert watch.are_fresh(1.8)


def test_a_module_that_fell_silent_no_longer_counts() -> None:
    watch = OperatorModules()
    watch.receive("hand", fresh=False, detail="left glove is stale", now=1.0)
    watch.receive("arm", fresh=True, detail="", now=1.9)
    assert watch.present(2.1) == ("arm",)
    assert watch.are_fresh(2.1) and watch.missing(2.1) == ""
    assert not watch.are_fresh(3.0)
