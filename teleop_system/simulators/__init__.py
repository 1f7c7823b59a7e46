# SPDX-License-Identifier: Apache-2.0
"""Simulated robot and operator: MuJoCo physics, a simulated person, a simulated hand.

Nothing here needs hardware. Import from the modules themselves: `mujoco_sim` loads MuJoCo, the
simulated operator needs only NumPy.
"""
