# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from teleop_system.calibration import calibrate_a_pose
from teleop_system.exceptions import InvalidPoseError
from teleop_system.interfaces import Pose6D, TrackerRole
from teleop_system.utils.transforms import quat_distance, quat_exp, quat_multiply, quat_rotate

RIGHT, LEFT, WAIST = TrackerRole.RIGHT_HAND, TrackerRole.LEFT_HAND, TrackerRole.WAIST
Samples = list[dict[TrackerRole, Pose6D]]

TOOLS = {
    RIGHT: Pose6D(np.array([0.22, -0.66, 0.95]), quat_exp([0.1, 0.2, 0.3])),
    LEFT: Pose6D(np.array([0.22, 0.66, 0.95]), quat_exp([-0.1, 0.2, -0.3])),
    WAIST: Pose6D(np.array([0.0, 0.0, 1.29]), quat_exp([0.0, 0.0, 0.0])),
}


def operator(heading: float, scale: float, noise: float = 0.0, count: int = 20) -> Samples:
    """Return samples of a person with the robot's proportions, another size and heading."""
    random = np.random.default_rng(0)
    to_heading = quat_exp([0.0, 0.0, heading])
    return [
        {
            role: Pose6D(
                quat_rotate(to_heading, pose.position / scale)
                + np.array([2.0, -1.0, 0.1])
                + noise * random.normal(size=3),
                quat_multiply(to_heading, quat_exp([0.3, 0.0, 0.0])),
                0.01 * k,
            )
            for role, pose in TOOLS.items()
        }
        for k in range(count)
    ]


@pytest.mark.parametrize("heading", [0.0, 1.0, -3.0])
def test_heading_and_scale_are_found(heading: float) -> None:
    found = calibrate_a_pose(operator(heading, 0.8), TOOLS)
    assert found.heading == pytest.approx(heading)
    assert found.scale == pytest.approx(0.8)
    assert found.residual < 1e-9
    assert found.motion < 1e-9


def test_a_wrong_pose_gives_a_residual_at_the_wrong_trackers() -> None:
    samples = operator(0.5, 1.0)
    for sample in samples:
        pose = sample[RIGHT]
        sample[RIGHT] = pose.translated(np.array([0.0, 0.0, 0.4]))
    found = calibrate_a_pose(samples, TOOLS)
    assert 0.06 < found.residual < 0.4
    worst = max(found.offsets, key=lambda role: float(np.linalg.norm(found.offsets[role])))
    assert worst is RIGHT


def test_noise_is_averaged_and_reported() -> None:
    found = calibrate_a_pose(operator(0.5, 1.0, noise=0.002, count=200), TOOLS)
    assert found.residual < 1e-3
    assert found.motion == pytest.approx(0.002 * np.sqrt(3.0), rel=0.1)
    tracker, tool = found.anchors[LEFT]
    assert tool is TOOLS[LEFT]
    expected = quat_multiply(quat_exp([0.0, 0.0, 0.5]), quat_exp([0.3, 0.0, 0.0]))
    assert quat_distance(tracker.orientation, expected) < 1e-9


def test_lost_samples_are_ignored() -> None:
    samples = [*operator(0.0, 1.0), {role: Pose6D.lost() for role in TOOLS}]
    assert calibrate_a_pose(samples, TOOLS).residual < 1e-9


def test_the_error_names_a_tracker_without_a_pose() -> None:
    samples = [{RIGHT: TOOLS[RIGHT], LEFT: TOOLS[LEFT]}]
    with pytest.raises(InvalidPoseError, match="waist"):
        calibrate_a_pose(samples, TOOLS)


@pytest.mark.parametrize("roles", [(RIGHT,), (RIGHT, LEFT)])
def test_trackers_at_one_point_are_refused(roles: tuple[TrackerRole, ...]) -> None:
    tools = {role: TOOLS[role] for role in roles}
    sample = {role: Pose6D(np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])) for role in roles}
    with pytest.raises(InvalidPoseError, match="close together"):
        calibrate_a_pose([sample], tools)
