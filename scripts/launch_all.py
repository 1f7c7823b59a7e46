#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Start a simulated robot, its operator and all controllers: `launch_all.py --help`.

The same as `teleop launch teleop_sim_full`, for use without an installed package.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from teleop_system.cli.main import launch_script

if __name__ == "__main__":
    launch_script("teleop_sim_full", "launch_all.py")
