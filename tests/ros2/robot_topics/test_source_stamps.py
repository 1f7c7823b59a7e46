# SPDX-License-Identifier: Apache-2.0
"""Messages without a stamp have the age of their transport."""

import pytest

from teleop_system.ros2.robot_topics.source_stamps import SourceStamps

WALL = 2_000_000_000_000_000_000


def stamp(now: float, age: float, stamps: SourceStamps | None = None) -> float:
    """Return the stamp of a message that was published `age` [s] before it was received."""
    stamps = stamps or SourceStamps(lambda: WALL)
    return stamps.stamp({"source_timestamp": WALL - round(1e9 * age)}, now)


@pytest.mark.parametrize("now", [12.5, 1.8e9])
def test_the_transport_time_counts_on_any_clock(now: float) -> None:
    assert stamp(now, 1.0) == pytest.approx(now - 1.0, abs=1e-6)


def test_a_stamp_in_the_future_becomes_the_present() -> None:
    assert stamp(12.5, -3.0) == 12.5


@pytest.mark.parametrize("info", [{}, {"source_timestamp": None}, {"source_timestamp": 0}])
def test_a_message_without_a_source_stamp_has_the_time_of_reception(
    info: dict[str, object],
) -> None:
    assert SourceStamps(lambda: WALL).stamp(info, 12.5) == 12.5


def test_stamps_keep_their_order_and_old_messages_stay_old() -> None:
    stamps = SourceStamps(lambda: WALL)
    assert stamp(12.5, 0.0, stamps) == 12.5
    assert stamp(12.5, 0.003, stamps) == 12.5
    assert stamp(13.5, 2.0, stamps) == 12.5
    assert stamp(12.0, 0.0, stamps) == 12.0
