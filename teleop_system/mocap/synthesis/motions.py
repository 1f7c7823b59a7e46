# SPDX-License-Identifier: Apache-2.0
"""The built-in motions."""

from collections.abc import Callable

import numpy as np

from teleop_system.mocap.synthesis.performance import Array, Performance, about, keyed
from teleop_system.mocap.synthesis.skeletons import Skeleton, cmu_skeleton, mixamo_skeleton

RATE = 20.0
"""Frames per second; playback interpolates between them."""


def _times(duration: float) -> Array:
    return np.arange(round(duration * RATE)) / RATE


def walk_and_reach() -> Performance:
    """Walk two metres, reach out with the right hand and then with both, and lower them."""
    times = _times(12.0)
    motion = Performance(times)
    activity = keyed(times, (0.6, 0.0), (1.6, 1.0), (5.6, 1.0), (6.4, 0.0))
    motion.walk(activity, swing=0.24, rate=0.6)
    swing = 0.25 * activity * np.sin(2.0 * np.pi * 0.6 * times)
    right = keyed(
        times, (6.4, 0.0), (7.6, 1.0), (8.4, 1.0), (9.0, 0.85), (10.6, 0.85), (11.8, 0.0)
    )
    left = keyed(times, (8.4, 0.0), (9.6, 1.0), (10.4, 1.0), (11.6, 0.0))
    for side, reach, sign in (("Right", right, 1.0), ("Left", left, -1.0)):
        motion.arm(
            side,
            raised=sign * swing + 1.05 * reach,
            out=np.full(len(times), 0.16) + 0.1 * reach,
            bent=0.35 + 0.25 * reach,
        )
    _look(motion, nod=0.2 * right, pan=0.15 * left - 0.15 * right * (1.0 - left))
    return motion


def box_handling() -> Performance:
    """Take a box with both hands, lift it, turn aside, put it down, and turn back."""
    times = _times(12.0)
    motion = Performance(times)
    motion.stand()
    reach = keyed(times, (0.4, 0.0), (1.8, 1.0), (9.6, 1.0), (11.4, 0.0))
    grip = keyed(times, (1.8, 0.0), (2.6, 1.0), (8.6, 1.0), (9.4, 0.0))
    lift = keyed(times, (2.8, 0.0), (4.2, 1.0), (7.0, 1.0), (8.4, 0.0))
    aside = keyed(times, (4.4, 0.0), (6.0, 0.5), (8.6, 0.5), (10.6, 0.0))
    for side in ("Left", "Right"):
        motion.arm(
            side,
            raised=0.35 * reach + 0.45 * lift,
            out=0.15 + 0.25 * reach - 0.12 * grip,
            bent=0.3 + 1.0 * reach + 0.1 * lift,
        )
    motion.rotations["spine"] = about("y", 0.5 * aside) @ about("x", 0.12 * (reach - lift))
    motion.rotations["chest"] = about("y", 0.5 * aside)
    _look(motion, nod=0.35 * reach - 0.2 * lift, pan=0.3 * aside)
    return motion


def wave() -> Performance:
    """Raise the right hand and wave."""
    times = _times(8.0)
    motion = Performance(times)
    motion.stand()
    up = keyed(times, (0.5, 0.0), (2.0, 1.0), (6.0, 1.0), (7.5, 0.0))
    waving = keyed(times, (1.8, 0.0), (2.6, 1.0), (5.4, 1.0), (6.2, 0.0))
    motion.arm(
        "Right",
        raised=0.9 * up,
        out=0.16 + 0.35 * up + 0.18 * waving * np.sin(2.0 * np.pi * 0.8 * times),
        bent=0.35 + 1.3 * up,
    )
    still = np.full(len(times), 0.16)
    motion.arm("Left", raised=0.0 * up, out=still, bent=0.35 + 0.0 * up)
    _look(motion, nod=-0.1 * up, pan=-0.2 * up)
    return motion


def turn() -> Performance:
    """Turn left by 90 degrees with small steps, look around, and turn back."""
    times = _times(11.0)
    motion = Performance(times)
    activity = keyed(times, (0.6, 0.0), (1.2, 1.0), (4.2, 1.0), (4.8, 0.0), (6.0, 0.0), (6.6, 1.0))
    activity *= keyed(times, (9.6, 1.0), (10.2, 0.0))
    yaw = keyed(times, (1.0, 0.0), (4.4, 0.5 * np.pi), (6.4, 0.5 * np.pi), (9.8, 0.0))
    motion.walk(activity, swing=0.0, rate=0.9, yaw=yaw)
    for side in ("Left", "Right"):
        level = np.full(len(times), 0.3)
        motion.arm(side, raised=level, out=0.5 * level, bent=2.0 * level)
    _look(motion, nod=0.0 * yaw, pan=keyed(times, (4.6, 0.0), (5.2, 0.4), (6.0, 0.0)))
    return motion


def count() -> Performance:
    """Hold both hands out, close them, and count on the fingers."""
    times = _times(10.0)
    motion = Performance(times)
    motion.stand()
    up = keyed(times, (0.3, 0.0), (1.8, 1.0), (8.4, 1.0), (9.8, 0.0))
    for side in ("Left", "Right"):
        motion.arm(side, raised=0.45 * up, out=0.15 + 0.1 * up, bent=0.35 + 1.1 * up)
    fist = keyed(times, (1.6, 0.15), (2.4, 1.0))
    for number, finger in enumerate(("Index", "Middle", "Ring", "Pinky", "Thumb")):
        opens = 2.6 + 0.9 * number
        curl = fist - keyed(times, (opens, 0.0), (opens + 0.7, 0.9))
        for side in ("Left", "Right"):
            motion.finger(side, finger, curl)
    _look(motion, nod=0.25 * up, pan=0.0 * up)
    return motion


def _look(motion: Performance, *, nod: Array, pan: Array) -> None:
    motion.rotations["neck"] = about("y", 0.5 * pan)
    motion.rotations["head"] = about("y", 0.5 * pan) @ about("x", nod)


MOTIONS: dict[str, tuple[Callable[[], Performance], Callable[[], Skeleton]]] = {
    "walk_and_reach": (walk_and_reach, cmu_skeleton),
    "box_handling": (box_handling, cmu_skeleton),
    "wave": (wave, cmu_skeleton),
    "turn": (turn, cmu_skeleton),
    "walk_and_reach_mixamo": (walk_and_reach, mixamo_skeleton),
    "count_mixamo": (count, mixamo_skeleton),
}
"""Motion and skeleton by file name."""
