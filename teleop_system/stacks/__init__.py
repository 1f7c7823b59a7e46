# SPDX-License-Identifier: Apache-2.0
"""What runs together: nodes, parameters and lifecycle order of every stack, described once.

`catalogue` holds the stacks, `plan` turns one and its options into nodes to start. Launch files
(`launch_description`) and the supervised launcher (`supervisor/`) both start from that plan.
"""

from teleop_system.stacks.catalogue import STACKS, find_stack
from teleop_system.stacks.description import Stack
from teleop_system.stacks.plan import NodePlan, StackPlan, make_plan

__all__ = ["STACKS", "NodePlan", "Stack", "StackPlan", "find_stack", "make_plan"]
