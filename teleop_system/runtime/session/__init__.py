# SPDX-License-Identifier: Apache-2.0
"""The standalone session: the same wiring as the ROS nodes, in one process."""
