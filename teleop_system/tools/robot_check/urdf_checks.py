# SPDX-License-Identifier: Apache-2.0
"""Checks that URDF and MJCF describe the same robot."""

import numpy as np

from teleop_system.robots.urdf import UrdfModel
from teleop_system.robots.urdf_kinematics import link_poses
from teleop_system.tools.robot_check.bench import Bench, Matrix, angles_between
from teleop_system.tools.robot_check.result import CheckResult, failed, listed, passed, skipped

NO_URDF = "there is no URDF to compare with"
SAMPLES = 1000
"""Number of random configurations for the comparison."""
POSITION_TOLERANCE = 1e-6
"""Largest distance in [m] between the same link of both models."""
ANGLE_TOLERANCE = 1e-6
"""Largest angle in [rad] between the same link of both models."""
MASS_TOLERANCE = 1e-3
"""Largest relative difference of the total mass."""


def check_signs(bench: Bench) -> CheckResult:
    """A small positive motion of a joint has the same direction in both models."""
    urdf = bench.urdf
    if urdf is None:
        return skipped(NO_URDF)
    step = 1e-3
    names = urdf.moving_joints
    flipped: list[str] = []
    tilted: list[str] = []
    for name in names:
        child = urdf.joints[name].child
        if child not in bench.contents.body_names():
            continue
        in_mjcf = _mjcf_step(bench, name, child, step)
        in_urdf = _urdf_step(urdf, name, child, step)
        if np.abs(in_mjcf - in_urdf).max() > 1e-3 * step:
            back = _urdf_step(urdf, name, child, -step)
            (flipped if np.abs(in_mjcf - back).max() < 1e-3 * step else tilted).append(name)
    if flipped:
        return failed(f"opposite sign: {listed(flipped)}", "negate their axis in one of the files")
    if tilted:
        return failed(f"other axis: {listed(tilted)}", "give them the same axis in both files")
    return passed(f"{len(names)} joints have the same direction in URDF and MJCF")


def check_kinematics(bench: Bench) -> CheckResult:
    """Every common link has the same pose in both models, for all joint positions."""
    urdf = bench.urdf
    if urdf is None:
        return skipped(NO_URDF)
    common = [link for link in urdf.masses if link in bench.contents.body_names()]
    if not common:
        return failed(
            "no body of the MJCF has the name of a URDF link",
            "give bodies and links the same names",
        )
    independent = [name for name in urdf.moving_joints if urdf.joints[name].mimics is None]
    samples = bench.sample(independent, SAMPLES)
    root = _root_pose(bench, urdf, common[0])
    expected = link_poses(urdf, samples)
    in_urdf = root @ np.stack([expected[link] for link in common], axis=1)  # (N, links, 4, 4)
    in_mjcf = _body_poses(bench, urdf, common, samples)
    distances = np.linalg.norm(in_mjcf[..., :3, 3] - in_urdf[..., :3, 3], axis=-1)
    angles = angles_between(in_mjcf, in_urdf)
    detail = (
        f"{len(common)} links, {SAMPLES} configurations: at most "
        f"{distances.max():.1e} m, {angles.max():.1e} rad apart"
    )
    if distances.max() > POSITION_TOLERANCE or angles.max() > ANGLE_TOLERANCE:
        wrong = (distances.max(axis=0) > POSITION_TOLERANCE) | (
            angles.max(axis=0) > ANGLE_TOLERANCE
        )
        first = common[int(np.argmax(wrong))]
        return failed(detail, f"compare origins and axes from {first} on, the first to differ")
    return passed(detail)


def check_mass(bench: Bench) -> CheckResult:
    """Both models have the same mass."""
    if bench.urdf is None:
        return skipped(NO_URDF)
    in_mjcf = float(sum(bench.model.body_mass[body] for body in bench.bodies))
    in_urdf = bench.urdf.total_mass
    detail = f"MJCF {in_mjcf:.3f} kg, URDF {in_urdf:.3f} kg"
    if abs(in_mjcf - in_urdf) > MASS_TOLERANCE * max(in_mjcf, in_urdf):
        body = max(bench.contents.body_names(), key=lambda name: _difference(bench, name))
        return failed(detail, f"compare the masses link by link; {body} differs most")
    return passed(detail)


def _mjcf_step(bench: Bench, joint: str, body: str, step: float) -> Matrix:
    """Return the motion of a body in its own frame when its joint moves from zero."""
    bench.set_pose({joint: 0.0})
    before = bench.pose(body)
    bench.set_pose({joint: step})
    return np.asarray(np.linalg.inv(before) @ bench.pose(body))


def _urdf_step(urdf: UrdfModel, joint: str, link: str, step: float) -> Matrix:
    # Only the joint's own axis is tested, not the joint that it mimics.
    before = link_poses(urdf, {})[link][0]
    leader = urdf.joints[joint].mimics
    factor = urdf.joints[joint].multiplier if leader else 1.0
    after = link_poses(urdf, {leader or joint: step / factor})[link][0]
    if leader:
        parent = urdf.joints[joint].parent
        moved = link_poses(urdf, {leader: step / factor})[parent][0]
        still = link_poses(urdf, {})[parent][0]
        after = still @ np.linalg.inv(moved) @ after
    return np.asarray(np.linalg.inv(before) @ after)


def _with_mimics(urdf: UrdfModel, positions: dict[str, float]) -> dict[str, float]:
    copies = {
        name: joint.multiplier * positions.get(joint.mimics, 0.0) + joint.offset
        for name, joint in urdf.joints.items()
        if joint.mimics is not None
    }
    return {**positions, **copies}


def _root_pose(bench: Bench, urdf: UrdfModel, link: str) -> Matrix:
    """Return the pose of the URDF root in the MJCF world, from a common link."""
    bench.set_pose(_with_mimics(urdf, dict.fromkeys(urdf.moving_joints, 0.0)))
    return np.asarray(bench.pose(link) @ np.linalg.inv(link_poses(urdf, {})[link][0]))


def _body_poses(
    bench: Bench, urdf: UrdfModel, bodies: list[str], samples: dict[str, Matrix]
) -> Matrix:
    """Return the poses of bodies in every sampled configuration, shape (N, bodies, 4, 4)."""
    indices = [bench.model.body(body).id for body in bodies]
    poses = np.tile(np.eye(4), (SAMPLES, len(bodies), 1, 1))
    for sample in range(SAMPLES):
        positions = {name: float(values[sample]) for name, values in samples.items()}
        bench.set_pose(_with_mimics(urdf, positions))
        poses[sample, :, :3, :3] = bench.data.xmat[indices].reshape(-1, 3, 3)
        poses[sample, :, :3, 3] = bench.data.xpos[indices]
    return poses


def _difference(bench: Bench, body: str) -> float:
    assert bench.urdf is not None
    return abs(float(bench.model.body(body).mass[0]) - bench.urdf.masses.get(body, 0.0))
