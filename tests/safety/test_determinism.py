# SPDX-License-Identifier: Apache-2.0
"""The same inputs give the same commands to the last bit."""

import numpy as np

from teleop_system.interfaces import VelocityCommand
from teleop_system.safety import PartCommand, SafetyManager
from tests.safety.fuzz import Fuzzer
from tests.safety.rig import robot_named


def recorded() -> list[tuple[float, dict[str, PartCommand], VelocityCommand]]:
    """Return what an operator did for 8 s: smooth motions, into contact, with losses."""
    robot = robot_named("rby1")
    manager = SafetyManager(robot)
    home = np.array([robot.pose("ready")[name] for name in manager.parts.joints])
    random = np.random.default_rng(5)
    phases, inputs = random.uniform(0.0, 6.3, home.size), []
    for index in range(800):
        now = 5.0 + 0.01 * index + random.uniform(-0.002, 0.002)
        positions = home + 1.2 * (np.sin(1.5 * now + phases) - np.sin(phases))
        commands = {
            name: PartCommand(positions[part.columns], now)
            for name, part in manager.parts.items()
            if random.random() > 0.03
        }
        inputs.append((now, commands, VelocityCommand(0.5 * np.sin(now), 0.0, 0.3, now)))
    return inputs


def replayed(inputs: list[tuple[float, dict[str, PartCommand], VelocityCommand]]) -> bytes:
    robot = robot_named("rby1")
    manager = SafetyManager(robot)
    manager.reset(robot.pose("ready"))
    result = b""
    for now, commands, base in inputs:
        engaged = {*manager.parts, "base"}
        output = manager.update(commands, base, now=now, engaged=engaged)
        result += output.positions.tobytes() + repr((output.base, output.causes)).encode()
    return result


def test_a_recording_replayed_twice_gives_identical_commands_and_causes() -> None:
    inputs = recorded()
    first = replayed(inputs)
    assert first == replayed(inputs)
    assert b"SELF_COLLISION" in first


def test_a_manager_that_was_used_before_starts_like_a_new_one() -> None:
    robot = robot_named("rby1")
    fuzzer = Fuzzer("rby1", 8)  # Of even seeds, links are kept apart.
    for _ in fuzzer.run(300):
        pass
    while not fuzzer.manager.reset_estop():
        fuzzer.manager.update({}, now=1e6, engaged=())
    results = []
    for manager in (fuzzer.manager, SafetyManager(robot)):
        manager.reset(robot.pose("ready"))
        manager.update({}, now=4.0, engaged=())
        for now, commands, base in recorded()[:200]:
            output = manager.update(commands, base, now=now, engaged=set(manager.parts))
        results.append(output.positions.tobytes())
    assert results[0] == results[1]
