# SPDX-License-Identifier: Apache-2.0
"""Controllers that turn the operator's motion into commands, and the nodes that run them.

A controller is pure Python: no clock, no ROS, no thread. It receives samples that a gate has
checked, and returns targets with the reasons for whatever limited them. The safety manager on the
robot's side has the last word about every command.
"""

MODULES = ("arm", "hand", "locomotion", "camera")
"""The controllers of a session, in the order in which they run."""
