# SPDX-License-Identifier: Apache-2.0
"""A whole-body IK tick: `QPIKSolver` against Pink's own `solve_ik`, by turns in one run.

Both follow the same smooth targets of the RB-Y1 (left arm, right arm, torso; 20 joints) with
position, velocity and acceleration limits; ours also watches all pairs of links. Ours is the time
of the whole call, from poses to measured result; of Pink only `solve_ik` counts, not the update
of its configuration. Every round is the same to the last bit, so that the fastest round of
a tick is what the tick costs, and the rest belongs to the machine.
"""

import os

# Small matrices are slower on several threads; it must be said before NumPy loads.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import itertools
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pink
import pinocchio as pin
import qpsolvers
from numpy.typing import NDArray

from teleop_system.interfaces import Pose6D
from teleop_system.robots import load_robot
from teleop_system.solvers import make_solver

Array = NDArray[np.float64]
Tick = Callable[[int], float]
"""Takes one tick and returns its time in [s]."""

TICKS = 600
TURN = 100
ROUNDS = 10
ROUNDS_FOR_ALL = 2
"""Rounds that all back ends take part in; the others are between ours and the fastest."""
DT = 0.01
BUDGET = 0.25
TAIL_BUDGET = 3.0
OURS = "QPIKSolver"


@dataclass
class Runner:
    """One solver on its way along the targets.

    Attributes:
        begin: Starts a round and returns the function that takes its ticks.
        fastest: Time of every tick in the fastest round so far in [s].
        joints: Joint positions after every tick, in the order of the course.
        failures: Ticks in which the solver raised.
    """

    begin: Callable[["Runner"], Tick]
    fastest: Array = field(default_factory=lambda: np.full(TICKS, np.inf))
    joints: list[Array] = field(default_factory=lambda: [np.empty(0)] * TICKS)
    failures: set[int] = field(default_factory=set)


class Course:
    """The robot, its start and the targets that all solvers follow."""

    def __init__(self, seed: int = 0) -> None:
        self.robot = load_robot("rby1")
        solver = make_solver(self.robot)
        self.names = solver.get_joint_names()
        self.start = np.array([self.robot.pose("ready")[name] for name in self.names])
        self.model = self._reduced_model()
        self.order = [self.names.index(name) for name in self.model.names[1:]]
        self.frames = {
            name: chain.end_effector
            for name, chain in self.robot.chains.items()
            if chain.kind in ("arm", "torso")
        }
        self._data = self.model.createData()
        self.placements = [self.place(joints) for joints in self._path(seed)]
        self.poses = [
            {
                name: Pose6D(placement.translation, pin.Quaternion(placement.rotation).coeffs())
                for name, placement in placements.items()
            }
            for placements in self.placements
        ]

    def place(self, joints: Array) -> dict[str, Any]:
        """Return the placement of every frame at joint positions."""
        pin.framesForwardKinematics(self.model, self._data, joints[self.order])
        indices = {name: self.model.getFrameId(frame) for name, frame in self.frames.items()}
        return {name: self._data.oMf[index].copy() for name, index in indices.items()}

    def error(self, path: list[Array]) -> Array:
        """Return the mean square root of each tick's largest distance [m] and angle [rad]."""
        errors = []
        for joints, there in zip(path, self.placements, strict=True):
            here = self.place(joints)
            distances = [here[name].translation - there[name].translation for name in here]
            angles = [pin.log3(here[name].rotation.T @ there[name].rotation) for name in here]
            errors.append([np.linalg.norm(part, axis=1).max() for part in (distances, angles)])
        return np.sqrt(np.mean(np.square(errors), axis=0))

    def _reduced_model(self) -> Any:
        full = pin.buildModelFromUrdf(str(self.robot.urdf))
        locked = [full.getJointId(name) for name in full.names[1:] if name not in self.names]
        return pin.buildReducedModel(full, locked, pin.neutral(full))

    def _path(self, seed: int) -> list[Array]:
        random, size = np.random.default_rng(seed), len(self.names)
        limits = [self.robot.limits(name) for name in self.names]
        lower = np.array([limit.lower for limit in limits]) + 0.05
        upper = np.array([limit.upper for limit in limits]) - 0.05
        phase, swing = random.uniform(0.0, 2.0 * np.pi, size), random.uniform(0.05, 0.25, size)
        pace = 2.0 * np.pi * random.uniform(0.1, 0.3, size)
        path = []
        for moment in DT * np.arange(1, TICKS + 1):
            # Everything begins at rest, with a quintic blend over the first second.
            begin = min(moment, 1.0)
            share = begin**3 * (10.0 - 15.0 * begin + 6.0 * begin**2)
            offset = swing * (np.sin(pace * moment + phase) - np.sin(phase))
            path.append(np.clip(self.start + share * offset, lower, upper))
        return path


def rows(rounds: int = ROUNDS) -> list[dict[str, object]]:
    """Measure all solvers; return one row for each, ours first and with the verdict."""
    course = Course()
    backends = [name for name in qpsolvers.available_solvers if name in ("daqp", "proxqp", "osqp")]
    runners = {OURS: Runner(lambda runner: _our_tick(course, runner))}
    for backend in backends:
        runners[f"Pink, {backend}"] = Runner(
            lambda runner, backend=backend: _pink_tick(course, runner, backend)
        )
    for number in range(rounds):
        names = list(runners) if number < ROUNDS_FOR_ALL else [OURS, _peer(runners)]
        order = names[number % len(names) :] + names[: number % len(names)]
        ticks = {name: runners[name].begin(runners[name]) for name in names}
        # Whoever begins a turn finds the caches full of another's: every round cuts elsewhere, or
        # the same ticks would pay for that in all of them.
        cuts = range(number * TURN // rounds, TICKS, TURN)
        for first, last in itertools.pairwise((0, *cuts, TICKS)):
            for name in order:
                fastest = runners[name].fastest
                for tick in range(first, last):
                    fastest[tick] = min(fastest[tick], ticks[name](tick))
    return _table(course, runners)


def _our_tick(course: Course, runner: Runner) -> Tick:
    solver, joints = make_solver(course.robot), course.start

    def tick(number: int) -> float:
        nonlocal joints
        poses = course.poses[number]
        begin = time.perf_counter()
        result = solver.solve_multi(poses, joints, DT)
        end = time.perf_counter()
        runner.joints[number] = joints = result.joint_positions
        return end - begin

    return tick


def _pink_tick(course: Course, runner: Runner, backend: str) -> Tick:
    model, robot = course.model, course.robot
    start = course.start[course.order]
    acceleration = np.array([robot.limits(name).acceleration for name in model.names[1:]])
    configuration = pink.Configuration(model, model.createData(), start)
    tasks = {name: pink.tasks.FrameTask(frame, 1.0, 0.5) for name, frame in course.frames.items()}
    posture = pink.tasks.PostureTask(cost=1e-3)
    posture.set_target(start)
    limit = pink.limits.AccelerationLimit(model, acceleration)
    limits = [pink.limits.ConfigurationLimit(model), pink.limits.VelocityLimit(model), limit]
    every = [*tasks.values(), posture]
    back = np.argsort(course.order)

    def tick(number: int) -> float:
        for name, task in tasks.items():
            task.set_target(course.placements[number][name])
        begin = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # OSQP comments on every matrix.
                begin = time.perf_counter()
                velocity = pink.solve_ik(configuration, every, DT, solver=backend, limits=limits)
                end = time.perf_counter()
        except (pink.exceptions.PinkError, qpsolvers.exceptions.QPError):
            end = time.perf_counter()
            velocity = np.zeros(model.nv)
            runner.failures.add(number)
        limit.set_last_integration(velocity, DT)
        configuration.integrate_inplace(velocity, DT)
        runner.joints[number] = configuration.q[back]
        return end - begin

    return tick


def _table(course: Course, runners: dict[str, Runner]) -> list[dict[str, object]]:
    table: list[dict[str, object]] = []
    errors = {name: course.error(runner.joints) for name, runner in runners.items()}
    for name, runner in runners.items():
        rms = errors[name]
        table.append(
            {
                "IK tick, 20 joints, 3 chains": name,
                "median [us]": round(1e6 * float(np.median(runner.fastest)), 1),
                "p99 [us]": round(1e6 * float(np.percentile(runner.fastest, 99.0)), 1),
                "error rms [mm]": round(1e3 * float(rms[0]), 4),
                "error rms [mrad]": round(1e3 * float(rms[1]), 4),
                "failures": len(runner.failures),
            }
        )
    peer = _peer(runners)
    if peer != OURS:
        is_no_worse = bool((errors[OURS] <= errors[peer]).all())
        table[0] |= _verdict(runners[OURS], runners[peer], is_no_worse) | {"peer": peer}
    return table


def _peer(runners: dict[str, Runner]) -> str:
    """Return the fastest of the others that got through without failing."""
    able = [name for name in runners if name != OURS and not runners[name].failures]
    return min(able, key=lambda name: float(np.median(runners[name].fastest)), default=OURS)


def _verdict(ours: Runner, peer: Runner, is_no_worse: bool) -> dict[str, object]:
    median = float(np.median(ours.fastest))
    ratio = median / float(np.median(peer.fastest))
    tail = float(np.percentile(ours.fastest, 99.0)) / median
    return {
        "ratio": round(ratio, 3),
        "budget": BUDGET,
        "p99 / median": round(tail, 2),
        "tail budget": TAIL_BUDGET,
        "ok": ratio <= BUDGET and tail <= TAIL_BUDGET and is_no_worse,
    }


def main() -> int:
    """Print the table; fail where the budget is missed."""
    table = rows()
    heads = list(dict.fromkeys(head for row in table for head in row))
    try:
        from rich.console import Console
        from rich.markup import escape
        from rich.table import Table
    except ImportError:
        for row in table:
            print(", ".join(f"{head}: {row[head]}" for head in heads if head in row))
    else:
        # Solvers stand side by side, for there are fewer of them than figures.
        shown = Table(heads[0], *(str(row[heads[0]]) for row in table))
        for head in heads[1:]:
            shown.add_row(escape(head), *(str(row.get(head, "")) for row in table))
        Console().print(shown)
    is_ok = bool(table[0].get("ok"))
    print("PASS" if is_ok else "FAIL")
    return 0 if is_ok else 1


if __name__ == "__main__":
    sys.exit(main())
