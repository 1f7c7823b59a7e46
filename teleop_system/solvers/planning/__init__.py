# SPDX-License-Identifier: Apache-2.0
"""Motions that are planned as a whole, for targets that are known in advance.

`SlowMotion` finds postures for targets as if there were all the time in the world, and
`MotionPlanner` the joint motion that comes nearest to them within the limits on time.
"""
