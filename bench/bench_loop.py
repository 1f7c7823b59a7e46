# SPDX-License-Identifier: Apache-2.0
"""The standalone whole-body loop against bare `mj_step`: what all of teleoperation costs on top.

The loop has all four controllers, the safety manager and MuJoCo at 500 Hz, without cameras. It is
fed with the recorded samples of a simulated operator, as the operator is no part of the robot.
Both take short turns in one run, so that whatever else the machine does meets them alike; the
peer steps the same model, in the same states, with the same controls. Time is that of the
processor, so that a machine with other things to do gives the same answer as an idle one.
"""

import sys
import time

import mujoco
import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from teleop_system.interfaces import ISimulator
from teleop_system.runtime.causes import Cause
from teleop_system.runtime.session.build import build_session, make_simulator
from teleop_system.runtime.session.session import TeleopSession
from teleop_system.runtime.signals import ISignalSource, Samples
from teleop_system.runtime.signals.recording import InputRecording
from teleop_system.runtime.timing import StageTimer
from teleop_system.settings import TeleopSettings, load_settings
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator

DURATION = 20.0
TURN_TICKS = 50
LEAST_SPEED, LARGEST_RATIO = 8.0, 2.0


class ReadySamples(ISignalSource):
    """The samples of a recording, made before anything is timed."""

    def __init__(self, recording: InputRecording) -> None:
        self._samples = [recording[tick].samples for tick in range(len(recording))]
        self._tick = 0

    @override
    def connect(self) -> None:
        self._tick = 0

    @override
    def read(self, now: float) -> Samples:
        self._tick += 1
        return self._samples[self._tick - 1]

    @property
    @override
    def causes(self) -> tuple[Cause, ...]:
        return ()

    @override
    def close(self) -> None:
        pass


def rows(duration: float = DURATION) -> list[dict[str, object]]:
    """Measure loop and peer; return what each costs a tick, and the verdict."""
    settings = load_settings(
        ["simulation.render=false", "session.self_test=false", "session.record=true"]
    )
    recording = _record(settings, duration)
    settings = load_settings(
        ["simulation.render=false", "session.self_test=false", "session.record=false"]
    )
    simulator = make_simulator(settings)
    session = build_session(settings, simulator=simulator, source=ReadySamples(recording))
    stages = session.timer.history.columns[:-1]
    session.timer = StageTimer(stages, clock_ns=time.thread_time_ns)
    session.start()
    loop, bare = _compare(session, simulator, len(recording))
    session.close()
    simulator.shutdown()
    return _table(session, loop, bare)


def _record(settings: TeleopSettings, duration: float) -> InputRecording:
    simulator = make_simulator(settings)
    session = build_session(settings, simulator=simulator)
    session.start()
    for tick in range(int(duration * session.rate)):
        session.step(tick / session.rate)
    session.close()
    simulator.shutdown()
    assert session.recorder is not None
    return InputRecording(session.recorder.inputs.table.columns())


def _compare(
    session: TeleopSession, simulator: ISimulator, ticks: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the time in [s] that each tick of the loop and of the peer took."""
    assert isinstance(simulator, MuJoCoSimulator)
    model, data = simulator.model, simulator.data
    peer = mujoco.MjData(model)
    steps = round(1.0 / session.rate / model.opt.timestep)
    states = [(np.empty_like(data.qpos), np.empty_like(data.qvel), np.empty_like(data.ctrl))]
    states *= TURN_TICKS
    states = [(q.copy(), v.copy(), c.copy()) for q, v, c in states]
    loop, bare = [], []
    for first in range(0, ticks - TURN_TICKS + 1, TURN_TICKS):
        for tick, (qpos, qvel, control) in enumerate(states):
            qpos[:], qvel[:] = data.qpos, data.qvel
            begun = time.thread_time()
            session.step((first + tick) / session.rate)
            loop.append(time.thread_time() - begun)
            control[:] = data.ctrl
        for qpos, qvel, control in states:
            peer.qpos[:], peer.qvel[:], peer.ctrl[:] = qpos, qvel, control
            begun = time.thread_time()
            mujoco.mj_step(model, peer, steps)
            bare.append(time.thread_time() - begun)
    return np.array(loop), np.array(bare)


def _table(
    session: TeleopSession, loop: NDArray[np.float64], bare: NDArray[np.float64]
) -> list[dict[str, object]]:
    # Medians: a tick that another process was let in between says nothing about either.
    ours, theirs = float(np.median(loop)), float(np.median(bare))
    speed, ratio = 1.0 / session.rate / ours, ours / theirs
    stages = {
        f"{name} [us]": round(1e6 * figures.p50)
        for name, figures in session.timer.summary().items()
        if figures.count and name not in (session.timer.TOTAL, "record")
    }
    return [
        {
            "work of a tick": "whole loop",
            "median [us]": round(1e6 * ours),
            "p99 [us]": round(1e6 * float(np.percentile(loop, 99.0))),
            **stages,
            "x real time": round(speed, 2),
            "at least": LEAST_SPEED,
            "ratio": round(ratio, 2),
            "budget": LARGEST_RATIO,
            "ok": speed >= LEAST_SPEED and ratio <= LARGEST_RATIO,
        },
        {
            "work of a tick": "bare mj_step",
            "median [us]": round(1e6 * theirs),
            "p99 [us]": round(1e6 * float(np.percentile(bare, 99.0))),
        },
    ]


def main() -> int:
    """Print the table; fail where the budget is missed."""
    table = rows()
    for head in table[0]:
        print(f"{head:>18}  " + "  ".join(f"{row.get(head, '')!s:>12}" for row in table))
    return 0 if table[0]["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
