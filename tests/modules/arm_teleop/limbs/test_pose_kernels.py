# SPDX-License-Identifier: Apache-2.0
"""The kernels of a limb give the same results without Numba."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from teleop_system.modules.arm_teleop.config import SmoothingConfig
from teleop_system.modules.arm_teleop.limbs import pose_kernels as kernels
from teleop_system.modules.arm_teleop.limbs.limb_mapping import LimbMapping
from teleop_system.modules.arm_teleop.limbs.pose_filter import PoseFilter
from teleop_system.utils.compiled import IS_COMPILED
from teleop_system.utils.poses import PoseTuple, normalized

DT = 0.01


@pytest.mark.skipif(not IS_COMPILED, reason="Numba is not installed")
def test_interpreted_kernels_give_the_same_targets() -> None:
    code = f"import {__name__} as test; test.print_targets()"
    interpreted = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        cwd=Path(__file__).parents[4],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    rows = [[float(number) for number in line.split()] for line in interpreted.splitlines()]
    np.testing.assert_allclose(rows, targets(), rtol=0.0, atol=1e-12)


def pose(random: np.random.Generator) -> PoseTuple:
    x, y, z, *rotation = random.normal(size=7).tolist()
    a, b, c, d = rotation
    return (x, y, z), normalized((a, b, c, d))


def targets() -> list[list[float]]:
    """Return targets of random poses of a tracker, and how far they were outside their limits."""
    random = np.random.default_rng(11)
    tracker = PoseFilter(SmoothingConfig())
    mapping = LimbMapping(pose(random), pose(random), 0.7, scale=0.9, rotation_scale=0.8)
    limits = np.zeros(1, dtype=kernels.LIMITS)
    limits["lower"], limits["upper"] = -1.0, 1.0
    limits["centre"], limits["radius"] = (0.1, 0.2, 0.3), 0.8
    found = []
    for _ in range(50):
        tracker.update(pose(random), DT)
        position, orientation, *distances = kernels.target_of(
            tracker.state, DT, mapping.record, limits, *pose(random)
        )
        found.append([*position, *orientation, *distances])
    return found


def print_targets() -> None:
    for row in targets():
        sys.stdout.write(" ".join(map(repr, map(float, row))) + "\n")
