#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Show the point cloud of a camera: `demo_pointcloud_viewer.py --source simulated`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from teleop_system.cli.streaming import view_pointcloud

if __name__ == "__main__":
    sys.exit(view_pointcloud())
