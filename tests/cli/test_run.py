# SPDX-License-Identifier: Apache-2.0
"""`teleop run`: its options, the table of signals and the live status."""

import io

from rich.console import Console, RenderableType

from teleop_system.cli.run import session_overrides, signal_table, status_panel
from teleop_system.interfaces.causes import Cause, Rule, Severity
from teleop_system.robot_side.engagement import EngagementState, EngagementStatus
from teleop_system.session.signals import Need, plan_signals
from teleop_system.session.status import SessionStatus, TrackingError


def text_of(renderable: RenderableType) -> str:
    console = Console(width=160, record=True, file=io.StringIO())
    console.print(renderable)
    return console.export_text()


def status(**changes: object) -> SessionStatus:
    engagement = EngagementStatus(EngagementState.ENGAGED, "the operator took control", 1.0)
    values: dict[str, object] = {"time": 12.5, "ticks": 1250, "engagement": engagement}
    return SessionStatus(**(values | changes))  # type: ignore[arg-type]


def test_overrides_take_precedence_over_options() -> None:
    assert session_overrides(["session.mode=simulation"], "hardware", "arm, hand,") == [
        "session.mode=hardware",
        "session.modules=[arm,hand]",
        "session.mode=simulation",
    ]


def test_the_table_shows_the_source_of_each_signal_and_missing_ones() -> None:
    needs = [Need("arm", "right_hand"), Need("arm", "waist", False), Need("camera", "head")]
    shown = text_of(signal_table(plan_signals(needs, {"head": "headset"})))
    assert "hardware.signals.right_hand" in shown
    assert "derived" in shown
    assert "headset" in shown
    assert "(optional)" in shown


def test_the_status_shows_state_reason_errors_rates_and_speed() -> None:
    shown = text_of(
        status_panel(
            status(
                errors={"left_arm": TrackingError(0.0042, 0.01)},
                rates={"arm": 99.6},
                speed=0.98,
                base=(0.25, 0.0, -0.1),
            ),
            "rby1",
            30.0,
        )
    )
    for part in ("ENGAGED", "the operator took control", "12.5/30 s", "0.98x", "4.2 mm", "+0.25"):
        assert part in shown
    assert "arm 100 Hz" in shown


def test_the_most_severe_cause_is_shown_first_and_many_are_counted() -> None:
    causes = tuple(Cause(Rule.JERK, f"joint_{n}", 2.0, 1.0, 0.0) for n in range(9))
    held = Cause(Rule.STALE, "left_hand", 0.2, 0.08, 0.0, Severity.HOLD)
    lines = text_of(status_panel(status(causes=(*causes, held)), "rby1", None)).splitlines()
    shown = [line for line in lines if "joint_" in line or "left_hand" in line]
    assert "stale: left_hand" in shown[0]
    assert len(shown) == 6
    assert "and 4 more" in lines[-1]
