#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stream the robot's camera, or view the stream: `--mode server`, then `--mode client`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from teleop_system.cli.streaming import stream_rgbd

if __name__ == "__main__":
    sys.exit(stream_rgbd())
