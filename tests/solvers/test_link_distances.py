# SPDX-License-Identifier: Apache-2.0
"""Distances of simple shapes on links agree with those of Pinocchio."""

import numpy as np
import pinocchio as pin
import pytest

from teleop_system.robots import load_robot
from teleop_system.safety.parts import RobotParts
from teleop_system.solvers import distance_kernels as kernels
from teleop_system.solvers.link_distances import LinkDistances
from teleop_system.solvers.robot_geometry import RobotGeometry


@pytest.mark.parametrize("name", ["rby1", "rby1_dg5f"])
def test_distances_agree_with_the_library_at_any_posture(name: str) -> None:
    robot = load_robot(name)
    parts = RobotParts(robot)
    ours = RobotGeometry(robot, parts.joints).distances
    random = np.random.default_rng(0)
    geometry, geometry_data = ours._geometry, ours._geometry.createData()
    model, data = ours._kinematics.model, ours._kinematics.model.createData()
    for _ in range(100):
        joints = random.uniform(parts.lower, parts.upper)
        configuration = ours._kinematics.configuration(joints[ours._columns])
        pin.computeDistances(model, data, geometry, geometry_data, configuration)
        theirs = np.array([result.min_distance for result in geometry_data.distanceResults])
        # For boxes the library iterates, and is only this accurate.
        np.testing.assert_allclose(ours.measure_all(joints), theirs, rtol=0.0, atol=1e-5)


def test_most_pairs_need_no_library() -> None:
    robot = load_robot("rby1")
    parts = RobotParts(robot)
    distances = RobotGeometry(robot, parts.joints).distances
    pose = robot.pose(robot.initial_pose)
    joints = np.array([pose[joint] for joint in parts.joints])
    contacts = known_contacts(distances, joints)
    assert np.isfinite(contacts["distance"]).mean() > 0.9


def known_contacts(distances: LinkDistances, joints: np.ndarray) -> np.ndarray:
    """Return the distances that the kernels compute without the library."""
    contacts = np.empty(distances.count, dtype=kernels.CONTACT)
    kernels.find_contacts(
        distances.tree.joints,
        joints,
        distances.tree.links,
        distances.shapes,
        distances.pairs,
        np.arange(distances.count),
        contacts,
    )
    return contacts


@pytest.mark.parametrize(
    ("p", "d", "q", "e", "distance"),
    [
        ([0, 0, 0], [1, 0, 0], [0.5, 1, -1], [0, 0, 2], 1.0),  # They cross, one above the other.
        ([0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 0, 0], 1.0),  # Parallel.
        ([0, 0, 0], [1, 0, 0], [3, 0, 0], [1, 0, 0], 2.0),  # Collinear.
        ([0, 0, 0], [1, 0, 0], [2, 1, 0], [0, 1, 0], 2.0**0.5),  # End to end.
        ([0, 0, 0], [0, 0, 0], [1, 1, 0], [0, 0, 0], 2.0**0.5),  # Two points.
        ([0, 0, 0], [0, 0, 0], [1, -1, 0], [0, 2, 0], 1.0),  # A point and a segment.
        ([0, 0, 0], [1, 0, 0], [0.5, 0, 0], [0, 1, 0], 0.0),  # They touch.
    ],
)
def test_distances_of_segments_agree_with_those_by_hand(
    p: list[float], d: list[float], q: list[float], e: list[float], distance: float
) -> None:
    one, length, other, other_length = (np.array(v, dtype=np.float64) for v in (p, d, q, e))
    s, t = kernels.nearest_fractions(*(tuple(map(float, v)) for v in (p, d, q, e)))
    assert 0.0 <= s <= 1.0
    assert 0.0 <= t <= 1.0
    apart = np.linalg.norm(one + s * length - other - t * other_length)
    assert apart == pytest.approx(distance, abs=1e-12)


def test_distance_from_a_segment_to_a_box_is_that_of_its_nearest_sample() -> None:
    random = np.random.default_rng(1)
    shares = np.linspace(0.0, 1.0, 2001)[:, None]
    for _ in range(300):
        half = random.uniform(0.05, 0.5, 3)
        p, d = random.uniform(-1.5, 1.5, (2, 3))
        points = p + shares * d
        sampled = np.linalg.norm(np.maximum(np.abs(points) - half, 0.0), axis=1).min()
        nearest = p + kernels.nearest_fraction(tuple(p), tuple(d), kernels.BOX, half) * d
        found = np.linalg.norm(np.maximum(np.abs(nearest) - half, 0.0))
        assert found <= sampled + 1e-12
        assert found == pytest.approx(sampled, abs=1e-3)


def test_distance_from_a_segment_to_a_cylinder_is_that_of_its_nearest_sample() -> None:
    random = np.random.default_rng(3)
    shares = np.linspace(0.0, 1.0, 2001)[:, None]
    for _ in range(300):
        radius, half = random.uniform(0.05, 0.5, 2)
        p, d = random.uniform(-1.5, 1.5, (2, 3))
        sizes = np.array([radius, half, 0.0])

        def away(points: np.ndarray, radius: float = radius, half: float = half) -> np.ndarray:
            around = np.maximum(np.hypot(points[:, 0], points[:, 1]) - radius, 0.0)
            return np.hypot(around, np.maximum(np.abs(points[:, 2]) - half, 0.0))

        share = kernels.nearest_fraction(tuple(p), tuple(d), kernels.CYLINDER, sizes)
        (found,), sampled = away((p + share * d)[None]), away(p + shares * d).min()
        assert found <= sampled + 1e-12
        assert found == pytest.approx(sampled, abs=1e-3)


def test_the_direction_of_a_contact_joins_the_nearest_points() -> None:
    robot = load_robot("rby1")
    parts = RobotParts(robot)
    distances = RobotGeometry(robot, parts.joints).distances
    random = np.random.default_rng(2)
    for _ in range(20):
        joints = random.uniform(parts.lower, parts.upper)
        contacts = known_contacts(distances, joints)
        contacts = contacts[np.isfinite(contacts["distance"])]
        apart, normals = contacts["distance"][:, None], contacts["normal"]
        np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-12)
        between = contacts["on_second"] - contacts["on_first"]
        np.testing.assert_allclose(between, apart * normals, atol=1e-12)
