# SPDX-License-Identifier: Apache-2.0
"""Runs whole sessions in MuJoCo, and compares the hands with where they should be.

The expected poses are computed here from the trackers alone, by the definition of relative
mapping; the poses of the robot come from MuJoCo. No controller takes part in the comparison.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from teleop_system.interfaces import Pose6D
from teleop_system.robots import RobotDescription, load_robot
from teleop_system.session.build import build_session, make_simulator
from teleop_system.session.session import TeleopSession
from teleop_system.session.signals import Samples
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
from tests.session.frame_poses import FramePoses
from tests.session.sessions import Disturb, DisturbedSource, settings_with
from tests.solvers.reachability import Reachability

Array = NDArray[np.float64]

HANDS = {"right_hand": "right_arm", "left_hand": "left_arm"}
SETTLING = 1.5
"""Time after engaging in [s] in which the ramp of the promises still limits the speed."""
DOUBTFUL = (0.015, np.radians(3.0))
"""Errors [m], [rad] above which it is checked whether the hand can reach its expected pose."""
EVERY = 20
"""Ticks between two such checks; the result holds until the next one."""


@dataclass
class Run:
    """Observations of a run; the lists have an element per tick after settling."""

    wanted: list[dict[str, Pose6D]] = field(default_factory=list)
    joints: list[Array] = field(default_factory=list)
    errors: dict[str, list[tuple[float, float]]] = field(
        default_factory=lambda: {hand: [] for hand in HANDS}
    )
    times: list[float] = field(default_factory=list)
    odometry: list[tuple[float, float, float]] = field(default_factory=list)
    contacts: set[tuple[str, str]] = field(default_factory=set)
    beyond: float = 0.0
    holds: list[str] = field(default_factory=list)
    longest_hold: float = 0.0
    reachable: NDArray[np.bool_] = field(default_factory=lambda: np.ones(0, dtype=bool))

    def rms(self, hand: str) -> tuple[float, float]:
        """Return the RMS error of a hand in [m] and [deg] where its expected pose is reachable."""
        errors = np.array(self.errors[hand])[self.reachable]
        distance, rotation = np.sqrt(np.mean(np.square(errors), axis=0))
        return float(distance), float(np.degrees(rotation))


class Mapping:
    """Expected pose of a hand: its first pose, moved as the tracker moved."""

    def __init__(self, tracker: Pose6D, tool: Pose6D, waist: Pose6D) -> None:
        ahead = Rotation.from_quat(waist.orientation).apply([1.0, 0.0, 0.0])
        self._to_base = Rotation.from_euler("z", -np.arctan2(ahead[1], ahead[0]))
        self._tracker, self._tool = tracker, tool

    def apply(self, tracker: Pose6D) -> Pose6D:
        """Return the expected pose of the hand."""
        moved = self._to_base.apply(tracker.position - self._tracker.position)
        rotation = (
            Rotation.from_quat(tracker.orientation)
            * Rotation.from_quat(self._tracker.orientation).inv()
        )
        wanted = (self._to_base * rotation * self._to_base.inv()) * Rotation.from_quat(
            self._tool.orientation
        )
        return Pose6D(self._tool.position + moved, wanted.as_quat())


def run_loop(seconds: float, *overrides: str, disturb: Disturb | None = None) -> Run:
    """Run a session, and return what was observed."""
    settings = settings_with(*overrides)
    robot = load_robot(settings.robot.name)
    simulator = make_simulator(settings)
    assert isinstance(simulator, MuJoCoSimulator)
    session = build_session(settings, simulator=simulator)
    if disturb is not None:
        session._source = DisturbedSource(session._source, disturb)
    try:
        session.start()
        return _observe(session, simulator, robot, seconds)
    finally:
        session.close()
        simulator.shutdown()


def _observe(
    session: TeleopSession, simulator: MuJoCoSimulator, robot: RobotDescription, seconds: float
) -> Run:
    names = [
        joint
        for chain in robot.chains.values()
        if chain.kind in ("arm", "torso")
        for joint in chain.joints
    ]
    tools = {hand: robot.chains[chain].end_effector for hand, chain in HANDS.items()}
    seen, mappings, since = Run(), {}, np.inf
    frames = FramePoses(simulator, "base", list(tools.values()))
    order = simulator.joint_indices(names)
    limits = [robot.limits(name) for name in names]
    lower = np.array([limit.lower for limit in limits])
    upper = np.array([limit.upper for limit in limits])
    for tick in range(round(seconds * session.rate)):
        now = tick / session.rate
        session.step(now)
        samples: Samples = session._source.read(now)
        frames.update()
        waist = samples["waist"]
        assert isinstance(waist, Pose6D)
        if session.status.following:
            since = min(since, now)
            wanted = {}
            for hand, tool in tools.items():
                tracker = samples[hand]
                assert isinstance(tracker, Pose6D)
                mapping = mappings.setdefault(hand, Mapping(tracker, frames[tool], waist))
                wanted[HANDS[hand]] = mapping.apply(tracker)
                if now - since >= SETTLING:
                    seen.errors[hand].append(_apart(wanted[HANDS[hand]], frames[tool]))
            if now - since >= SETTLING:
                seen.wanted.append(wanted)
                seen.joints.append(simulator.get_state().joint_positions[order])
        seen.times.append(now)
        seen.odometry.append(session.robot_side.drive.odometry())
        seen.contacts |= simulator.self_contacts()
        sent = simulator.get_joint_targets()[order]
        seen.beyond = max(seen.beyond, float(np.maximum(lower - sent, sent - upper).max()))
    assert session.recorder is not None
    holds = [each for each in session.recorder.events.interventions if each.severity >= 2]
    seen.holds = [f"{each.began:.2f} {each.rule.id} {each.subject}" for each in holds]
    seen.longest_hold = max((each.ended - each.began for each in holds), default=0.0)
    seen.reachable = _judge(seen, robot, names)
    return seen


def _apart(one: Pose6D, other: Pose6D) -> tuple[float, float]:
    difference = Rotation.from_quat(one.orientation) * Rotation.from_quat(other.orientation).inv()
    return float(np.linalg.norm(one.position - other.position)), float(difference.magnitude())


def _judge(seen: Run, robot: RobotDescription, names: Sequence[str]) -> NDArray[np.bool_]:
    """Return at which ticks both hands can reach their expected poses.

    Expected poses with small errors are reachable and need no search.
    """
    errors = np.array(list(seen.errors.values()))  # Hands, ticks, kinds of error.
    doubtful = (errors > DOUBTFUL).any(axis=(0, 2))
    reachable = np.ones(doubtful.size, dtype=bool)
    oracle = Reachability(robot, names)
    for first in range(0, doubtful.size, EVERY):
        ticks = slice(first, first + EVERY)
        if doubtful[ticks].any():
            verdict = oracle.search(seen.wanted[first], seen.joints[first])
            reachable[ticks] = verdict.is_reachable
    return reachable
