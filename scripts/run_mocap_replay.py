#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Replay BVH files in MuJoCo and score them: `run_mocap_replay.py recordings/ --json scores.json`.

The same as `teleop replay`, for use without an installed package.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from teleop_system.cli.main import app

if __name__ == "__main__":
    app(["replay", *sys.argv[1:]], prog_name="run_mocap_replay.py")
