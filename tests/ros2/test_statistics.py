# SPDX-License-Identifier: Apache-2.0
"""Rates and latencies of received messages."""

from teleop_system.ros2.statistics import TrafficStatistics


def test_rates_are_counted_between_reports() -> None:
    traffic = TrafficStatistics()
    traffic.values(10.0)
    for _ in range(50):
        traffic.note("right_arm", 0.002)
    assert traffic.values(10.5) == {
        "rate.right_arm": "100.0",
        "latency": "p50 2.00 ms, p99 2.00 ms",
    }
    assert traffic.values(11.0)["rate.right_arm"] == "0.0"


def test_a_message_without_a_stamp_has_no_latency() -> None:
    traffic = TrafficStatistics()
    traffic.note("base")
    assert "latency" not in traffic.values(1.0)
