# SPDX-License-Identifier: Apache-2.0
"""Joint motion within velocity, acceleration and jerk limits.

`CommandBuffer` turns commands into targets, `MotionLimits` steps and brakes joints, and
`LimitReport` explains why a joint is behind its command.
"""
