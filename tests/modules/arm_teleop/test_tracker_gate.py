# SPDX-License-Identifier: Apache-2.0
"""A glance at a sample tells what the gate would, or nothing."""

import numpy as np
import pytest

from teleop_system.interfaces import Pose6D
from teleop_system.interfaces.causes import Cause
from teleop_system.modules.arm_teleop.limbs import limb_kernels as kernels
from teleop_system.modules.arm_teleop.limbs.tracker_gate import TrackerGate
from teleop_system.modules.pose_gate import GateLimits, PoseGate, Sample
from teleop_system.safety.cause_log import CauseLog
from teleop_system.utils.transforms import quat_exp


def wild(random: np.random.Generator, now: float) -> Pose6D | None:
    """Return a sample that is fine more often than not."""
    if random.random() < 0.05:
        return None
    stamp = now + float(
        random.choice([0.0, -0.005, -0.09, 0.015, 0.1], p=[0.8, 0.1, 0.03, 0.04, 0.03])
    )
    size = random.choice([0.005, 0.1, 0.5], p=[0.9, 0.07, 0.03])
    length = random.choice([1.0, 1.0004, 1.0012, 0.5], p=[0.8, 0.1, 0.05, 0.05])
    turn = quat_exp(random.normal(size=3) * random.choice([0.02, 0.3], p=[0.95, 0.05]))
    flip = random.choice([1.0, -1.0])
    valid = bool(random.random() < 0.97)
    return Pose6D(random.normal(size=3) * size, turn * length * flip, stamp, valid)


@pytest.mark.parametrize(
    "limits",
    [GateLimits(), GateLimits(distance=0.02, turn=0.05), GateLimits(distance=0.4, turn=4.0)],
)
def test_both_gates_say_the_same_but_for_doubts_and_bridges(limits: GateLimits) -> None:
    random = np.random.default_rng(4)
    quick, plain = TrackerGate("hand", limits), PoseGate("hand", limits)
    seen = set()
    for k in range(4000):
        now = 0.01 * k
        pose = wild(random, now)
        (one, why), (other, because) = (_ask(gate, pose, now) for gate in (quick, plain))
        assert why == because
        assert quick.pose is plain.pose
        seen.add((one, other))
        if one is not other:
            bridged = other is Sample.BAD and one is Sample.WAITING
            doubted = one is Sample.JUMPED and other in (Sample.WAITING, Sample.BAD)
            assert bridged or doubted
    assert len(seen) >= 6


@pytest.mark.parametrize("limits", [GateLimits(), GateLimits(distance=0.02, turn=0.05)])
def test_a_glance_is_never_wrong(limits: GateLimits) -> None:
    random = np.random.default_rng(5)
    row = np.zeros(kernels.SIZE)
    gate = TrackerGate("hand", limits, row)
    meaning = {kernels.FRESH: Sample.FRESH, kernels.WAITING: Sample.WAITING}
    seen, last, before = [], Sample.STALE, None
    for k in range(4000):
        now = 0.01 * k
        pose = before if random.random() < 0.2 else wild(random, now)
        before = pose
        if last in meaning.values() and pose is not None and pose.valid:
            sample = np.array([*pose.position, *pose.orientation, pose.timestamp])
            seen.append(kernels.glance(row, sample, gate.glance, now))
            last, why = _ask(gate, pose, now)
            if seen[-1] in meaning:
                assert last is meaning[seen[-1]]
                assert not why
        else:
            last, _ = _ask(gate, pose, now)
    assert min(seen.count(kind) for kind in (kernels.UNSURE, *meaning)) > 50


def _ask(gate: PoseGate, pose: Pose6D | None, now: float) -> tuple[Sample, tuple[Cause, ...]]:
    log = CauseLog()
    log.begin(now)
    return gate.check(pose, now, log), log.causes


def test_what_passed_is_told_as_floats_of_unit_length() -> None:
    gate = TrackerGate("hand", GateLimits())
    for k in range(3):
        pose = Pose6D(np.array([0.01 * k, 0.2, 0.3]), np.array([0.0, 0.0, 0.0, 1.0004]), 0.01 * k)
        assert _ask(gate, pose, 0.01 * k)[0] is Sample.FRESH
    assert gate.position == (0.02, 0.2, 0.3)
    assert np.linalg.norm(gate.orientation) == pytest.approx(1.0, abs=1e-12)


def test_a_body_beyond_all_bounds_is_never_believed() -> None:
    gate = TrackerGate("hand", GateLimits())
    for k in range(5):
        pose = Pose6D(np.full(3, 1e200), np.array([0.0, 0.0, 0.0, 1.0]), 0.01 * k)
        assert _ask(gate, pose, 0.01 * k)[0] is Sample.JUMPED
    near = [Pose6D(np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), 0.05 + 0.01 * k) for k in range(2)]
    assert _ask(gate, near[0], 0.05)[0] is Sample.JUMPED
    assert _ask(gate, near[1], 0.06)[0] is Sample.FRESH


def test_a_glance_does_not_reach_beyond_all_bounds() -> None:
    row = np.zeros(kernels.SIZE)
    gate = TrackerGate("hand", GateLimits(), row)
    turn = np.array([0.0, 0.0, 0.0, 1.0])
    for k in range(2):
        assert _ask(gate, Pose6D(np.array([999.9, 0.0, 0.0]), turn, 0.01 * k), 0.01 * k)
    for x, found in ((999.95, kernels.FRESH), (1000.0, kernels.UNSURE)):
        sample = np.array([x, 0.0, 0.0, *turn, 0.02])
        assert kernels.glance(row, sample, gate.glance, 0.02) == found
