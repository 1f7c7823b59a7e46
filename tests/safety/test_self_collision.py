# SPDX-License-Identifier: Apache-2.0
"""Promise: links slow down from 50 mm on, stop by 10 mm, and can always retreat."""

import dataclasses
from collections.abc import Mapping

import numpy as np
import pytest

from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.solvers import distance_kernels, link_distances
from tests.safety.distances import MujocoDistances
from tests.safety.oracle import JointOracle
from tests.safety.rig import Rig, causes_of

SLOW = 0.05
STOP = 0.01


@dataclasses.dataclass(frozen=True)
class Sweep:
    """A motion into the robot's own body, and the links that meet in it."""

    robot: str
    moves: Mapping[str, float]
    links: tuple[str, str]


SWEEPS = {
    "arm into torso": Sweep("rby1", {"right_arm_2": 1.4}, ("link_right_arm_5", "link_torso_5")),
    "arm into arm": Sweep(
        "rby1",
        {"right_arm_0": -0.7, "left_arm_0": -0.7, "right_arm_2": 1.2, "left_arm_2": -1.2},
        ("link_left_arm_5", "link_right_arm_5"),
    ),
    "arm into raised arm": Sweep(
        "rby1",
        {"right_arm_0": -0.9, "right_arm_2": 2.0, "left_arm_0": -0.6},
        ("link_left_arm_5", "link_right_arm_5"),
    ),
    "hand into head": Sweep(
        "rby1_dg5f",
        {"right_arm_0": -0.9, "right_arm_1": -1.1, "right_arm_5": -1.3},
        ("rl_dg_palm", "link_head_2"),
    ),
    "wrist into head": Sweep(
        "rby1",
        {"right_arm_0": -2.2, "right_arm_4": -1.9, "right_arm_5": -1.3},
        ("link_right_arm_5", "link_head_2"),
    ),
    "torso into arm": Sweep(
        "rby1",
        {"torso_5": 1.5, "right_arm_2": 1.2},
        ("link_right_arm_5", "link_torso_5"),
    ),
}


def swept(sweep: Sweep, seconds: float = 2.5) -> tuple[Rig, list[float]]:
    """Drive into contact; return the rig, and the smallest distance of every cycle [m]."""
    rig = Rig(sweep.robot)
    rig.run(1.0)
    rig.aim(**sweep.moves)
    rig.run(seconds)
    distances = MujocoDistances(rig.robot, rig.names)
    return rig, [distances.least(positions)[0] for positions in rig.positions]


@pytest.mark.parametrize("name", SWEEPS)
def test_links_stop_before_they_meet_and_the_cause_names_them(name: str) -> None:
    sweep = SWEEPS[name]
    rig, distances = swept(sweep)
    assert min(distances) >= STOP
    assert distances[-1] < STOP + 0.002  # They did come close.
    steps = np.abs(np.diff(rig.positions[-20:], axis=0))
    assert steps.max() < 1e-6  # And stand.
    links = " / ".join
    causes = {cause.subject: cause for cause in causes_of(rig.outputs[-1], Rule.SELF_COLLISION)}
    cause = causes.get(links(sweep.links)) or causes[links(reversed(sweep.links))]
    assert cause.severity is Severity.HOLD
    assert cause.limit == STOP
    assert cause.value == pytest.approx(distances[-1], abs=1e-3)
    # No limit of a joint is among the causes.
    assert not causes_of(rig.outputs[-1], Rule.JERK)


@pytest.mark.parametrize("name", SWEEPS)
def test_stopping_keeps_the_limits_of_every_joint(name: str) -> None:
    rig, _ = swept(SWEEPS[name])
    oracle = JointOracle(rig.robot, rig.names, rig.config.period, rig.config.stall_after)
    oracle.start(rig.start)
    for now, output in zip(rig.nows, rig.outputs, strict=True):
        oracle.add(now, output.positions)
    assert list(oracle.violations()) == []


@pytest.mark.parametrize("name", SWEEPS)
def test_from_contact_the_robot_can_retreat_at_once(name: str) -> None:
    rig, distances = swept(SWEEPS[name])
    near = distances[-1]
    rig.target = rig.start.copy()
    rig.run(3.0)
    measure = MujocoDistances(rig.robot, rig.names)
    back = [measure.least(positions)[0] for positions in rig.positions[len(distances) :]]
    assert min(back) >= near - 1e-5
    assert max(back[:60]) > near + 0.02
    np.testing.assert_allclose(rig.outputs[-1].positions, rig.start, atol=1e-3)


def test_shapes_that_only_a_library_knows_are_kept_apart_alike(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sweep = SWEEPS["arm into torso"]
    ours, _ = swept(sweep, seconds=1.0)
    unknown = (distance_kernels.OTHER, (0.0, 0.0, 0.0))
    monkeypatch.setattr(link_distances, "_kind_and_sizes", lambda geometry: unknown)
    theirs, distances = swept(sweep, seconds=1.0)
    assert STOP <= min(distances) < STOP + 0.002
    # The library finds distances to within about a micrometre.
    np.testing.assert_allclose(theirs.positions, ours.positions, atol=1e-4)


def test_links_slow_down_before_they_stop() -> None:
    rig, distances = swept(SWEEPS["arm into torso"])
    closing = -np.diff(distances) / rig.config.period
    at = np.array(distances[:-1])
    near = (at < SLOW) & (at > STOP + 0.002)
    assert near.sum() > 10
    assert (np.diff(closing[near]) < 0.0).all()
    assert closing[near][-1] < 0.2 * closing[near][0]
    severities = {
        cause.severity
        for output in rig.outputs
        for cause in causes_of(output, Rule.SELF_COLLISION)
    }
    assert severities == {Severity.LIMITED, Severity.HOLD}


def test_only_the_limbs_concerned_are_held() -> None:
    rig = Rig()
    rig.run(1.0)
    rig.aim(right_arm_2=1.4)
    rig.run(2.0)
    rig.aim(left_arm_2=-0.3, head_0=0.4, torso_5=0.1)
    output = rig.run(2.0)
    for joint, position in (("left_arm_2", -0.3), ("head_0", 0.4), ("torso_5", 0.1)):
        assert output.positions[rig.column(joint)] == pytest.approx(position, abs=1e-3)


def test_a_robot_found_too_near_may_move_away_but_not_nearer() -> None:
    rig = Rig()
    measure = MujocoDistances(rig.robot, rig.names)
    pose, joint = rig.start.copy(), rig.column("right_arm_2")
    while measure.least(pose)[0] > 0.6 * STOP:
        pose[joint] += 0.005
    rig = Rig(pose={"right_arm_2": float(pose[joint])})
    start = measure.least(rig.start)[0]
    assert 0.0 < start < STOP
    rig.run(0.5)
    rig.aim(right_arm_2=0.9)
    rig.run(1.0)
    assert min(measure.least(row)[0] for row in rig.positions) >= start - 1e-5
    rig.aim(right_arm_2=0.2)
    output = rig.run(2.0)
    assert output.positions[rig.column("right_arm_2")] == pytest.approx(0.2, abs=1e-3)


def test_the_robot_leaves_a_target_inside_its_body_without_a_jump() -> None:
    rig = Rig()
    rig.run(1.0)
    rig.aim(right_arm_2=1.4, right_arm_1=0.0, right_arm_3=-2.5)
    rig.run(1.5)
    before = rig.positions[-1]
    rig.aim(right_arm_2=-0.5, right_arm_1=-0.5, right_arm_3=-2.0)
    rig.cycle()
    assert np.abs(rig.positions[-1] - before).max() <= 0.002
