# SPDX-License-Identifier: Apache-2.0
"""The report: its figures are right, and its page needs no other files."""

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.robots import load_robot
from teleop_system.safety import RobotParts
from teleop_system.session.artefact_writer import state_bands
from teleop_system.session.artefacts import Intervention
from teleop_system.session.report import ReportData, write_report
from teleop_system.session.report.charts import Band, Series, histogram, line_chart, path_chart
from teleop_system.session.report.metrics import (
    base_metrics,
    following_ticks,
    joint_metrics,
    tracking_metrics,
)
from teleop_system.session.report.panels import timeline
from teleop_system.session.report.scale import Scale, extent, thin, tick_label
from teleop_system.timing.stage_timer import TimingSummary

RBY1 = load_robot("rby1")
PARTS = RobotParts(RBY1)
TICKS = 400
TIME = np.arange(TICKS) / 100.0
VOID = {"br", "img", "meta", "hr", "input", "link"}


def columns() -> dict[str, np.ndarray]:
    """Return the trace of a robot that stands in its ready pose, except for the head."""
    home = np.array([RBY1.pose("ready")[joint] for joint in PARTS.joints])
    joints = np.tile(home, (TICKS, 1))
    joints[:, PARTS["head"].columns.start] = 0.3 * np.sin(TIME)
    following = (TIME >= 1.0).astype(float)
    return {
        "time": TIME,
        "state": np.where(following > 0.5, 6.0, 5.0),
        "following": following,
        "commands": joints,
        "measured": joints.copy(),
        "base_requested": np.zeros((TICKS, 3)),
        "base_command": np.zeros((TICKS, 3)),
        "odometry": np.zeros((TICKS, 3)),
        "target_right_arm": np.full((TICKS, 7), np.nan),
    }


def test_the_error_of_an_end_effector_is_its_distance_from_the_target() -> None:
    trace = columns()
    # The right hand in the ready pose, by the kinematics of the model.
    from teleop_system.solvers.chain_kinematics import ChainKinematics

    kinematics = ChainKinematics(RBY1, RBY1.chains, PARTS.joints)
    position, orientation = kinematics.pose("right_arm", trace["measured"][0].tolist())
    trace["target_right_arm"][:] = (
        position[0] + 0.03,
        position[1] - 0.04,
        position[2],
        *orientation,
    )
    (metrics,) = tracking_metrics(trace, ["right_arm"], RBY1, PARTS.joints)
    assert metrics.figures["position_rms"] == pytest.approx(0.05)
    assert metrics.figures["orientation_max"] == pytest.approx(0.0, abs=1e-7)


def test_the_time_right_after_engaging_does_not_count() -> None:
    counted = following_ticks(columns())
    assert not counted[TIME < 2.49].any()
    assert counted[TIME > 2.51].all()


def test_the_top_speed_of_a_joint_is_given_as_a_share_of_its_limit() -> None:
    joints = {joint.name: joint for joint in joint_metrics(columns(), RBY1, PARTS.joints)}
    limit = RBY1.limits("head_0").velocity
    assert joints["head_0"].speed == pytest.approx(0.3 / limit, rel=1e-3)
    assert joints["right_arm_0"].speed == 0.0


def test_the_driven_distance_is_compared_with_the_commanded_one() -> None:
    trace = columns()
    speed = np.where((TIME > 1.0) & (TIME < 3.0), 0.5, 0.0)
    trace["base_requested"][:, 0] = speed
    trace["odometry"][:, 0] = np.cumsum(np.roll(speed, 20)) / 100.0
    base = base_metrics(trace)
    assert base is not None
    assert base.commanded == pytest.approx(1.0, rel=0.02)
    assert base.driven == pytest.approx(1.0, rel=0.02)
    assert base.lag == pytest.approx(0.2, abs=0.02)


def test_a_base_at_rest_has_no_metrics() -> None:
    assert base_metrics(columns()) is None


def test_spans_without_an_operator_are_listed() -> None:
    trace = columns()
    (band,) = state_bands(trace["time"], trace["state"], trace["following"])
    assert (band.start, band.end, band.label) == (0.0, pytest.approx(1.0), "ready")


@given(
    st.floats(-1e6, 1e6),
    st.floats(1e-6, 1e6),
    st.integers(1, 12),
)
@example(879609.9999999999, 1e-6, 6)
def test_ticks_are_round_within_the_scale_and_not_too_many(
    low: float, span: float, wanted: int
) -> None:
    scale = Scale(low, low + span, 0.0, 100.0)
    ticks = scale.ticks(wanted)
    assert len(ticks) <= wanted + 1
    assert all(low - 1e-6 * span <= tick <= low + span * (1 + 1e-6) for tick in ticks)


def test_thinning_keeps_the_peaks() -> None:
    y = np.zeros(10_000)
    y[5_678] = 9.0
    points = thin(np.arange(10_000.0), y, 100)
    assert len(points) <= 200
    assert max(value for _, value in points) == 9.0


@pytest.mark.parametrize(("step", "label"), [(1.0, "2"), (0.5, "2.0"), (0.25, "2.00")])
def test_labels_have_the_decimals_of_their_step(step: float, label: str) -> None:
    assert tick_label(2.0, step) == label


def test_an_empty_range_can_be_drawn() -> None:
    low, high = extent([np.array([np.nan])])
    assert low < high


@pytest.mark.parametrize("values", [np.zeros(0), np.array([np.nan]), np.ones(5), TIME])
def test_every_chart_can_be_drawn_from_any_data(values: np.ndarray) -> None:
    series = [Series("a<b", values, values), Series("", values, values, 1, faint=True)]
    charts = (line_chart(series, unit="m"), path_chart(series), histogram(values, unit="ms"))
    for chart in charts:
        assert "nan" not in chart.lower()
        assert "<b" not in chart.replace("<b>", "")


def test_a_timeline_shows_its_rules_and_numbers() -> None:
    held = Intervention(Rule.SELF_COLLISION, "hand / head", Severity.HOLD, 1.0, 2.0, 0.011, 0.01)
    drawn = timeline([held], 0.0, 4.0)
    assert "self_collision" in drawn
    assert "0.011 m, limit 0.01" in drawn
    assert "Nothing held" in timeline([], 0.0, 4.0)


class Balance(HTMLParser):
    """Checks that every element is closed, and lists what would need a network."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        self.fetched += [
            str(value)
            for name, value in attrs
            if name in ("src", "href") and not str(value).startswith(("data:", "#"))
        ]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_needs_no_network(tmp_path: Path) -> None:
    trace = columns()
    picture = tmp_path / "p.png"
    picture.write_bytes(b"\x89PNG")
    data = ReportData(
        title="rby1: <arm>",
        subtitle="today",
        duration=4.0,
        speed=1.0,
        period=0.01,
        columns=trace,
        parts={name: part.columns for name, part in PARTS.items()},
        joint_names=PARTS.joints,
        tracking=tracking_metrics(trace, ["right_arm"], RBY1, PARTS.joints),
        joints=joint_metrics(trace, RBY1, PARTS.joints),
        states=[Band(0.0, 1.0, "idle", "ready")],
        interventions=[Intervention(Rule.JERK, "left_arm_3", Severity.LIMITED, 1, 2, 3, 2)],
        stages={"total": TimingSummary(400, 1e-3, 1e-3, 2e-3, 3e-3)},
        compute=np.full(TICKS, 1e-3),
        self_contacts=[],
        picture=picture,
        config="seed: 0",
        environment={"python": "3.11"},
    )
    page = write_report(data, tmp_path / "report.html").read_text(encoding="utf-8")
    balance = Balance()
    balance.feed(page)
    assert balance.open == []
    assert balance.fetched == []
    assert not re.search(r"https?://|@import|url\(", page)
    for heading in ("Tracking error", "What held", "Joint motion", "Timing"):
        assert heading in page
    assert "&lt;arm&gt;" in page
