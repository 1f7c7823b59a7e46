# SPDX-License-Identifier: Apache-2.0
"""Feeds the safety manager with everything that must not happen, and judges what it emits.

    python -m tests.safety.fuzz --steps 1000000 --shards 8

runs the full count; the suite runs a part of it.
"""

import argparse
import dataclasses
import functools
import multiprocessing
import sys
from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from rich.progress import Progress

from teleop_system.interfaces import VelocityCommand
from teleop_system.robots import load_robot
from teleop_system.robots.description import RobotDescription
from teleop_system.safety import PartCommand, SafetyConfig, SafetyManager
from tests.safety.distances import MujocoDistances
from tests.safety.oracle import BaseOracle, JointOracle, Violation

Array = NDArray[np.float64]

EPISODE = 500
"""Cycles from one reset to the next."""
STOP = 0.01
"""Smallest allowed distance of links in [m]."""
NO_TIMES = (np.nan, np.inf, -np.inf)
"""Readings of a broken clock."""
CHECK_DISTANCE_EVERY = 5
"""Cycles between two measurements of distances; a link moves by less than 5 mm in between."""


@dataclasses.dataclass
class Outcome:
    """Results of a run."""

    steps: int = 0
    violations: list[Violation] = dataclasses.field(default_factory=list)
    causes: Counter[str] = dataclasses.field(default_factory=Counter)
    nearest: float = np.inf
    moved: float = 0.0


class Fuzzer:
    """One robot, one stream of random numbers."""

    def __init__(self, name: str, seed: int) -> None:
        # Every other robot may touch itself, because motion that guards slow down never gets fast.
        self.is_guarded = seed % 2 == 0
        self.robot = _robot(name, self.is_guarded)
        self.config = SafetyConfig()
        self.manager = SafetyManager(self.robot, self.config)
        self.names = self.manager.parts.joints
        self.distances = MujocoDistances(_robot(name, True), self.names)
        self.rng = np.random.default_rng(seed)
        self.lower = np.array([max(self.robot.joints[n].lower, -3.0) for n in self.names])
        self.upper = np.array([min(self.robot.joints[n].upper, 3.0) for n in self.names])
        self.outcome = Outcome()
        self.hostility = 1.0
        self._requested = np.zeros(3)

    def chance(self) -> float:
        """Return a random number below 1; it is small more often in a more hostile episode."""
        return float(self.rng.random()) / self.hostility

    def run(self, steps: int) -> Iterator[int]:
        """Run about `steps` cycles; yield the number of cycles of every episode."""
        while self.outcome.steps < steps:
            yield self._episode(min(EPISODE, steps - self.outcome.steps))

    def _start(self) -> Array:
        ready = self.robot.pose("ready")
        home = np.array([ready[name] for name in self.names])
        for scale in (1.5, 0.8, 0.4, 0.2):
            pose = np.clip(home + self.rng.normal(0.0, scale, home.size), self.lower, self.upper)
            if self.distances.least(pose)[0] > STOP:
                return pose
        return home

    def _episode(self, steps: int) -> int:
        rng, manager, outcome = self.rng, self.manager, self.outcome
        start = self._start()
        manager.reset(dict(zip(self.names, start.tolist(), strict=True)))
        oracle = JointOracle(self.robot, self.names, self.config.period, self.config.stall_after)
        oracle.start(start)
        base_oracle = base_oracle_of(self.robot, self.config)
        base_oracle.start()
        self.hostility = float(rng.choice([0.02, 0.2, 1.0]))
        streams = {name: _Stream(rng, self, name) for name in manager.parts}
        now = float(rng.uniform(0.0, 1e4))
        engaged = set(manager.parts) | {"base"}
        before = start
        for step in range(steps):
            now += self._elapsed()
            commands = {name: stream.next(now) for name, stream in streams.items()}
            commands = {name: command for name, command in commands.items() if command}
            if self.chance() < 0.005:
                engaged ^= {str(rng.choice([*manager.parts, "base"]))}
            if rng.random() < 0.02:
                engaged |= set(manager.parts) | {"base"}
            if rng.random() < 0.01:
                manager.reset_estop()
                engaged = set() if rng.random() < 0.5 else engaged
            clock = now if self.chance() >= 0.001 else float(rng.choice(NO_TIMES))
            output = manager.update(
                commands,
                self._base(now),
                now=clock,
                engaged=frozenset(engaged),
                estop=self.chance() < 0.002,
            )
            seen = now if np.isfinite(clock) else np.nan
            oracle.add(seen, output.positions)
            base_oracle.add(seen, output.base.linear_x, output.base.angular_z)
            outcome.moved += float(np.abs(output.positions - before).sum())
            before = output.positions
            outcome.causes.update(cause.rule.id for cause in output.causes)
            if self.is_guarded and step % CHECK_DISTANCE_EVERY == 0:
                self._measure(now, output.positions)
        outcome.steps += steps
        outcome.violations += oracle.violations()
        outcome.violations += base_oracle.violations()
        return steps

    def _elapsed(self) -> float:
        chance = self.chance()
        if chance < 0.003:
            return float(self.rng.uniform(0.1, 2.0))
        if chance < 0.006:
            return 0.0 if self.rng.random() < 0.5 else -float(self.rng.uniform(0.0, 0.1))
        if chance < 0.04:
            return float(self.rng.uniform(0.01, 0.08))
        if chance < 0.1:
            return float(self.rng.uniform(0.002, 0.02))
        return self.config.period

    def _base(self, now: float) -> VelocityCommand | None:
        rng = self.rng
        chance = self.chance()
        if chance < 0.05:
            return None
        stamp = now + (float(rng.choice([-0.05, -1.0, 0.5])) if chance < 0.1 else 0.0)
        if self.rng.random() < self.hostility:
            self._requested = rng.normal(0.0, float(rng.choice([0.3, 1.0, 10.0])), 3)
        x, y, rotation = self._requested.tolist()
        return VelocityCommand(x, y if chance < 0.2 else 0.0, rotation, stamp)

    def _measure(self, now: float, positions: Array) -> None:
        distance, pair = self.distances.least(positions)
        self.outcome.nearest = min(self.outcome.nearest, distance)
        if distance < STOP:
            links = " / ".join(pair)
            violation = Violation("distance", links, now, distance, STOP)
            self.outcome.violations.append(violation)


class _Stream:
    """Commands of one part: some good, some bad."""

    def __init__(self, rng: np.random.Generator, fuzzer: Fuzzer, name: str) -> None:
        part = fuzzer.manager.parts[name]
        self._rng, self._joints, self._chance = rng, part.joints, fuzzer.chance
        self._lower, self._upper = fuzzer.lower[part.columns], fuzzer.upper[part.columns]
        self._target = fuzzer.manager.positions[part.columns]
        self._kind = str(rng.choice(["walk", "sine", "steps", "bounds", "mad"]))
        self._phase = rng.uniform(0.0, 6.3, len(part.joints))
        self._speed = float(rng.uniform(0.5, 20.0))
        self._last: PartCommand | None = None

    def next(self, now: float) -> PartCommand | None:
        rng = self._rng
        chance = self._chance()
        if chance < 0.02:
            return None
        if chance < 0.04:
            return self._last
        if rng.random() < 0.004:
            self._kind = str(rng.choice(["walk", "sine", "steps", "bounds", "mad"]))
        positions = self._positions(now)
        if self._chance() < 0.03:
            return self._spoilt(positions, now)
        late = float(rng.uniform(0.0, 0.02)) if self._chance() < 0.1 else 0.0
        self._last = PartCommand(positions, now - late)
        return self._last

    def _positions(self, now: float) -> Array:
        rng, size = self._rng, self._target.size
        if self._kind == "walk":
            self._target = self._target + rng.normal(0.0, 0.03, size)
        elif self._kind == "sine":
            middle, half = 0.5 * (self._lower + self._upper), 0.6 * (self._upper - self._lower)
            return middle + half * np.sin(self._speed * now + self._phase)
        elif self._kind == "steps":
            if rng.random() < 0.02:
                self._target = rng.uniform(self._lower - 0.3, self._upper + 0.3)
        elif self._kind == "bounds":
            if rng.random() < 0.05:
                self._target = np.where(rng.random(size) < 0.5, self._lower, self._upper)
        else:
            return rng.uniform(self._lower - 1.0, self._upper + 1.0)
        return self._target.copy()

    def _spoilt(self, positions: Array, now: float) -> PartCommand:
        rng = self._rng
        choice = int(rng.integers(9))
        if choice == 0:
            positions[int(rng.integers(positions.size))] = np.nan
        elif choice == 1:
            positions[int(rng.integers(positions.size))] = np.inf
        elif choice == 2:
            return PartCommand(positions[:-1], now)
        elif choice == 3:
            return PartCommand(positions, now, tuple(f"no_{name}" for name in self._joints))
        elif choice == 4:
            return PartCommand(positions[::-1], now, tuple(reversed(self._joints)))
        elif choice == 5:
            return PartCommand(positions, now - 3.0)
        elif choice == 6:
            return PartCommand(positions, now + 3.0)
        elif choice == 7:
            return PartCommand(1e300 * positions, now)
        else:
            return PartCommand(positions, float("nan"))
        return PartCommand(positions, now)


def base_oracle_of(robot: RobotDescription, config: SafetyConfig) -> BaseOracle:
    """Return the oracle of a robot's base."""
    base, ours = robot.base, config.base
    assert base is not None
    return BaseOracle(
        speed=(min(base.max_linear, ours.max_linear), min(base.max_angular, ours.max_angular)),
        acceleration=(base.max_linear_acceleration, base.max_angular_acceleration),
        jerk=(ours.linear_jerk, ours.angular_jerk),
        braking=(ours.braking, ours.angular_braking),
        braking_jerk=(ours.braking_jerk, ours.angular_braking_jerk),
        period=config.period,
    )


@functools.cache
def _robot(name: str, guarded: bool) -> RobotDescription:
    robot = load_robot(name)
    return robot if guarded else dataclasses.replace(robot, collision_pairs=())


def run_shard(name: str, seed: int, steps: int) -> Outcome:
    """Run one shard to its end."""
    fuzzer = Fuzzer(name, seed)
    for _ in fuzzer.run(steps):
        pass
    return fuzzer.outcome


def main() -> int:
    """Run from the command line; return 1 after a violation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1_000_000, help="cycles in all")
    parser.add_argument("--shards", type=int, default=8, help="independent runs")
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count(), help="processes")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first shard")
    parser.add_argument("--robot", default="rby1", help="robot")
    options = parser.parse_args()
    share = -(-options.steps // options.shards)
    total = Outcome()
    with multiprocessing.Pool(options.jobs) as pool, Progress() as progress:
        task = progress.add_task("fuzzing", total=options.shards * share)
        for outcome in pool.imap_unordered(
            functools.partial(_shard, options.robot, share),
            range(options.seed, options.seed + options.shards),
        ):
            progress.update(task, advance=outcome.steps)
            total.steps += outcome.steps
            total.violations += outcome.violations
            total.causes += outcome.causes
            total.nearest = min(total.nearest, outcome.nearest)
            total.moved += outcome.moved
            progress.console.print(f"{total.steps} cycles, {len(total.violations)} violations")
            for violation in outcome.violations:
                progress.console.print(violation)
    sys.stdout.write(
        f"{total.steps} cycles, {len(total.violations)} violations, links no nearer than "
        f"{1e3 * total.nearest:.2f} mm, {total.moved:.0f} rad moved\n{dict(total.causes)}\n"
    )
    return 1 if total.violations else 0


def _shard(name: str, steps: int, seed: int) -> Outcome:
    return run_shard(name, seed, steps)


if __name__ == "__main__":
    sys.exit(main())
