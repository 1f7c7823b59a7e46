# SPDX-License-Identifier: Apache-2.0
"""Checks of the simulated robot: self-collision, reach, and holding against gravity."""

import importlib.util
from collections.abc import Iterator
from typing import Any

import numpy as np

from teleop_system.interfaces import IIKSolver, Pose6D
from teleop_system.robots import Chain
from teleop_system.robots.mujoco_library import mujoco
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
from teleop_system.tools.robot_check.bench import Bench, Matrix, angles_between
from teleop_system.tools.robot_check.result import CheckResult, failed, listed, passed, skipped
from teleop_system.tools.robot_simulation import simulate_robot
from teleop_system.utils.transforms import homogeneous_inverse, homogeneous_to_pose

CONTACT_DEPTH = 1e-4
"""Penetration in [m] at which two bodies count as overlapping."""
FARTHEST = 1.0
"""Largest measured distance between bodies in [m]."""

SOLVED_KINDS = ("arm", "torso")
"""Kinds of chain that `make_solver` supports."""
REACH_TARGETS = 8
"""Random targets of every chain."""
REACH_SPREAD = 0.6
"""Largest joint offset in [rad] or [m] from the initial pose to a target."""
REACH_RAMP = 150
"""Ticks in which the target moves from the initial pose to its end."""
REACH_TICKS = 600
"""Largest number of ticks to a target."""
REACH_PERIOD = 0.01
"""Duration of a tick in [s]."""
REACH_POSITION = 1e-3
"""Largest distance in [m] of a reached target."""
REACH_ANGLE = 1e-2
"""Largest angle in [rad] of a reached target."""

HOLD_TIME = 10.0
"""Time in [s] for which the robot must hold its pose."""
HOLD_PERIOD = 0.1
"""Time in [s] between two measurements."""
SETTLE_TIME = 2.0
"""Time in [s] after which it must not move."""
DRIFT = (2e-3, np.deg2rad(0.2))
"""Largest motion of an end effector after that, in [m] and [rad]."""
SAG = (10e-3, np.deg2rad(2.0))
"""Largest deviation of an end effector from its initial pose, in [m] and [rad]."""
HOLD_BASE = 5e-3
"""Largest displacement of the base in [m]."""


def check_self_collision(bench: Bench) -> CheckResult:
    """No two bodies of the robot overlap in any named pose."""
    overlaps: list[str] = []
    nearest, where = FARTHEST, ""
    for name, positions in bench.robot.poses.items():
        bench.set_pose(positions)
        mujoco.mj_collision(bench.model, bench.data)
        overlaps += [
            f"{pair} by {1e3 * depth:.1f} mm at {name}" for pair, depth in _overlaps(bench)
        ]
        for pair, distance in _distances(bench):
            if distance < nearest:
                nearest, where = distance, f"{pair} at {name}"
    if overlaps:
        return failed(
            listed(overlaps, 3),
            "move the pose or shrink the shapes; exclude the pair only if it always touches",
        )
    detail = f"no contact in {listed(list(bench.robot.poses), 8)}"
    if where:
        detail += f"; nearest {1e3 * nearest:.0f} mm: {where}"
    elif not bench.robot.collision_pairs:
        detail += "; robot.yaml lists no collision_pairs to measure"
    return passed(detail)


def check_reach(bench: Bench) -> CheckResult:
    """Inverse kinematics moves every chain to reachable poses."""
    robot = bench.robot
    chains = [chain for chain in robot.chains.values() if chain.kind in SOLVED_KINDS]
    if not chains:
        return skipped("the robot has neither arms nor a torso")
    if importlib.util.find_spec("pinocchio") is None:
        return skipped("inverse kinematics is not installed: pip install 'teleop_system[ik]'")
    from teleop_system.solvers import make_solver

    # Collision avoidance is off: this check is about the joints only.
    solver = make_solver(robot, "qp", collision_pairs=())
    missed: list[str] = []
    distances, angles = [0.0], [0.0]
    for chain in chains:
        for goal in _goals(bench, chain):
            distance, angle = _move_to(bench, solver, chain, goal)
            distances.append(distance)
            angles.append(angle)
            if distance > REACH_POSITION or angle > REACH_ANGLE:
                missed.append(f"{chain.name} by {1e3 * distance:.1f} mm, {angle:.3f} rad")
    count = len(distances) - 1
    if missed:
        return failed(
            f"{len(missed)} of {count} targets missed: {listed(missed, 2)}",
            "check the joints, limits and end effector of that chain in robot.yaml",
        )
    return passed(
        f"{count} targets, {len(chains)} chains: within "
        f"{1e3 * max(distances):.2f} mm, {max(angles):.4f} rad"
    )


def check_gravity(bench: Bench) -> CheckResult:
    """The simulated robot holds its initial pose without warnings of MuJoCo."""
    simulator = simulate_robot(bench.robot)
    try:
        return _hold(bench, simulator)
    finally:
        simulator.shutdown()


def _overlaps(bench: Bench) -> list[tuple[str, float]]:
    """Return the pairs of bodies that overlap and the penetration in [m], the deepest first."""
    own = bench.bodies
    depths: dict[str, float] = {}
    for contact in bench.data.contact[: bench.data.ncon]:
        bodies = [int(bench.model.geom_bodyid[geom]) for geom in contact.geom]
        if contact.dist < -CONTACT_DEPTH and own.issuperset(bodies):
            pair = " and ".join(bench.contents.bodies[body].name for body in bodies)
            depths[pair] = max(depths.get(pair, 0.0), -float(contact.dist))
    return sorted(depths.items(), key=lambda item: -item[1])


def _distances(bench: Bench) -> Iterator[tuple[str, float]]:
    model, data = bench.model, bench.data
    for first, second in bench.robot.collision_pairs:
        distance = min(
            (
                float(mujoco.mj_geomDistance(model, data, one, other, FARTHEST, None))
                for one in _shapes(bench, first)
                for other in _shapes(bench, second)
            ),
            default=FARTHEST,
        )
        yield f"{first} and {second}", distance


def _shapes(bench: Bench, body: str) -> list[int]:
    """Return the collision shapes of a body."""
    item, model = bench.model.body(body), bench.model
    geoms = range(int(item.geomadr[0]), int(item.geomadr[0]) + int(item.geomnum[0]))
    return [geom for geom in geoms if model.geom_contype[geom] or model.geom_conaffinity[geom]]


def _goals(bench: Bench, chain: Chain) -> Iterator[dict[str, float]]:
    """Yield joint positions around the initial pose, with one chain moved."""
    rng = bench.rng()
    start = bench.robot.pose(bench.robot.initial_pose)
    for _ in range(REACH_TARGETS):
        moved = dict(start)
        for joint in chain.joints:
            limits = bench.robot.joints[joint]
            # At a limit the solver could approach the target from one side only.
            margin = min(0.05, 0.25 * (limits.upper - limits.lower))
            spread = min(REACH_SPREAD, 0.25 * (limits.upper - limits.lower))
            position = start[joint] + rng.uniform(-spread, spread)
            moved[joint] = float(np.clip(position, limits.lower + margin, limits.upper - margin))
        yield moved


def _move_to(
    bench: Bench, solver: IIKSolver, chain: Chain, goal: dict[str, float]
) -> tuple[float, float]:
    """Return the final distance of a chain from its target in [m] and [rad], from MuJoCo.

    The target moves along a path that the joints can follow, as an operator's hand does. All
    chains have targets: a chain without one would hold its pose while another chain moves it.
    """
    start = dict(bench.robot.pose(bench.robot.initial_pose))
    names = solver.get_joint_names()
    joints = np.array([start[name] for name in names])
    for tick in range(REACH_TICKS):
        done = min(1.0, (tick + 1) / REACH_RAMP)
        between = {name: q + done * (goal[name] - q) for name, q in start.items()}
        poses = bench.end_effectors(between)
        targets = {
            name: Pose6D(*homogeneous_to_pose(pose))
            for name, pose in poses.items()
            if bench.robot.chains[name].kind in SOLVED_KINDS
        }
        result = solver.solve_multi(targets, joints, REACH_PERIOD)
        joints = result.joint_positions
        if (
            done == 1.0
            and result.error_position < 0.1 * REACH_POSITION
            and result.error_orientation < 0.1 * REACH_ANGLE
        ):
            break
    reached = start | dict(zip(names, joints.tolist(), strict=True))
    pose, target = (bench.end_effectors(positions)[chain.name] for positions in (reached, goal))
    distance = float(np.linalg.norm(pose[:3, 3] - target[:3, 3]))
    return distance, float(angles_between(pose, target))


def _hold(bench: Bench, simulator: MuJoCoSimulator) -> CheckResult:
    chains = list(bench.robot.chains.values())
    base = simulator.get_state().base_position
    poses, shifts = [_end_effectors(bench, simulator, chains)], [0.0]
    for _ in range(round(HOLD_TIME / HOLD_PERIOD)):
        simulator.step(HOLD_PERIOD)
        poses.append(_end_effectors(bench, simulator, chains))
        shifts.append(float(np.linalg.norm(simulator.get_state().base_position - base)))
    settled = round(SETTLE_TIME / HOLD_PERIOD)
    sag, drift = _motion(poses, poses[0]), _motion(poses[settled:], poses[settled])
    detail = f"{bench.robot.initial_pose} pose, {HOLD_TIME:.0f} s: {_amount('sag', sag)}, "
    detail += _amount("drift", drift) + (
        f"; base {1e3 * max(shifts):.1f} mm" if bench.robot.base else ""
    )
    warnings = _warnings(simulator.data)
    if warnings:
        return failed(f"MuJoCo warns of {listed(warnings)}", "reduce the time step or the gains")
    # Written so that NaN counts as a failure.
    held = np.all((drift <= DRIFT) & (sag <= SAG), axis=1).tolist()
    weak = [chain.name for chain, good in zip(chains, held, strict=True) if not good]
    if weak:
        return failed(
            f"{detail} ({listed(weak)})", "raise the motors' kp, or set gravcomp='1' on the bodies"
        )
    if max(shifts) > HOLD_BASE:
        return failed(detail, "raise the wheels' kv or their friction")
    return passed(f"{detail}; no warning")


def _motion(measured: list[Matrix], origin: Matrix) -> Matrix:
    """Return the largest deviation of every end effector, [m] and [rad], shape (N, 2)."""
    poses = np.stack(measured)  # (T, N, 4, 4)
    distances = np.linalg.norm(poses[..., :3, 3] - origin[..., :3, 3], axis=-1)
    angles = angles_between(poses, np.broadcast_to(origin, poses.shape))
    return np.stack([distances.max(axis=0), angles.max(axis=0)], axis=-1)


def _amount(name: str, motion: Matrix) -> str:
    distance, angle = motion.max(axis=0, initial=0.0)
    return f"{name} {1e3 * distance:.2f} mm, {np.rad2deg(angle):.2f}°"


def _end_effectors(bench: Bench, simulator: MuJoCoSimulator, chains: list[Chain]) -> Matrix:
    """Return the poses of the end effectors, relative to the base, shape (N, 4, 4)."""
    to_base = homogeneous_inverse(bench.base_pose(simulator.data))
    poses = [to_base @ bench.pose(chain.end_effector, simulator.data) for chain in chains]
    return np.stack(poses) if poses else np.zeros((0, 4, 4))


def _warnings(data: Any) -> list[str]:
    kinds = list(mujoco.mjtWarning.__members__)[: len(data.warning)]
    return [
        f"{kind.removeprefix('mjWARN_').lower()} ({warning.number} times)"
        for kind, warning in zip(kinds, data.warning, strict=True)
        if warning.number
    ]
