# SPDX-License-Identifier: Apache-2.0
"""What the `teleop` command does, as functions: look at a robot, check it, run a session."""
