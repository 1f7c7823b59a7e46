# SPDX-License-Identifier: Apache-2.0
"""Runs the `teleop` command as `python -m teleop_system.cli`."""

from teleop_system.cli.main import main

main()
