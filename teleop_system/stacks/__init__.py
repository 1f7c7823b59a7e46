# SPDX-License-Identifier: Apache-2.0
"""Nodes, parameters and lifecycle order of every stack, described once.

`catalogue` has the stacks. `plan` computes the nodes of a stack from its options. Launch files
(`launch_description`) and the supervised launcher (`supervisor/`) start the same plan.
"""

from teleop_system.stacks.catalogue import STACKS, find_stack
from teleop_system.stacks.description import Stack
from teleop_system.stacks.plan import NodePlan, StackPlan, make_plan

__all__ = ["STACKS", "NodePlan", "Stack", "StackPlan", "find_stack", "make_plan"]
