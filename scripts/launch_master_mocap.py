#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Start a recorded operator and the controllers: `launch_master_mocap.py --file wave --loop true`.

The same as `teleop launch master_mocap`, for use without an installed package.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from teleop_system.cli.main import launch_script

if __name__ == "__main__":
    launch_script("master_mocap", "launch_master_mocap.py")
