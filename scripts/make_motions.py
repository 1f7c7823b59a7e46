#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write the built-in motions to `models/motions`, or to another folder."""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from teleop_system.mocap.synthesis.motions import MOTIONS
from teleop_system.mocap.synthesis.writer import write_bvh

FOLDER = Path(__file__).resolve().parent.parent / "models" / "motions"


def main() -> None:
    """Write every motion."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER, help="target folder")
    folder = parser.parse_args().folder
    for name, (perform, skeleton) in MOTIONS.items():
        path = write_bvh(perform(), skeleton(), folder / f"{name}.bvh")
        sys.stdout.write(f"{path}: {path.stat().st_size / 1000:.0f} kB\n")


if __name__ == "__main__":
    main()
