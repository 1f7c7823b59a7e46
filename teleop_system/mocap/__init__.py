# SPDX-License-Identifier: Apache-2.0
"""Recorded human motion as the operator: from a BVH file to trackers, gloves and metrics.

    BVH file -> `bvh_loader` -> `BVHData` -> `skeleton_mapper` -> `MappedMotion`
             -> `bvh_tracker_adapter`, `bvh_hand_adapter` -> any session, with or without ROS

Import from the modules themselves; only the loader needs bvhio.
"""
