# SPDX-License-Identifier: Apache-2.0
"""Promise: an emergency stop is latched within one cycle and holds position under power.

It is released only by reset and re-engage.
"""

import numpy as np

from teleop_system.interfaces.causes import Rule, Severity
from tests.safety.oracle import JointOracle
from tests.safety.rig import Rig, causes_of, subjects_of
from tests.safety.test_rate_limits import free_robot


def stopped_rig() -> Rig:
    """Return a rig whose stop was pressed for one cycle at full speed, 1.5 s ago."""
    rig = Rig(free_robot())
    rig.velocity = (0.5, 0.0)
    rig.target = np.where(rig.start > 0.0, rig.manager.parts.lower, rig.manager.parts.upper)
    rig.run(1.05)
    rig.estop = True
    rig.cycle()
    rig.estop = False
    rig.run(1.5)
    return rig


def test_pressed_at_full_speed_the_robot_stops_within_its_limits_and_holds() -> None:
    rig = stopped_rig()
    oracle = JointOracle(rig.robot, rig.names, rig.config.period, rig.config.stall_after)
    oracle.start(rig.start)
    for now, output in zip(rig.nows, rig.outputs, strict=True):
        oracle.add(now, output.positions)
    assert list(oracle.violations()) == []
    speeds = np.abs(np.diff(rig.positions, axis=0)) * 100.0
    pressed = 105
    assert speeds[pressed - 1].max() > 2.5
    # From this cycle on no joint speeds up more than its jerk limit makes unavoidable,
    reach = rig.manager.parts.acceleration**2 / (2.0 * rig.manager.parts.jerk)
    assert (speeds[pressed:] <= speeds[pressed - 1] + reach).all()
    # the last one stands within 0.8 s, and it holds where it stands, not at zero.
    assert speeds[pressed + 80 :].max() == 0.0
    assert np.abs(rig.outputs[-1].positions).max() > 0.5
    assert rig.outputs[-1].base.linear_x == 0.0


def test_it_is_latched_in_the_cycle_it_is_pressed() -> None:
    rig = Rig()
    rig.run(0.1)
    rig.estop = True
    output = rig.cycle()
    (cause,) = causes_of(output, Rule.ESTOP)
    assert cause.severity is Severity.STOP
    assert output.severity is Severity.STOP
    assert rig.manager.estopped
    assert output.holding == {*rig.parts, "base"}


def test_every_command_is_ignored_while_it_is_latched() -> None:
    rig = stopped_rig()
    held = rig.outputs[-1].positions
    rig.engaged = set()
    rig.cycle()
    rig.engaged = {*rig.parts, "base"}
    rig.target = rig.start.copy()
    np.testing.assert_array_equal(rig.run(1.0).positions, held)


def test_reset_alone_does_not_release_it() -> None:
    rig = stopped_rig()
    held = rig.outputs[-1].positions
    assert rig.manager.reset_estop()
    rig.target = rig.start.copy()
    output = rig.run(1.0)
    np.testing.assert_array_equal(output.positions, held)
    assert subjects_of(output, Rule.NOT_ENGAGED) == {*rig.parts, "base"}


def test_engaging_before_the_reset_does_not_count() -> None:
    rig = stopped_rig()
    rig.engaged = set()
    rig.cycle()
    rig.engaged = {*rig.parts, "base"}
    rig.cycle()
    rig.manager.reset_estop()
    held = rig.outputs[-1].positions
    rig.target = rig.start.copy()
    np.testing.assert_array_equal(rig.run(1.0).positions, held)


def test_reset_and_engaging_again_release_it() -> None:
    rig = stopped_rig()
    rig.manager.reset_estop()
    rig.engaged = set()
    rig.cycle()
    rig.engaged = {*rig.parts, "base"}
    rig.target = rig.start.copy()
    output = rig.run(4.0)
    np.testing.assert_allclose(output.positions, rig.start, atol=1e-3)
    assert not causes_of(output, Rule.ESTOP)


def test_it_cannot_be_reset_while_it_is_pressed() -> None:
    rig = Rig()
    rig.estop = True
    rig.cycle()
    assert not rig.manager.reset_estop()
    assert rig.manager.estopped


def test_a_new_start_does_not_release_it() -> None:
    rig = stopped_rig()
    rig.manager.reset(dict(zip(rig.names, rig.start.tolist(), strict=True)))
    assert rig.manager.estopped
    rig.manager.reset_estop()
    rig.target[:] = 0.1
    np.testing.assert_array_equal(rig.run(0.5).positions, rig.start)
