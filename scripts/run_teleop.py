#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run a whole session: `run_teleop.py --mode simulation --modules arm,hand --no-gui key=value`.

The same as `teleop run`, for use without an installed package.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from teleop_system.cli.main import app

if __name__ == "__main__":
    app(["run", *sys.argv[1:]], prog_name="run_teleop.py")
