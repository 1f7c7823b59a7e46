# SPDX-License-Identifier: Apache-2.0
"""Runs a stack as supervised processes: start in order, restarts, a live table, clean shutdown.

`node_watch` decides what to do next, without ROS 2 and without a clock. `node_process` starts and
ends processes, `lifecycle` talks to one lifecycle node, and `supervisor` connects them.
"""
