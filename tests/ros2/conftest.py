# SPDX-License-Identifier: Apache-2.0
"""Real ROS 2 over DDS, on this machine only and apart from whatever else runs on it."""

import pytest

pytest.importorskip("rclpy")
