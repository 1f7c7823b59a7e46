# SPDX-License-Identifier: Apache-2.0
"""Time of arm controller and safety manager against Pink's own `solve_ik`.

A simulated operator moves both hands and the waist. In every tick the arm controller and the
safety manager run as in a session. Pink, and a bare solver of ours, get the targets that the
controller computed. They alternate in one run, in blocks of ticks. All rounds are identical, so
the cost of a tick is its time in the fastest round; slower rounds were disturbed by the machine.
"""

import os

# Small matrices are slower with several threads; must be set before NumPy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import itertools
import sys
import time
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from bench.pink_solver import BACKENDS, PinkModel, PinkSolver
from teleop_system.interfaces import Pose6D, TrackerRole
from teleop_system.modules.arm_teleop import ArmController, ArmTeleopConfig
from teleop_system.robots import load_robot
from teleop_system.safety import PartCommand, SafetyManager
from teleop_system.session.arm_module import solver_for
from teleop_system.settings import load_settings
from teleop_system.simulators.simulated_tracker import SimulatedTracker
from teleop_system.utils.transforms import quat_exp, quat_multiply

Array = NDArray[np.float64]
Trackers = dict[TrackerRole, Pose6D]

PERIOD = 0.01
TICKS = 600
SKIPPED = 100
"""Ticks of the engage ramp, which do not count."""
ROUNDS = 8
BLOCK = 100
"""Ticks between two changes from ours to the peers."""
LARGEST_TIME = 100e-6
"""Budget of controller and safety together in [s]: 1 % of the period."""
LARGEST_RATIO = 0.6
"""Budget of controller and safety together as a multiple of Pink's `solve_ik`."""
NOISE = {"clean": (0.0, 0.0), "noisy (2 mm, 0.5 deg)": (0.002, np.radians(0.5))}
HANDS = (TrackerRole.RIGHT_HAND, TrackerRole.LEFT_HAND)
JUDGED = ("budget [us]", "ratio budget", "ok")
CONTROLLER, SAFETY, BARE, PEERS = range(4)
"""Rows of the measured times; from PEERS on one row per back end of Pink."""


class CommandPath:
    """An arm controller with a safety manager, and the solvers to compare with."""

    def __init__(self) -> None:
        self.robot = robot = load_robot("rby1")
        settings = load_settings().solver
        self._inner, self._bare = (solver_for(robot, settings) for _ in range(2))
        self._controller = ArmController(ArmTeleopConfig(), robot, self._inner)
        self._safety = SafetyManager(robot)
        names, parts = self._controller.joint_names, self._safety.parts
        self._chains = tuple(self._controller.limbs)
        self._start = np.array([robot.pose(robot.initial_pose)[name] for name in names])
        self._order = np.array([parts.joints.index(name) for name in names])
        self._model = PinkModel(robot, names)

    def record_targets(self, samples: list[Trackers]) -> None:
        """Run the controller once, to compute the targets of all ticks."""
        self._restart()
        self._targets: list[dict[str, Pose6D]] = []
        for tick, trackers in enumerate(samples):
            self._follow(trackers, tick * PERIOD)
            self._targets.append(dict(self._output.targets))

    def run(self, samples: list[Trackers], first_block: int) -> Array:
        """Return the times of all ticks of a round in [s], shape (3 + back ends, ticks)."""
        times = np.zeros((PEERS + len(BACKENDS), len(samples)))
        self._restart()
        cuts = range(first_block, len(samples), BLOCK)
        for first, last in itertools.pairwise((0, *cuts, len(samples))):
            for tick in range(first, last):
                times[:BARE, tick] = self._follow(samples[tick], tick * PERIOD)
            for tick in range(first, last):
                times[BARE, tick] = self._solve(self._targets[tick])
            for index, solver in enumerate(self._pink):
                for tick in range(first, last):
                    targets = self._pink_targets(self._targets[tick])
                    seconds = solver.tick(targets, PERIOD)
                    times[PEERS + index, tick] = np.inf if solver.has_failed else seconds
        return times

    def _restart(self) -> None:
        self._controller.reset()
        self._safety.reset(self.robot.pose(self.robot.initial_pose))
        self._bare.reset()
        self._pink = [PinkSolver(self._model, self._start, backend) for backend in BACKENDS]
        self._command, self._joints = self._start, self._start

    def _follow(self, trackers: Trackers, now: float) -> tuple[float, float]:
        begin = time.perf_counter()
        output = self._controller.update(
            trackers, self._command, now=now, dt=PERIOD, engaged=self._chains
        )
        between = time.perf_counter()
        positions, columns, stamps = output.positions, output.columns, output.stamps
        commands = {
            name: PartCommand(positions[columns[name]], stamps[name]) for name in self._chains
        }
        safe = self._safety.update(commands, now=now, engaged=self._chains)
        end = time.perf_counter()
        self._command = safe.positions[self._order]
        self._output = output
        return between - begin, end - between

    def _solve(self, targets: dict[str, Pose6D]) -> float:
        begin = time.perf_counter()
        result = self._bare.solve_multi(targets, self._joints, PERIOD)
        end = time.perf_counter()
        self._joints = result.joint_positions
        return end - begin

    @staticmethod
    def _pink_targets(targets: dict[str, Pose6D]) -> dict[str, Any]:
        return {
            name: pin.XYZQUATToSE3(np.concatenate([target.position, target.orientation]))
            for name, target in targets.items()
        }


def rows(rounds: int = ROUNDS) -> list[dict[str, object]]:
    """Measure clean and noisy trackers; return a row each, with ratio and budgets.

    The last row is for an operator without a waist tracker, and has no budget.
    """
    measured = [_row(name, _samples(*noise), rounds) for name, noise in NOISE.items()]
    hands = [{role: poses[role] for role in HANDS} for poses in _samples(0.0, 0.0)]
    alone = _row("clean, hands only", hands, rounds)
    return [*measured, {key: value for key, value in alone.items() if key not in JUDGED}]


def _row(name: str, samples: list[Trackers], rounds: int) -> dict[str, object]:
    path = CommandPath()
    path.record_targets(samples)
    times = [path.run(samples, number * BLOCK // rounds) for number in range(rounds)]
    fastest = np.min(times, axis=0)[:, SKIPPED:]
    medians = np.median(fastest, axis=1)
    both = float(np.median(fastest[CONTROLLER] + fastest[SAFETY]))
    peer = int(np.argmin(medians[PEERS:]))
    pink = float(medians[PEERS + peer])
    return {
        "trackers": name,
        "controller [us]": round(1e6 * float(medians[CONTROLLER]), 1),
        "safety [us]": round(1e6 * float(medians[SAFETY]), 1),
        "both [us]": round(1e6 * both, 1),
        "budget [us]": round(1e6 * LARGEST_TIME),
        "bare solver [us]": round(1e6 * float(medians[BARE]), 1),
        "Pink [us]": round(1e6 * pink, 1),
        "back end": BACKENDS[peer],
        "ratio to Pink": round(both / pink, 2),
        "ratio budget": LARGEST_RATIO,
        "ok": both <= LARGEST_TIME and both <= LARGEST_RATIO * pink,
    }


def _samples(distance: float, angle: float) -> list[Trackers]:
    """Return the tracker poses of every tick, with Gaussian noise in [m] and [rad]."""
    random = np.random.default_rng(0)
    roles = (TrackerRole.RIGHT_HAND, TrackerRole.LEFT_HAND, TrackerRole.WAIST)
    trackers = {role: SimulatedTracker(role, seed=2) for role in roles}
    samples = []
    for tick in range(TICKS):
        poses = {}
        for role, each in trackers.items():
            pose = each.pose_at(tick * PERIOD)
            rotated = quat_multiply(quat_exp(angle * random.normal(size=3)), pose.orientation)
            moved = pose.position + distance * random.normal(size=3)
            poses[role] = Pose6D(moved, rotated, pose.timestamp)
        samples.append(poses)
    return samples


def main() -> int:
    """Print the table; return 1 if a budget is missed."""
    table = rows()
    heads: dict[str, object] = {name: name for name in table[0]}
    for row in (heads, *table):
        cells = [f"{row.get(name, '')!s:>{max(len(name), 20)}}" for name in table[0]]
        print("  ".join(cells))
    return 0 if all(row.get("ok", True) for row in table) else 1


if __name__ == "__main__":
    sys.exit(main())
