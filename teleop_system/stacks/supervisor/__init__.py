# SPDX-License-Identifier: Apache-2.0
"""Starts a stack as supervised processes: lifecycle in order, restarts, a live table, a clean end.

`policy` and `node_watch` decide, without ROS and without a clock; `node_process` knows processes,
`lifecycle_client` knows ROS 2, and `supervisor` brings them together.
"""
