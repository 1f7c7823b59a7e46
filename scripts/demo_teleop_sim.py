#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Demonstration with the simulated robot: `demo_teleop_sim.py --step 1` to `--step 5`, or all."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from teleop_system.cli.trials import show_demo_steps

if __name__ == "__main__":
    sys.exit(show_demo_steps())
