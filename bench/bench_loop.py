# SPDX-License-Identifier: Apache-2.0
"""Time of the standalone whole-body loop, against bare `mj_step`.

The loop has all four controllers, the safety manager and MuJoCo at 500 Hz, without cameras. Its
inputs are recorded samples of a simulated operator, because the operator is not part of the robot.
Both alternate in short blocks, so that disturbances of the machine affect both. The peer steps the
same model in the same states with the commands of the same ticks. All rounds are identical, so the
cost of a tick is its time in the fastest round.

The peer holds a command until the next tick, as a bare loop does. Our simulator interpolates the
controls step by step, which is easier for MuJoCo's solver; a separate row shows bare steps with
the interpolated controls.
"""

import sys
import time

import mujoco
import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from teleop_system.interfaces import ISimulator
from teleop_system.interfaces.causes import Cause
from teleop_system.session.build import build_session, make_simulator
from teleop_system.session.session import TeleopSession
from teleop_system.session.signals import ISignalSource, Samples
from teleop_system.session.signals.recording import InputRecording
from teleop_system.settings import TeleopSettings, load_settings
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
from teleop_system.timing.stage_timer import StageTimer

Array = NDArray[np.float64]

DURATION = 10.0
ROUNDS = 5
BLOCK_TICKS = 50
LEAST_SPEED, LARGEST_RATIO = 8.0, 2.0


class ReadySamples(ISignalSource):
    """The samples of a recording, created before the measurement."""

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


def rows(duration: float = DURATION, rounds: int = ROUNDS) -> list[dict[str, object]]:
    """Measure loop and peers; return a row each with the time per tick, and the verdict."""
    quiet = ["simulation.render=false", "session.self_test=false"]
    recording = _record(load_settings([*quiet, "session.record=true"]), duration)
    settings = load_settings([*quiet, "session.record=false"])
    measured = [_round(settings, recording) for _ in range(rounds)]
    fastest = np.min([times for times, _ in measured], axis=0)
    stages = {
        name: np.min([columns[name] for _, columns in measured], axis=0) for name in measured[0][1]
    }
    return _table(fastest, stages, len(recording) / duration)


def _round(settings: TeleopSettings, recording: InputRecording) -> tuple[Array, dict[str, Array]]:
    """Return the times in [s] of all ticks of loop and peers, and of the stages of the loop."""
    simulator = make_simulator(settings)
    session = build_session(settings, simulator=simulator, source=ReadySamples(recording))
    session.start()
    times = _compare(session, simulator, len(recording))
    history = session.timer.history
    stages = {name: history.column(name) for name in history.columns}
    session.close()
    simulator.shutdown()
    return times, stages


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


def _compare(session: TeleopSession, simulator: ISimulator, ticks: int) -> Array:
    """Return times in [s] of loop, peer, and peer with interpolation, shape (3, ticks)."""
    assert isinstance(simulator, MuJoCoSimulator)
    model, data = simulator.model, simulator.data
    peer = mujoco.MjData(model)
    steps = round(1.0 / session.rate / model.opt.timestep)
    loop, held, interpolated = [], [], []
    before = data.ctrl.copy()
    for first in range(0, ticks - BLOCK_TICKS + 1, BLOCK_TICKS):
        states = []
        for tick in range(first, first + BLOCK_TICKS):
            state = data.qpos.copy(), data.qvel.copy()
            begun = time.perf_counter()
            session.step(tick / session.rate)
            loop.append(time.perf_counter() - begun)
            states.append((*state, before, data.ctrl.copy()))
            before = states[-1][-1]
        for qpos, qvel, _, control in states:
            peer.qpos[:], peer.qvel[:], peer.ctrl[:] = qpos, qvel, control
            begun = time.perf_counter()
            mujoco.mj_step(model, peer, steps)
            held.append(time.perf_counter() - begun)
        for qpos, qvel, start, control in states:
            peer.qpos[:], peer.qvel[:] = qpos, qvel
            path = np.linspace(start, control, steps + 1)[1:]
            begun = time.perf_counter()
            for controls in path:
                peer.ctrl[:] = controls
                mujoco.mj_step(model, peer)
            interpolated.append(time.perf_counter() - begun)
    return np.array([loop, held, interpolated])


def _table(times: Array, stages: dict[str, Array], rate: float) -> list[dict[str, object]]:
    loop, held, interpolated = (float(np.median(each)) for each in times)
    speed, ratio = 1.0 / rate / loop, loop / held
    columns = {
        f"{name} [us]": round(1e6 * float(np.nanmedian(seconds)))
        for name, seconds in stages.items()
        if name not in (StageTimer.TOTAL, "record")
    }
    tails = [round(1e6 * float(np.percentile(each, 99.0))) for each in times]
    return [
        {
            "time of a tick": "whole loop",
            "median [us]": round(1e6 * loop),
            "p99 [us]": tails[0],
            **columns,
            "x real time": round(speed, 2),
            "at least": LEAST_SPEED,
            "ratio": round(ratio, 2),
            "budget": LARGEST_RATIO,
            "ok": speed >= LEAST_SPEED and ratio <= LARGEST_RATIO,
        },
        {
            "time of a tick": "bare mj_step",
            "median [us]": round(1e6 * held),
            "p99 [us]": tails[1],
        },
        {
            "time of a tick": "bare, interpolated",
            "median [us]": round(1e6 * interpolated),
            "p99 [us]": tails[2],
            "ratio": round(loop / interpolated, 2),
        },
    ]


def main() -> int:
    """Print the table; return 1 if a budget is missed."""
    table = rows()
    for head in table[0]:
        print(f"{head:>18}  " + "  ".join(f"{row.get(head, '')!s:>12}" for row in table))
    return 0 if table[0]["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
