# SPDX-License-Identifier: Apache-2.0
"""The gate: the check that every sample passes before a controller uses it.

`SampleGate` holds the rules that all sources share: stamps in order, losses, age. `PoseGate` adds
unit quaternions and jumps of trackers, `HandGate` what a human hand can do, and `SwapDetector`
watches a pair of trackers. Whatever is not used has a cause.
"""

from teleop_system.modules.gate.config import HEAD_GATE, GateConfig
from teleop_system.modules.gate.hand_gate import HandGate
from teleop_system.modules.gate.malformed import malformed_rule
from teleop_system.modules.gate.pose_gate import PoseGate
from teleop_system.modules.gate.sample_gate import USABLE, SampleGate, Verdict
from teleop_system.modules.gate.swap_detector import SwapDetector, exchange_distance
from teleop_system.modules.gate.tick_clock import TickClock, TickTime

__all__ = [
    "HEAD_GATE",
    "USABLE",
    "GateConfig",
    "HandGate",
    "PoseGate",
    "SampleGate",
    "SwapDetector",
    "TickClock",
    "TickTime",
    "Verdict",
    "exchange_distance",
    "malformed_rule",
]
