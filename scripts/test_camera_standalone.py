#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run the camera module alone in MuJoCo, and show the verdict."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from teleop_system.cli.trials import try_module

if __name__ == "__main__":
    sys.exit(try_module("camera"))
