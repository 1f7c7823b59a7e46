# SPDX-License-Identifier: Apache-2.0
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from teleop_system.exceptions import ModelError
from teleop_system.robots.urdf import UrdfModel, read_urdf
from teleop_system.robots.urdf_kinematics import link_poses
from tests.robots.models import pendulum_urdf

THREE = """
<robot name="three">
  <link name="a"/><link name="b"/><link name="c"/><link name="d"/>
  <joint name="turn" type="continuous">
    <parent link="a"/><child link="b"/><axis xyz="0 0 2"/>
    <origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>
  </joint>
  <joint name="slide" type="prismatic">
    <parent link="b"/><child link="c"/><axis xyz="1 1 0"/><limit upper="0.5" effort="1"/>
  </joint>
  <joint name="copy" type="revolute">
    <parent link="c"/><child link="d"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" velocity="1" effort="1"/>
    <mimic joint="turn" multiplier="-2" offset="0.5"/>
  </joint>
</robot>
"""


def read(folder: Path, text: str) -> UrdfModel:
    path = folder / "robot.urdf"
    path.write_text(text, encoding="utf-8")
    return read_urdf(path)


def test_joints_limits_and_masses_are_read(tmp_path: Path) -> None:
    urdf = read(tmp_path, pendulum_urdf())
    joint = urdf.joints["swing"]
    assert (joint.parent, joint.child, joint.kind) == ("base", "rod", "revolute")
    assert (joint.lower, joint.upper, joint.velocity, joint.effort) == (-1.0, 1.0, 3.0, 20.0)
    assert (urdf.root, urdf.total_mass, urdf.moving_joints) == ("base", 2.0, ("swing",))


def test_missing_bounds_are_zero_for_a_prismatic_and_infinite_for_a_continuous_joint(
    tmp_path: Path,
) -> None:
    urdf = read(tmp_path, THREE)
    assert (urdf.joints["slide"].lower, urdf.joints["slide"].upper) == (0.0, 0.5)
    assert urdf.joints["turn"].upper == math.inf


def test_axes_are_normalised(tmp_path: Path) -> None:
    urdf = read(tmp_path, THREE)
    assert urdf.joints["turn"].axis == (0.0, 0.0, 1.0)
    np.testing.assert_allclose(np.linalg.norm(urdf.joints["slide"].axis), 1.0)


def test_forward_kinematics_agrees_with_scipy(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    turn, slide = rng.uniform(-3, 3, 20), rng.uniform(0, 0.5, 20)
    poses = link_poses(read(tmp_path, THREE), {"turn": turn, "slide": slide})
    for index in range(20):
        # URDF's roll, pitch and yaw are about fixed axes.
        b = Rotation.from_euler("xyz", [0.1, 0.2, 0.3]) * Rotation.from_rotvec([0, 0, turn[index]])
        c = np.array([1, 2, 3]) + b.apply(slide[index] * np.array([1, 1, 0]) / np.sqrt(2))
        d = b * Rotation.from_rotvec([0, 0.5 - 2 * turn[index], 0])
        np.testing.assert_allclose(poses["c"][index][:3, 3], c, atol=1e-12)
        np.testing.assert_allclose(poses["d"][index][:3, :3], d.as_matrix(), atol=1e-12)


def test_joints_that_are_not_named_are_at_zero(tmp_path: Path) -> None:
    poses = link_poses(read(tmp_path, pendulum_urdf()), {})
    np.testing.assert_array_equal(poses["rod"][0][:3, 3], [0, 0, 1])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<robot", "<robotic", "not well-formed XML"),
        ("robot", "machine", "root is <machine>"),
        ('type="continuous"', 'type="bendy"', "'turn' has the unknown type 'bendy'"),
        ('<parent link="b"/>', '<parent link="x"/>', "'slide' names the unknown link 'x'"),
        ('lower="-1"', 'lower="low"', "lower='low'> is not a number"),
        ('xyz="1 2 3"', 'xyz="1 2"', "needs 3 numbers"),
        ('xyz="0 0 2"', 'xyz="0 0 0"', "has length 0"),
        ('<limit upper="0.5" effort="1"/>', "", "'slide' is prismatic but has no <limit>"),
        ('<link name="a"/>', '<link name="a"/><link name="z"/>', "one tree with one root link"),
        ('<link name="a"/>', "<link/>", "a <link> has no name"),
    ],
)
def test_a_fault_is_reported_with_its_position(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        read(tmp_path, THREE.replace(old, new))
    assert caught.value.path == tmp_path / "robot.urdf"


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"gone\.urdf: cannot be read"):
        read_urdf(tmp_path / "gone.urdf")
