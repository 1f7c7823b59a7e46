# SPDX-License-Identifier: Apache-2.0
"""Time and error of hand retargeting, against dex-retargeting on the same fingertips.

A simulated person makes gestures at 100 Hz; each retargeter computes the joints of both DG-5F
hands from the same fingertips. Comparisons: the peer's "vector" optimiser, which only follows the
tips, with ours reduced to that; its "dexpilot", which also closes pinches, with ours reduced to
that; and ours as shipped, which also keeps fingers apart, with its errors judged where the peer's
fingers are as far apart. The peer runs without its low-pass filter, which would add time and lag.
Errors are distances of the tip frames from their targets; samples in which the thumb touches a
finger are excluded, because both retargeters bend the tips together there. The overlap is the
share of samples in which two fingers overlap by more than 3 mm.
"""

import dataclasses
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from teleop_system.modules.hand_teleop import AngleRetargeter, FingertipConfig
from teleop_system.modules.hand_teleop.dg5f import MIRROR, joint_names, tip_positions
from teleop_system.modules.hand_teleop.finger_clearance import finger_gaps
from teleop_system.modules.hand_teleop.retargeting import FingertipBatch
from teleop_system.simulators.simulated_hand import SimulatedHand

Array = NDArray[np.float64]
Sample = dict[str, Array]
"""A value for each hand, by side."""
Retarget = Callable[[Sample], Sample]
"""Computes joint positions in [rad] from fingertips in the wrist frames in [m]."""

SIDES = ("left", "right")
RATE = 100.0
SAMPLES = 600
CHUNK = 50
WARM_UP = 50
BUDGET = 5.0
HINT = "pip install dex-retargeting torch six"
MODELS = Path(__file__).parents[1] / "models" / "dg5f"

SHIPPED = dataclasses.replace(FingertipConfig(), tip_extension=0.0)
WITH_PINCH = dataclasses.replace(SHIPPED, clearance_weight=0.0)
TIPS_ONLY = dataclasses.replace(WITH_PINCH, thumb_weight=0.0, pinch_closed=0.0, pinch_open=1e-6)
COMPARED = (
    ("tips only / vector", "vector", TIPS_ONLY),
    ("tips and pinch / dexpilot", "dexpilot", WITH_PINCH),
    ("as shipped / dexpilot", "dexpilot", SHIPPED),
)
OVERLAP = -0.003


def rows(samples: int = SAMPLES) -> list[dict[str, object]]:
    """Measure all retargeters; return one row each, ours with a verdict if there is a peer."""
    # The hands always move: both retargeters are faster when nothing changes.
    person = {side: SimulatedHand(side, seed=3, frequency=1.25) for side in SIDES}
    states = [
        {side: hand.state_at(k / RATE) for side, hand in person.items()} for k in range(samples)
    ]
    tips = [
        {side: np.array(state.finger_tip_positions) for side, state in sample.items()}
        for sample in states
    ]
    table = []
    for name, kind, config in COMPARED:
        runs: dict[str, Retarget] = {"ours": FingertipBatch(SIDES, config).retarget}
        peer = _peer(kind)
        if peer is not None:
            runs["peer"] = peer
        table.append(_row(name, runs, tips, apart=config is SHIPPED))
    maps = {side: AngleRetargeter(side) for side in SIDES}
    started = time.perf_counter()
    for sample in states:
        for side in SIDES:
            maps[side].retarget(sample[side])
    took = (time.perf_counter() - started) / samples
    table.append({"retargeting, both hands": "angle map", "ours [us]": round(1e6 * took, 1)})
    return table


def _row(
    name: str, runs: dict[str, Retarget], tips: list[Sample], *, apart: bool
) -> dict[str, object]:
    times: dict[str, list[float]] = {run: [] for run in runs}
    joints: dict[str, list[Sample]] = {run: [] for run in runs}
    # They alternate in blocks, so that disturbances of the machine affect both.
    for start in range(0, len(tips), CHUNK):
        for run, retarget in runs.items():
            for sample in tips[start : start + CHUNK]:
                began = time.perf_counter()
                found = retarget(sample)
                times[run].append(time.perf_counter() - began)
                joints[run].append(found)
    errors = {run: _errors(joints[run], tips) for run in runs}
    gaps = {run: _gaps(joints[run]) for run in runs}
    counted = ~np.isnan(errors["ours"])
    if apart and "peer" in runs:
        counted &= gaps["peer"] >= SHIPPED.clearance
    row: dict[str, object] = {"retargeting, both hands": name}
    means = {}
    for run in runs:
        means[run] = float(errors[run][counted].mean())
        row[f"{run} [us]"] = round(1e6 * float(np.median(times[run])), 1)
        row[f"{run} p99 [us]"] = round(1e6 * float(np.percentile(times[run], 99.0)), 1)
        row[f"{run} error [mm]"] = round(1e3 * means[run], 2)
        row[f"{run} overlap [%]"] = round(100.0 * float((gaps[run] < OVERLAP).mean()), 1)
    if "peer" not in runs:
        return row | {"ratio": f"no peer: {HINT}", "budget": BUDGET}
    ratio = float(np.median(times["peer"]) / np.median(times["ours"]))
    good = ratio >= BUDGET and means["ours"] <= means["peer"]
    return row | {"ratio": round(ratio, 2), "budget": BUDGET, "ok": good}


def _errors(joints: list[Sample], tips: list[Sample]) -> Array:
    """Return the mean tip error of each sample and hand in [m]; NaN for excluded samples."""
    errors = np.full((len(tips), len(SIDES)), np.nan)
    for number in range(WARM_UP, len(tips)):
        for column, side in enumerate(SIDES):
            human = tips[number][side]
            if np.linalg.norm(human[1:] - human[0], axis=1).min() > SHIPPED.pinch_open:
                miss = tip_positions(joints[number][side], side) - _targets(human)
                errors[number, column] = np.linalg.norm(miss, axis=1).mean()
    return errors


def _gaps(joints: list[Sample]) -> Array:
    """Return the smallest gap between two fingers of each sample and hand in [m]."""
    columns = []
    for side in SIDES:
        hands = np.array([sample[side] for sample in joints])
        right = hands * MIRROR if side == "left" else hands
        columns.append(finger_gaps(right).min(axis=1))
    return np.stack(columns, axis=1)


def _targets(tips: Array) -> Array:
    """Return the robot's tip targets [m] in its hand frame, from human tips in the wrist frame."""
    x, y, z = tips.T
    origin, scale = np.array(SHIPPED.origin), SHIPPED.hand_scale
    return origin + scale * np.stack([-z, y, x], axis=1)


def _peer(kind: str) -> Retarget | None:
    """Return the peer's optimiser for both hands, or None if it is not installed."""
    try:
        import torch
        from dex_retargeting.retargeting_config import RetargetingConfig
    except ImportError:
        return None
    torch.set_num_threads(1)
    hands = {}
    for side in SIDES:
        letter = side[0]
        ends = [f"{letter}l_dg_{finger}_tip" for finger in range(1, 6)]
        root, urdf = f"{letter}l_dg_mount", str(MODELS / f"dg5f_{side}.urdf")
        names = (
            {
                "target_origin_link_names": [root] * 5,
                "target_task_link_names": ends,
                "target_link_human_indices": np.zeros((2, 5), dtype=int),
            }
            if kind == "vector"
            else {"wrist_link_name": root, "finger_tip_link_names": ends}
        )
        hands[side] = RetargetingConfig(kind, urdf, low_pass_alpha=-1.0, **names).build()
    order = {
        side: [list(hand.joint_names).index(name) for name in joint_names(side)]
        for side, hand in hands.items()
    }
    starts, ends_of = np.zeros(5, dtype=int), np.arange(1, 6)
    if kind == "dexpilot":
        links = hands["right"].optimizer.generate_link_indices(5)
        starts, ends_of = (np.array(numbers) for numbers in links)

    def retarget(tips: Sample) -> Sample:
        joints = {}
        for side, hand in hands.items():
            points = np.vstack([np.zeros(3), _targets(tips[side])])
            joints[side] = hand.retarget(points[ends_of] - points[starts])[order[side]]
        return joints

    return retarget


def main() -> int:
    """Print the table; return 1 if the budget is missed."""
    table = rows()
    for row in table:
        print("  ".join(f"{name}: {value}" for name, value in row.items()))
    return 0 if all(row.get("ok", True) for row in table) else 1


if __name__ == "__main__":
    sys.exit(main())
