# SPDX-License-Identifier: Apache-2.0
"""Feet of a recording glide with the body, and a base that follows them drives the same path."""

import math
from pathlib import Path

import numpy as np
import pytest

from teleop_system.interfaces import TrackerRole
from teleop_system.mocap.bvh_motion import load_motion
from teleop_system.mocap.config import MocapConfig
from teleop_system.mocap.mapped_motion import MappedMotion
from teleop_system.modules.locomotion import LocomotionController
from teleop_system.settings import load_settings
from teleop_system.simulators.simulated_tracker import REFERENCE_POSITIONS
from teleop_system.utils.transforms import quat_rotate

LEFT, RIGHT = TrackerRole.LEFT_FOOT, TrackerRole.RIGHT_FOOT
FEET = (LEFT, RIGHT)
DT = 0.02


def motion_of(name: str, **changes: object) -> MappedMotion:
    return load_motion(MocapConfig(file=Path(name), noise=0.0, **changes))  # type: ignore[arg-type]


def times_of(motion: MappedMotion) -> list[float]:
    return np.arange(0.0, motion.duration, DT).tolist()


def in_body(motion: MappedMotion, role: TrackerRole, time: float) -> list[float]:
    """Return the position of a foot along and across the heading of the body in [m]."""
    x, y, heading = motion.body(time)
    foot = motion.pose(role, time).position
    dx, dy = float(foot[0]) - x, float(foot[1]) - y
    cosine, sine = math.cos(heading), math.sin(heading)
    return [cosine * dx + sine * dy, cosine * dy - sine * dx]


@pytest.mark.parametrize("name", ["walk_and_reach", "turn", "walk_and_reach_mixamo"])
def test_feet_keep_their_position_below_the_body_and_its_heading(name: str) -> None:
    motion = motion_of(name)
    for role in FEET:
        positions = [in_body(motion, role, time) for time in times_of(motion)]
        # Between two frames the path is a line, whose heading is not exactly the mean.
        np.testing.assert_allclose(positions - np.median(positions, axis=0), 0.0, atol=2e-3)
        for time in times_of(motion)[::10]:
            ahead = quat_rotate(motion.pose(role, time).orientation, np.array([1.0, 0.0, 0.0]))
            heading = motion.body(time)[2]
            expected = [math.cos(heading), math.sin(heading), 0.0]
            np.testing.assert_allclose(ahead, expected, atol=1e-3)


def test_a_foot_on_the_floor_does_not_stop_while_the_body_walks() -> None:
    """A person's feet stop for half of every step."""
    relative, absolute = (
        motion_of("walk_and_reach", normalization=n) for n in ("relative", "absolute")
    )

    def slowest(motion: MappedMotion, role: TrackerRole) -> float:
        positions = np.array([motion.pose(role, time).position[:2] for time in times_of(motion)])
        speeds = np.linalg.norm(np.diff(positions, axis=0), axis=1) / DT
        return float(np.percentile(speeds[100:200], 10.0))  # Between 2 s and 4 s it walks.

    for role in FEET:
        assert slowest(absolute, role) < 0.1
        assert slowest(relative, role) > 0.25


def test_feet_are_lifted_alternately_as_recorded_and_stand_at_one_height() -> None:
    relative, absolute = (
        motion_of("walk_and_reach", normalization=n) for n in ("relative", "absolute")
    )
    heights = {
        role: np.array(
            [
                [motion.pose(role, time).position[2] for time in times_of(motion)]
                for motion in (relative, absolute)
            ]
        )
        for role in FEET
    }
    for role, (now, then) in heights.items():
        assert np.ptp(now - then) < 1e-9, "no lift is lost or changed"
        planted = now < REFERENCE_POSITIONS[role][2] + 0.02
        assert planted.mean() > 0.4
        assert np.median(now[planted]) == pytest.approx(REFERENCE_POSITIONS[role][2], abs=0.01)
        assert now.max() > REFERENCE_POSITIONS[role][2] + 0.04
    lifted = [heights[role][0] > REFERENCE_POSITIONS[role][2] + 0.03 for role in FEET]
    assert not np.logical_and(*lifted).any(), "one foot is on the floor while walking"


def test_feet_stand_side_by_side_each_on_its_own_side() -> None:
    motion = motion_of("walk_and_reach")
    left, right = (in_body(motion, role, 3.0) for role in FEET)
    assert left[1] > 0.03 and right[1] < -0.03
    assert abs(left[0] - right[0]) < 0.1


@pytest.mark.parametrize(
    ("name", "distance", "angle"), [("walk_and_reach", 0.05, 0.05), ("turn", 0.05, 0.05)]
)
def test_a_base_that_follows_gliding_feet_ends_at_the_position_of_the_body(
    name: str, distance: float, angle: float
) -> None:
    motion = motion_of(name)
    controller = LocomotionController(load_settings(["hardware=mocap"]).locomotion)
    x = y = heading = 0.0
    causes = set()
    for tick in range(1, round((motion.duration + 3.0) / DT)):
        now = tick * DT
        feet = [motion.pose(role, now, now) for role in FEET]
        output = controller.update(*feet, now=now, dt=DT)
        causes |= {cause.rule.id for cause in output.causes}
        command = output.command
        heading += command.angular_z * DT
        x += command.linear_x * math.cos(heading) * DT
        y += command.linear_x * math.sin(heading) * DT
    assert (command.linear_x, command.angular_z) == (0.0, 0.0), "the base stands as the body does"
    goal = motion.body(motion.duration)
    assert math.hypot(x - goal[0], y - goal[1]) < distance, (x, y, goal)
    assert abs(heading - goal[2]) < angle
    assert "swapped" not in causes and "input_jump" not in causes
