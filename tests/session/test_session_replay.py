# SPDX-License-Identifier: Apache-2.0
"""The same recorded inputs give the same commands twice, to the last bit."""

from pathlib import Path

import numpy as np
import pytest

from teleop_system.robot_side.requests import Requests
from teleop_system.session.build import build_session, make_simulator
from teleop_system.session.signals.recording import InputRecording, RecordedSource
from teleop_system.settings import TeleopSettings
from tests.session.sessions import rigged, settings_with


def replay(recording: InputRecording, settings: TeleopSettings) -> np.ndarray:
    """Return every command of a run with recorded times, requests and samples."""
    simulator = make_simulator(settings)
    session = build_session(settings, simulator=simulator, source=RecordedSource(recording))
    session.start()
    for number in range(len(recording)):
        tick = recording[number]
        session.step(tick.time, Requests.decode(tick.requests))
    session.close()
    simulator.shutdown()
    assert session.recorder is not None
    columns = session.recorder.trace.columns()
    return np.hstack([columns["commands"], columns["base_command"], columns["measured"]])


@pytest.mark.parametrize("robot", ["rby1", "rby1_dg5f"])
def test_recorded_inputs_give_bit_identical_commands(robot: str, tmp_path: Path) -> None:
    overrides = (f"robot={robot}", "operator.seed=4")
    # Times that jitter like wall time, and a clutch that opens and closes meanwhile.
    random = np.random.default_rng(0)
    with rigged(*overrides) as rig:
        for tick in range(300):
            if tick in (180, 200):
                rig.session.requests.request(clutch=tick == 200)
            rig.session.step(rig.now)
            rig.now += 0.01 + 1e-4 * random.standard_normal()
        recorder = rig.session.recorder
        assert recorder is not None
        path = recorder.inputs.save(tmp_path / "inputs.npz")
        columns = recorder.trace.columns()
    recording = InputRecording.load(path)
    settings = settings_with(*overrides)
    first, second = replay(recording, settings), replay(recording, settings)
    live = np.hstack([columns["commands"], columns["base_command"], columns["measured"]])
    assert np.ptp(first[-1] - first[50]) > 0.0
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first, live)
