# SPDX-License-Identifier: Apache-2.0
"""Real equipment: what the operator wears and presses, and what the robot carries."""
