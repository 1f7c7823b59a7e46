# SPDX-License-Identifier: Apache-2.0
"""Time of a whole-body IK tick: `QPIKSolver` against Pink's own `solve_ik`.

Both follow the same smooth targets of the RB-Y1 (left arm, right arm, torso; 20 joints) with
position, velocity and acceleration limits; ours also avoids self-collisions. For ours the whole
call counts, for Pink only `solve_ik`. Both alternate in one run. All rounds are identical, so the
cost of a tick is its time in the fastest round; slower rounds were disturbed by the machine.
"""

import os

# Small matrices are slower with several threads; must be set before NumPy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import itertools
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from bench.pink_solver import BACKENDS, PinkModel, PinkSolver
from teleop_system.interfaces import Pose6D
from teleop_system.robots import load_robot
from teleop_system.solvers import make_solver

Array = NDArray[np.float64]
Tick = Callable[[int], float]
"""Runs one tick and returns its time in [s]."""

TICKS = 600
BLOCK = 100
"""Ticks between two changes of the solver."""
ROUNDS = 10
ROUNDS_FOR_ALL = 2
"""Rounds with all back ends; the other rounds compare ours and the fastest."""
DT = 0.01
BUDGET = 0.25
TAIL_BUDGET = 3.0
OURS = "QPIKSolver"


@dataclass
class Runner:
    """One solver that follows the targets.

    Attributes:
        begin: Starts a round and returns the function that runs its ticks.
        fastest: Time of every tick in the fastest round so far in [s].
        joints: Joint positions after every tick, in solver order.
        failures: Ticks in which the solver raised an exception.
    """

    begin: Callable[["Runner"], Tick]
    fastest: Array = field(default_factory=lambda: np.full(TICKS, np.inf))
    joints: list[Array] = field(default_factory=lambda: [np.empty(0)] * TICKS)
    failures: set[int] = field(default_factory=set)


class TargetPath:
    """The robot, its initial positions and the targets of all solvers."""

    def __init__(self, seed: int = 0) -> None:
        self.robot = load_robot("rby1")
        solver = make_solver(self.robot)
        self.names = solver.get_joint_names()
        self.start = np.array([self.robot.pose("ready")[name] for name in self.names])
        self.model = PinkModel(self.robot, self.names)
        self.targets = [self.model.poses(joints) for joints in self._path(seed)]
        self.poses = [
            {
                name: Pose6D(pose.translation, pin.Quaternion(pose.rotation).coeffs())
                for name, pose in poses.items()
            }
            for poses in self.targets
        ]

    def error(self, path: list[Array]) -> Array:
        """Return the RMS over ticks of the largest distance [m] and angle [rad]."""
        errors = []
        for joints, targets in zip(path, self.targets, strict=True):
            poses = self.model.poses(joints)
            distances = [poses[name].translation - targets[name].translation for name in poses]
            angles = [pin.log3(poses[name].rotation.T @ targets[name].rotation) for name in poses]
            errors.append([np.linalg.norm(part, axis=1).max() for part in (distances, angles)])
        return np.sqrt(np.mean(np.square(errors), axis=0))

    def _path(self, seed: int) -> list[Array]:
        random, size = np.random.default_rng(seed), len(self.names)
        limits = [self.robot.limits(name) for name in self.names]
        lower = np.array([limit.lower for limit in limits]) + 0.05
        upper = np.array([limit.upper for limit in limits]) - 0.05
        phase, swing = random.uniform(0.0, 2.0 * np.pi, size), random.uniform(0.05, 0.25, size)
        frequency = 2.0 * np.pi * random.uniform(0.1, 0.3, size)
        path = []
        for moment in DT * np.arange(1, TICKS + 1):
            # A quintic blend over the first second, so that the motion starts at rest.
            begin = min(moment, 1.0)
            share = begin**3 * (10.0 - 15.0 * begin + 6.0 * begin**2)
            offset = swing * (np.sin(frequency * moment + phase) - np.sin(phase))
            path.append(np.clip(self.start + share * offset, lower, upper))
        return path


def rows(rounds: int = ROUNDS) -> list[dict[str, object]]:
    """Measure all solvers; return a row each, ours first with the verdict."""
    path = TargetPath()
    runners = {OURS: Runner(lambda runner: _our_tick(path, runner))}
    for backend in BACKENDS:
        runners[f"Pink, {backend}"] = Runner(
            lambda runner, backend=backend: _pink_tick(path, runner, backend)
        )
    for number in range(rounds):
        names = list(runners) if number < ROUNDS_FOR_ALL else [OURS, _peer(runners)]
        order = names[number % len(names) :] + names[: number % len(names)]
        ticks = {name: runners[name].begin(runners[name]) for name in names}
        # After a change the caches hold the data of another solver. Each round changes at other
        # ticks, so that no tick is slow in all rounds.
        cuts = range(number * BLOCK // rounds, TICKS, BLOCK)
        for first, last in itertools.pairwise((0, *cuts, TICKS)):
            for name in order:
                fastest = runners[name].fastest
                for tick in range(first, last):
                    fastest[tick] = min(fastest[tick], ticks[name](tick))
    return _table(path, runners)


def _our_tick(path: TargetPath, runner: Runner) -> Tick:
    solver, joints = make_solver(path.robot), path.start

    def tick(number: int) -> float:
        nonlocal joints
        poses = path.poses[number]
        begin = time.perf_counter()
        result = solver.solve_multi(poses, joints, DT)
        end = time.perf_counter()
        runner.joints[number] = joints = result.joint_positions
        return end - begin

    return tick


def _pink_tick(path: TargetPath, runner: Runner, backend: str) -> Tick:
    solver = PinkSolver(path.model, path.start, backend)

    def tick(number: int) -> float:
        seconds = solver.tick(path.targets[number], DT)
        if solver.has_failed:
            runner.failures.add(number)
        runner.joints[number] = solver.joints
        return seconds

    return tick


def _table(path: TargetPath, runners: dict[str, Runner]) -> list[dict[str, object]]:
    table: list[dict[str, object]] = []
    errors = {name: path.error(runner.joints) for name, runner in runners.items()}
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
    """Return the fastest of the others without a failure."""
    candidates = [name for name in runners if name != OURS and not runners[name].failures]
    return min(candidates, key=lambda name: float(np.median(runners[name].fastest)), default=OURS)


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
    """Print the table; return 1 if the budget is missed."""
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
        # One column per solver, because there are fewer solvers than figures.
        shown = Table(heads[0], *(str(row[heads[0]]) for row in table))
        for head in heads[1:]:
            shown.add_row(escape(head), *(str(row.get(head, "")) for row in table))
        Console().print(shown)
    is_ok = bool(table[0].get("ok"))
    print("PASS" if is_ok else "FAIL")
    return 0 if is_ok else 1


if __name__ == "__main__":
    sys.exit(main())
