# SPDX-License-Identifier: Apache-2.0
"""The artefacts of a run: tables, events and its folder."""

import json
from pathlib import Path

import numpy as np
import pytest
import yaml

from teleop_system.exceptions import ConfigError, UnknownNameError
from teleop_system.interfaces.causes import Cause, Rule, Severity
from teleop_system.session.artefacts import EventLog, RunFolder
from teleop_system.settings import TeleopSettings
from teleop_system.utils.table import CHUNK_ROWS, Table


def limited(value: float = 4.0, subject: str = "left_arm_3") -> Cause:
    return Cause(Rule.VELOCITY, subject, value, 3.0, 0.0)


def test_any_number_of_rows_can_be_read_back() -> None:
    table = Table({"time": 1, "joints": 3})
    count = 2 * CHUNK_ROWS + 7
    for tick in range(count):
        row = table.new_row()
        row[table.slices["time"]] = tick
        row[table.slices["joints"]] = (tick, 0.0, -tick)
    assert len(table) == count
    np.testing.assert_array_equal(table.column("time"), np.arange(count))
    assert table.column("joints").shape == (count, 3)


def test_values_that_were_not_written_are_nan() -> None:
    table = Table({"time": 1, "joints": 2})
    table.new_row()[0] = 1.0
    assert np.isnan(table.column("joints")).all()


def test_a_full_table_drops_the_oldest_rows() -> None:
    table = Table({"time": 1}, limit=2 * CHUNK_ROWS)
    for tick in range(3 * CHUNK_ROWS):
        table.new_row()[0] = tick
    assert len(table) <= 2 * CHUNK_ROWS
    assert table.column("time")[-1] == 3 * CHUNK_ROWS - 1
    assert table.dropped == CHUNK_ROWS


def test_an_empty_table_has_empty_columns() -> None:
    assert Table({"time": 1}).column("time").shape == (0,)


def test_an_unknown_column_is_reported_with_the_valid_ones() -> None:
    with pytest.raises(UnknownNameError, match="time"):
        Table({"time": 1}).column("tme")


def test_a_table_is_written_with_all_its_columns(tmp_path: Path) -> None:
    table = Table({"time": 1, "joints": 2})
    table.new_row()[:] = (1.0, 2.0, 3.0)
    with np.load(table.save(tmp_path / "t.npz", names=np.array(["a", "b"]))) as archive:
        assert set(archive.files) == {"time", "joints", "names"}


def test_a_lasting_cause_is_one_intervention_with_its_worst_value() -> None:
    log = EventLog()
    for tick, value in enumerate((3.5, 9.0, 4.0)):
        log.add_causes(0.01 * tick, [limited(value)])
    log.add_causes(1.0, [])
    (known,) = log.interventions
    assert (known.value, known.ticks) == (9.0, 3)
    assert known.duration == pytest.approx(0.02)
    assert [event["event"] for event in log.events] == ["cause", "cause ended"]


def test_a_short_gap_does_not_end_an_intervention() -> None:
    log = EventLog()
    log.add_causes(0.0, [limited()])
    log.add_causes(0.1, [])
    log.add_causes(0.2, [limited()])
    assert len(log.interventions) == 1


def test_a_cause_that_returns_later_is_another_intervention() -> None:
    log = EventLog()
    for time in (0.0, 1.0):
        log.add_causes(time, [limited()])
        log.add_causes(time + 0.5, [])
    assert len(log.interventions) == 2


def test_the_highest_severity_of_an_intervention_is_kept() -> None:
    log = EventLog()
    log.add_causes(0.0, [limited()])
    log.add_causes(0.01, [Cause(Rule.VELOCITY, "left_arm_3", 4.0, 3.0, 0.0, Severity.HOLD)])
    assert log.interventions[0].severity is Severity.HOLD


def test_events_are_lines_of_json_that_carry_the_cause_code(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    log = EventLog(path)
    log.add(0.5, "state", state="ready", reason="self-test passed")
    log.add_causes(1.0, [limited(float("nan"))])
    log.close()
    log.close()
    events = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert events[0] == {
        "time": 0.5,
        "event": "state",
        "state": "ready",
        "reason": "self-test passed",
    }
    assert {"rule", "subject", "severity", "value", "limit", "unit"} <= events[1].keys()
    assert events[1]["rule"] == "velocity"
    assert events[1]["value"] is None
    assert events[2]["event"] == "cause ended"


def test_two_runs_within_a_second_do_not_share_a_folder(tmp_path: Path) -> None:
    assert RunFolder(tmp_path).path != RunFolder(tmp_path).path


def test_a_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"session.runs: .*file"):
        RunFolder(tmp_path / "file")


def test_the_written_configuration_is_that_of_the_run(tmp_path: Path) -> None:
    written = RunFolder(tmp_path).write_config(TeleopSettings(seed=7))
    read = yaml.safe_load(written.read_text(encoding="utf-8"))
    assert read["seed"] == 7
    assert read["session"]["modules"] == ["arm", "hand", "locomotion", "camera"]


def test_the_environment_names_versions_and_machine(tmp_path: Path) -> None:
    written = RunFolder(tmp_path).write_environment()
    read = json.loads(written.read_text(encoding="utf-8"))
    assert read["packages"]["numpy"] == np.__version__
    assert {"started", "python", "platform", "commit", "command"} <= read.keys()
