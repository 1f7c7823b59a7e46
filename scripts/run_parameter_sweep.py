#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Replay a motion over a grid of settings: `run_parameter_sweep.py wave arm.reach=0.9,0.97`.

The same as `teleop sweep`, for use without an installed package.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from teleop_system.cli.main import app

if __name__ == "__main__":
    app(["sweep", *sys.argv[1:]], prog_name="run_parameter_sweep.py")
