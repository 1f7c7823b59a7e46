# SPDX-License-Identifier: Apache-2.0
"""The command path of arms and torso against the bare solver, by turns in one run.

A simulated operator moves both hands and the waist. In every tick the arm controller and the
safety manager run as in a session, and another solver of the same kind is given the very targets
that the controller arrived at. Who goes first changes from tick to tick and every round is the
same, so that the fastest round of a tick is what the tick costs, and the rest belongs to the
machine.
"""

import os

# Small matrices are slower on several threads; it must be said before NumPy loads.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys
import time

import numpy as np
from numpy.typing import NDArray

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
"""Ticks of the ramp, in which little moves."""
ROUNDS = 8
BUDGET = 2.0
"""Controller and safety together may take this many bare solver ticks."""
NOISE = {"clean": (0.0, 0.0), "noisy (2 mm, 0.5 deg)": (0.002, np.radians(0.5))}
HANDS = (TrackerRole.RIGHT_HAND, TrackerRole.LEFT_HAND)
JUDGED = ("budget", "ok")
BARE, CONTROLLER, SAFETY = range(3)


class CommandPath:
    """An arm controller with a safety manager behind it, and a solver beside them."""

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
        self._targets: list[dict[str, Pose6D]] = []

    def run(self, course: list[Trackers]) -> Array:
        """Return what each tick of a round cost each of the three in [s], shape (3, ticks)."""
        times = np.zeros((3, len(course)))
        self._controller.reset()
        self._safety.reset(self.robot.pose(self.robot.initial_pose))
        self._bare.reset()  # type: ignore[attr-defined]
        self._command, self._joints = self._start, self._start
        is_first = not self._targets
        for tick, trackers in enumerate(course):
            for turn in (tick % 2, 1 - tick % 2):
                if turn == 0:
                    times[CONTROLLER:, tick] = self._follow(trackers, tick * PERIOD, is_first)
                elif not is_first:
                    times[BARE, tick] = self._solve(self._targets[tick])
        return np.full_like(times, np.inf) if is_first else times

    def _follow(self, trackers: Trackers, now: float, is_first: bool) -> tuple[float, float]:
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
        if is_first:
            self._targets.append(dict(output.targets))
        return between - begin, end - between

    def _solve(self, targets: dict[str, Pose6D]) -> float:
        begin = time.perf_counter()
        result = self._bare.solve_multi(targets, self._joints, PERIOD)
        end = time.perf_counter()
        self._joints = result.joint_positions
        return end - begin


def rows(rounds: int = ROUNDS) -> list[dict[str, object]]:
    """Measure clean and noisy trackers; return a row each, with the ratio and its budget.

    A last row, without a budget, is of an operator who wears no tracker at the waist.
    """
    measured = [_row(name, _course(*noise), rounds) for name, noise in NOISE.items()]
    hands = [{role: poses[role] for role in HANDS} for poses in _course(0.0, 0.0)]
    alone = _row("clean, hands only", hands, rounds)
    return [*measured, {key: value for key, value in alone.items() if key not in JUDGED}]


def _row(name: str, course: list[Trackers], rounds: int) -> dict[str, object]:
    path = CommandPath()
    fastest = np.min([path.run(course) for _ in range(rounds + 1)], axis=0)[:, SKIPPED:]
    bare, controller, safety = (float(np.median(times)) for times in fastest)
    both = float(np.median(fastest[CONTROLLER] + fastest[SAFETY]))
    return {
        "trackers": name,
        "bare solver [us]": round(1e6 * bare, 1),
        "controller [us]": round(1e6 * controller, 1),
        "safety [us]": round(1e6 * safety, 1),
        "controller / solver": round(controller / bare, 2),
        "ratio": round(both / bare, 2),
        "budget": BUDGET,
        "ok": both <= BUDGET * bare,
    }


def _course(shift: float, turn: float) -> list[Trackers]:
    """Return the trackers of every tick."""
    random = np.random.default_rng(0)
    roles = (TrackerRole.RIGHT_HAND, TrackerRole.LEFT_HAND, TrackerRole.WAIST)
    trackers = {role: SimulatedTracker(role, seed=2) for role in roles}
    course = []
    for tick in range(TICKS):
        poses = {}
        for role, each in trackers.items():
            pose = each.pose_at(tick * PERIOD)
            turned = quat_multiply(quat_exp(turn * random.normal(size=3)), pose.orientation)
            moved = pose.position + shift * random.normal(size=3)
            poses[role] = Pose6D(moved, turned, pose.timestamp)
        course.append(poses)
    return course


def main() -> int:
    """Print the table; fail where the budget is missed."""
    table = rows()
    heads: dict[str, object] = {name: name for name in table[0]}
    for row in (heads, *table):
        cells = [f"{row.get(name, '')!s:>{max(len(name), 20)}}" for name in table[0]]
        print("  ".join(cells))
    return 0 if all(row.get("ok", True) for row in table) else 1


if __name__ == "__main__":
    sys.exit(main())
