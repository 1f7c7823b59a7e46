# SPDX-License-Identifier: Apache-2.0
"""The whole body in MuJoCo follows a simulated operator: hands, base, and no self-collision.

What the operator wants is worked out here from the trackers alone, by the definition of relative
mapping, and where the robot is from MuJoCo; nothing of the controllers is asked. The acceptance
run of a minute is this test with TELEOP_CLOSED_LOOP_SECONDS=60.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from teleop_system.interfaces import Pose6D
from teleop_system.runtime.session.build import build_session, make_simulator
from teleop_system.runtime.session.session import TeleopSession
from teleop_system.runtime.signals import Samples
from teleop_system.simulators.frame_poses import FramePoses
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
from tests.runtime.sessions import settings_with

SECONDS = float(os.environ.get("TELEOP_CLOSED_LOOP_SECONDS", "17"))
HANDS = {"right_hand": "ee_right", "left_hand": "ee_left"}
SETTLING = 1.5
"""Time after engaging in [s] in which the ramp of the promises still limits the speed."""
STANDING, BOUT, STEPS, STRIDE = 9.8, 5.6, 8, 0.25
"""The simulated operator stands, then takes eight steps on the spot, over and over; [s], [m]."""

Array = NDArray[np.float64]


@dataclass
class Run:
    """What was seen of a run."""

    times: list[float] = field(default_factory=list)
    errors: dict[str, list[tuple[float, float]]] = field(
        default_factory=lambda: {hand: [] for hand in HANDS}
    )
    places: list[tuple[float, float, float]] = field(default_factory=list)
    contacts: set[tuple[str, str]] = field(default_factory=set)
    holds: list[str] = field(default_factory=list)


class Mapping:
    """Where a hand should be: from where it was, moved as the tracker moved, ahead being ahead."""

    def __init__(self, tracker: Pose6D, tool: Pose6D, waist: Pose6D) -> None:
        ahead = Rotation.from_quat(waist.orientation).apply([1.0, 0.0, 0.0])
        self._to_base = Rotation.from_euler("z", -np.arctan2(ahead[1], ahead[0]))
        self._tracker, self._tool = tracker, tool

    def error(self, tracker: Pose6D, tool: Pose6D) -> tuple[float, float]:
        """Return the distance [m] and the angle [rad] between the hand and where it should be."""
        moved = self._to_base.apply(tracker.position - self._tracker.position)
        distance = np.linalg.norm(tool.position - self._tool.position - moved)
        turned = (
            Rotation.from_quat(tracker.orientation)
            * Rotation.from_quat(self._tracker.orientation).inv()
        )
        wanted = (self._to_base * turned * self._to_base.inv()) * Rotation.from_quat(
            self._tool.orientation
        )
        angle = (Rotation.from_quat(tool.orientation) * wanted.inv()).magnitude()
        return float(distance), float(angle)


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    settings = settings_with()
    simulator = make_simulator(settings)
    assert isinstance(simulator, MuJoCoSimulator)
    session = build_session(settings, simulator=simulator)
    session.start()
    yield observe(session, simulator)
    session.close()
    simulator.shutdown()


def observe(session: TeleopSession, simulator: MuJoCoSimulator) -> Run:
    seen, mappings, since = Run(), {}, np.inf
    frames = FramePoses(simulator, "base", list(HANDS.values()))
    for tick in range(round(SECONDS * session.rate)):
        now = tick / session.rate
        session.step(now)
        samples: Samples = session._source.read(now)
        frames.update()
        waist = samples["waist"]
        assert isinstance(waist, Pose6D)
        if session.status.following:
            since = min(since, now)
            for hand, frame in HANDS.items():
                tracker = samples[hand]
                assert isinstance(tracker, Pose6D)
                mapping = mappings.setdefault(hand, Mapping(tracker, frames[frame], waist))
                if now - since >= SETTLING:
                    seen.errors[hand].append(mapping.error(tracker, frames[frame]))
        seen.times.append(now)
        seen.places.append(session.side.odometry())
        seen.contacts |= simulator.self_contacts()
    assert session.recorder is not None
    seen.holds = [
        f"{each.began:.2f} {each.rule.id} {each.subject}"
        for each in session.recorder.events.interventions
        if each.severity >= 2
    ]
    return seen


@pytest.mark.parametrize("hand", HANDS)
def test_hands_are_where_the_operator_wants_them(run: Run, hand: str) -> None:
    places, angles = np.array(run.errors[hand]).T
    assert places.size > 0.7 * len(run.times)
    assert np.sqrt(np.mean(places**2)) <= 0.015
    assert np.degrees(np.sqrt(np.mean(angles**2))) <= 3.0


def test_the_base_stands_while_the_operator_stands(run: Run) -> None:
    places = np.array(run.places)[np.array(run.times) < STANDING]
    # A base on wheels gives way a little to the arms that move on it.
    assert np.ptp(places[:, :2], axis=0).max() < 0.01


def test_the_base_goes_as_far_as_the_operator_steps(run: Run) -> None:
    bouts = int((SECONDS + 0.1 - 1.0) // (STANDING + BOUT))
    ended = np.array(run.times) < bouts * (STANDING + BOUT) + 1.5
    places = np.array(run.places)[ended]
    walked = bouts * STEPS * STRIDE
    # It takes two steps to know that somebody walks, and a while to come to a stop.
    assert 0.7 * walked <= places[-1, 0] <= 1.1 * walked
    assert abs(places[-1, 1]) < 0.1 * walked


def test_nothing_of_the_robot_touches_itself(run: Run) -> None:
    assert run.contacts == set()


def test_nothing_is_held_on_the_way(run: Run) -> None:
    assert run.holds == []
