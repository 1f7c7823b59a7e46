# SPDX-License-Identifier: Apache-2.0
"""Motions that are planned as a whole, for targets that are known in advance.

`reachable_postures()` finds postures for targets without limits on speed, and `MotionPlanner` the
joint motion that comes nearest to them within all limits.
"""
