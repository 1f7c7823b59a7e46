# SPDX-License-Identifier: Apache-2.0
"""The functions behind the `teleop` command: check and view a robot, run and replay a session."""
