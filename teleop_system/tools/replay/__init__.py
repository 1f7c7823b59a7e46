# SPDX-License-Identifier: Apache-2.0
"""Replays recorded motions through whole sessions, and scores what the robot makes of them."""
