# SPDX-License-Identifier: Apache-2.0
"""A robot of plain slaves, as a third party writes it, is driven like the simulated one."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from teleop_system import registry
from teleop_system.exceptions import UnknownNameError
from teleop_system.robot_side.drive import RobotDrive, simulated_drive
from teleop_system.robot_side.engagement_table import EngagementState
from teleop_system.robot_side.requests import Requests
from teleop_system.robot_side.robot_side import RobotSide
from teleop_system.safety import PartCommand, RobotParts, SafetyOutput
from teleop_system.session.build import build_session, make_simulator
from teleop_system.simulators.simulated_robot import SimulatedRobot
from tests.robot_side.robot_sides import PERIOD, IdealRobot, rby1
from tests.session.sessions import Rig, settings_with

JOINT = "right_arm_3"
RAMP_ENDED = 150
"""Cycles after which both robots follow at full speed."""


class _Cycles:
    """Runs one robot side with an operator who bends an elbow."""

    def __init__(self, drive: RobotDrive) -> None:
        settings = settings_with("session.self_test=false")
        self.robot_side = RobotSide(rby1(), drive, settings.session, settings.safety)
        self.home = rby1().pose(rby1().initial_pose)

    def run(self, now: float, elapsed: float) -> SafetyOutput | None:
        commands = {
            name: PartCommand(self._positions(part.joints, elapsed), now)
            for name, part in self.robot_side.safety.parts.items()
        }
        engage = self.robot_side.status.state is EngagementState.READY
        requests = Requests(engage=engage)
        return self.robot_side.step(now, commands, None, requests, inputs_fresh=True)

    def _positions(self, joints: Sequence[str], elapsed: float) -> list[float]:
        bent = 0.3 * np.sin(elapsed)
        return [self.home[joint] + (bent if joint == JOINT else 0.0) for joint in joints]


def test_it_gets_the_same_commands_as_the_simulated_robot() -> None:
    ideal = IdealRobot(rby1())
    plain = _Cycles(RobotDrive(ideal.parts, *ideal.slaves()))
    simulator = make_simulator(settings_with())
    simulated = SimulatedRobot(simulator)
    other = _Cycles(simulated_drive(rby1(), simulated))
    try:
        now = 10.0
        for cycle in range(600):
            now += PERIOD
            ideal.now = now
            simulated.advance(now, PERIOD if cycle else 0.0)
            output, expected = plain.run(now, PERIOD * cycle), other.run(now, PERIOD * cycle)
            assert (output is None) == (expected is None)
            if output is not None and expected is not None:
                # The simulated robot sags a little before the first cycle reads it, so the two
                # differ until the ramp after engaging has ended.
                if cycle >= RAMP_ENDED:
                    np.testing.assert_allclose(output.positions, expected.positions, atol=1e-9)
                np.testing.assert_array_equal(ideal.positions, output.positions)
        assert plain.robot_side.is_following and other.robot_side.is_following
        column = ideal.parts.joints.index(JOINT)
        assert abs(ideal.positions[column] - plain.home[JOINT]) > 0.05
    finally:
        simulator.shutdown()


def test_a_session_drives_registered_hardware(monkeypatch: pytest.MonkeyPatch) -> None:
    ideal = IdealRobot(rby1())

    create_ours = registry.create

    def create(kind: str, name: str, *args: Any, **options: Any) -> Any:
        if kind != "robot_side":
            return create_ours(kind, name, *args, **options)
        assert (name, args) == ("third_party", (rby1(),))
        return ideal.slaves()

    create_ours = registry.create
    monkeypatch.setattr(
        registry,
        "create",
        lambda kind, *args, **more: (
            create(kind, *args, **more)
            if kind == "robot_side"
            else create_ours(kind, *args, **more)
        ),
    )
    settings = settings_with(
        "session.mode=hardware", "hardware.robot=third_party", "session.record=false"
    )
    rig = Rig(build_session(settings))
    start = ideal.positions.copy()
    try:
        rig.session.start()
        for _ in range(600):
            ideal.now = rig.now
            rig.run(PERIOD)
        assert rig.session.status.state is EngagementState.ENGAGED
        assert rig.session.output is not None
        np.testing.assert_array_equal(ideal.positions, rig.session.output.positions)
        assert np.abs(ideal.positions - start).max() > 0.05
    finally:
        rig.session.close()


def test_every_part_needs_a_slave() -> None:
    parts, slaves = RobotParts(rby1()), dict(IdealRobot(rby1()).slaves().parts)
    del slaves["head"]
    with pytest.raises(UnknownNameError, match="head"):
        RobotDrive(parts, slaves)
