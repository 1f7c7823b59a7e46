# SPDX-License-Identifier: Apache-2.0
"""A simulated person, the controller and the solver: tracking errors of the hands."""

import numpy as np
import pytest

from teleop_system.interfaces import Pose6D, TrackerRole
from teleop_system.interfaces.causes import Rule
from teleop_system.simulators.simulated_tracker import SimulatedTracker
from teleop_system.utils.transforms import quat_conjugate, quat_distance, quat_exp, quat_multiply
from tests.modules.arm_teleop.rig import ALL, LEFT, RIGHT, WAIST, Rig, rules

HANDS = {"right_arm": RIGHT, "left_arm": LEFT}
RAMP = 100


def noisy(pose: Pose6D, random: np.random.Generator) -> Pose6D:
    """Return a pose with 2 mm and 0.5 degrees of noise on every axis."""
    rotation = quat_exp(random.normal(scale=np.radians(0.5), size=3))
    shifted = pose.position + random.normal(scale=0.002, size=3)
    return Pose6D(shifted, quat_multiply(rotation, pose.orientation), pose.timestamp)


@pytest.mark.parametrize(
    ("noise", "seconds", "position", "degrees"), [(False, 20, 0.006, 0.8), (True, 8, 0.010, 1.5)]
)
def test_the_hands_follow_the_operators(
    noise: bool, seconds: int, position: float, degrees: float
) -> None:
    rig, random = Rig(real=True), np.random.default_rng(0)
    trackers = {role: SimulatedTracker(role, seed=2) for role in (RIGHT, LEFT, WAIST)}
    start = rig.controller.tool_poses(rig.joints)
    away: list[float] = []
    angles: list[float] = []
    unreachable = 0
    for tick in range(100 * seconds):
        true = {role: each.pose_at(rig.now) for role, each in trackers.items()}
        poses = {role: noisy(each, random) if noise else each for role, each in true.items()}
        output = rig.tick(poses, ALL)
        unreachable += Rule.UNREACHABLE in rules(output)
        if tick < RAMP or tick % 3:
            continue
        tools = rig.controller.tool_poses(output.positions)
        for chain, role in HANDS.items():
            expected = _expected_pose(start[chain], trackers[role].pose_at(0.0), true[role])
            away.append(float(np.linalg.norm(tools[chain].position - expected.position)))
            angles.append(float(quat_distance(tools[chain].orientation, expected.orientation)))
    # Against where the operator's hands are now: lag, smoothing and solver are all in here.
    assert np.sqrt(np.mean(np.square(away))) < position
    assert np.degrees(np.sqrt(np.mean(np.square(angles)))) < degrees
    assert unreachable < 0.1 * 100 * seconds


def _expected_pose(tool: Pose6D, start: Pose6D, hand: Pose6D) -> Pose6D:
    """Return the expected pose of a tool, by the definition of the clutch."""
    rotation = quat_multiply(hand.orientation, quat_conjugate(start.orientation))
    return Pose6D(
        tool.position + hand.position - start.position, quat_multiply(rotation, tool.orientation)
    )


def test_the_other_hand_is_not_dragged_along() -> None:
    rig = Rig(real=True)
    tracker = SimulatedTracker(TrackerRole.RIGHT_HAND, seed=1, amplitude=0.1)
    start = rig.controller.tool_poses(rig.joints)["left_arm"].position
    for _ in range(500):
        poses = rig.poses() | {RIGHT: tracker.pose_at(rig.now)}
        output = rig.tick(poses, ("right_arm",))
    end = rig.controller.tool_poses(output.positions)["left_arm"].position
    assert np.linalg.norm(end - start) < 0.005
