# SPDX-License-Identifier: Apache-2.0
"""Latency and load of streaming: 640 x 480 at 30 Hz to ten clients, one of which never reads.

The first columns stream frames rendered in advance. Their latency, from the camera's new frame to
the client's unpacked frame, is that of the transport. Every client is a process that unpacks all
frames, so that ten of them keep two cores busy for some milliseconds; the first column has one
client only. The last column streams the simulated head camera and reads the time from a ball that
moves across the image, so its latency is that from the scene to the client's pixels. The load by
other programs is shown, because it delays all of this.
"""

import dataclasses
import multiprocessing
import os
import socket
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from bench.views import rendered_frame
from teleop_system.interfaces import ICameraStream, RGBDFrame
from teleop_system.modules.camera.rgbd_streaming import (
    RGBDStreamClient,
    RGBDStreamServer,
    StreamingConfig,
)
from teleop_system.modules.camera.streaming import wire
from teleop_system.modules.camera.streaming.authentication import client_proof
from teleop_system.modules.camera.streaming.wire import MessageType
from teleop_system.robots import load_robot
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
from teleop_system.simulators.sim_camera_stream import SimCameraStream

Age: TypeAlias = Callable[[RGBDFrame, float], float]
"""Returns the age of a frame at a time, both in [s]."""

FPS, CLIENTS, DURATION = 30.0, 9, 10.0
LONGEST = 10e-3
LAP = 1.0
"""Time in [s] that the bar takes from one side of the picture to the other."""
PATIENCE = 120.0
"""Longest wait in [s] for all clients to be there, or to answer."""
MARGIN = 40
BAR = """<mujoco><worldbody>
  <light pos="0 0 4" dir="0 0 -1"/>
  <body name="bar" mocap="true">
    <geom type="sphere" size="0.02" rgba="1 0 1 1" contype="0" conaffinity="0"/>
  </body>
</worldbody></mujoco>"""


class EncodedFrames(ICameraStream):
    """A camera that delivers rendered frames at a fixed rate, stamped at delivery."""

    def __init__(self, frame: RGBDFrame) -> None:
        # Two alternating images, so that no cache of equal images helps.
        self._frames = (frame, dataclasses.replace(frame, rgb=frame.rgb[:, ::-1].copy()))
        self._begin, self._count = time.monotonic(), 0

    @override
    def wait_rgbd(self, last: float, timeout: float) -> RGBDFrame | None:
        self._count = max(self._count + 1, int((time.monotonic() - self._begin) * FPS))
        time.sleep(max(0.0, self._begin + self._count / FPS - time.monotonic()))
        return self.get_rgbd()

    @override
    def get_rgbd(self) -> RGBDFrame:
        return dataclasses.replace(self._frames[self._count % 2], timestamp=time.monotonic())

    @override
    def initialize(self) -> bool:
        return True

    @override
    def set_orientation(self, pan: float, tilt: float) -> None:
        pass

    @override
    def get_orientation(self) -> tuple[float, float]:
        return (0.0, 0.0)

    @override
    def get_intrinsics(self) -> NDArray[np.float64]:
        return self._frames[0].intrinsics

    @override
    def is_connected(self) -> bool:
        return True

    @override
    def shutdown(self) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Watched:
    """Ages of one client's frames, and its processor time, both in [s]."""

    ages: list[float]
    fps: float
    lost: int
    work: float


def rows(duration: float = DURATION) -> list[dict[str, object]]:
    """Measure all three cases; return latencies and verdict."""
    with RGBDStreamServer(EncodedFrames(rendered_frame()), StreamingConfig(port=0)) as server:
        alone = _measure(server, 1, duration, _age_by_stamp)
        transport = _measure(server, CLIENTS, duration, _age_by_stamp)
    glass = _glass_to_glass(duration)
    p95 = transport["p95 [ms]"]
    assert isinstance(p95, float)
    return [
        {"stream": "ready frames, 1 client", **alone},
        {
            "stream": "ready frames, 10 clients",
            **transport,
            "at most [ms]": 1e3 * LONGEST,
            "ok": p95 <= 1e3 * LONGEST,
        },
        {"stream": "glass to glass", **glass},
    ]


def _measure(
    server: RGBDStreamServer, clients: int, duration: float, age: Age
) -> dict[str, object]:
    port = server.address[1]
    stalled = _stalled_client(port) if clients > 1 else None
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])  # Clients start at once, without imports.
    together, answers = context.Barrier(clients + 1), context.Queue()
    watchers = [
        context.Process(target=_watch, args=(port, duration, age, together, answers), daemon=True)
        for _ in range(clients)
    ]
    for watcher in watchers:
        watcher.start()
    try:
        together.wait(PATIENCE)
        begun, busy = time.monotonic(), _busy() - time.process_time()
        found = [answers.get(timeout=duration + PATIENCE) for _ in watchers]
        others = _busy() - time.process_time() - busy - sum(watched.work for watched in found)
        others /= time.monotonic() - begun
    finally:
        for watcher in watchers:
            watcher.terminate()
            watcher.join()
        if stalled is not None:
            stalled.close()
    ages = [1e3 * np.array(watched.ages) for watched in found]
    everything = np.concatenate(ages)
    return {
        "frames": len(everything),
        "frames/s of the slowest": round(min(watched.fps for watched in found), 1),
        "lost": sum(watched.lost for watched in found),
        "p50 [ms]": round(float(np.percentile(everything, 50.0)), 1),
        "p95 [ms]": round(float(np.percentile(everything, 95.0)), 1),
        "p95 of the slowest [ms]": round(max(float(np.percentile(a, 95.0)) for a in ages), 1),
        "worst [ms]": round(float(everything.max()), 1),
        "others [cores]": round(max(0.0, others), 1),
    }


def _watch(port: int, duration: float, age: Age, together: Any, answers: Any) -> None:
    """Run one client, which reads every frame, and return the ages of the frames."""
    client, last = RGBDStreamClient(StreamingConfig(port=port)), float("nan")
    client.start()
    while client.stats().frames < FPS:
        time.sleep(0.05)
    together.wait(PATIENCE)
    ages, begun, lost = [], time.monotonic(), client.stats().lost
    work = time.process_time()
    while time.monotonic() - begun < duration:
        frame = client.wait_rgbd(last, 1.0)
        if frame is not None:
            now, last = time.monotonic(), frame.timestamp
            ages.append(age(frame, now))
    answers.put(
        Watched(
            ages,
            fps=len(ages) / (time.monotonic() - begun),
            lost=client.stats().lost - lost,
            work=time.process_time() - work,
        )
    )
    client.shutdown()


def _busy() -> float:
    """Return the busy time of all cores in [s] since boot."""
    fields = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:]
    user, nice, system, _, _, interrupts, soft, stolen = (int(field) for field in fields[:8])
    ticks = user + nice + system + interrupts + soft + stolen
    return ticks / float(os.sysconf("SC_CLK_TCK"))


def _stalled_client(port: int) -> socket.socket:
    """Return the connection of an accepted client that never reads."""
    connection = socket.create_connection(("127.0.0.1", port))
    nonce = bytes(wire.NONCE_SIZE)
    connection.sendall(wire.pack(MessageType.HELLO, nonce + b"stalled"))
    challenge = connection.recv(wire.HEADER_SIZE + wire.NONCE_SIZE, socket.MSG_WAITALL)
    proof = client_proof(None, nonce, challenge[wire.HEADER_SIZE :])
    connection.sendall(wire.pack(MessageType.PROOF, proof))
    return connection


def _age_by_stamp(frame: RGBDFrame, now: float) -> float:
    # One machine has one clock; the error of the clock comparison is part of the result.
    return now - frame.timestamp


def _glass_to_glass(duration: float) -> dict[str, object]:
    robot = load_robot("rby1")
    with tempfile.TemporaryDirectory() as folder:
        scene = Path(folder) / "bar.xml"
        scene.write_text(BAR, encoding="utf-8")
        simulator = MuJoCoSimulator()
        simulator.initialize({"mjcf_path": robot.mjcf, "keyframe": "ready", "scene": str(scene)})
    stopping = threading.Event()
    camera = SimCameraStream(simulator, robot, fps=FPS)
    try:
        view = simulator.get_camera_rgbd("head_camera")
        mover = threading.Thread(target=_move_bar, args=(simulator, view, stopping), daemon=True)
        mover.start()
        assert camera.initialize(), "rendering is not available"
        with RGBDStreamServer(camera, StreamingConfig(port=0)) as server:
            return _measure(server, 1, duration, _age_by_bar)
    finally:
        stopping.set()
        camera.shutdown()
        simulator.shutdown()


def _move_bar(simulator: MuJoCoSimulator, view: RGBDFrame, stopping: threading.Event) -> None:
    """Set the bar to the position of the current time, at 1000 Hz."""
    inverse, pose = np.linalg.inv(view.intrinsics), view.extrinsics
    width = view.width - 2 * MARGIN
    while not stopping.wait(0.001):
        column = MARGIN + width * (time.monotonic() % LAP) / LAP
        ray = inverse @ (column, 0.35 * view.height, 1.0)
        simulator.data.mocap_pos[0] = pose[:3, :3] @ ray + pose[:3, 3]


def _age_by_bar(frame: RGBDFrame, now: float) -> float:
    """Return the age in [s] of the time that the bar shows; it repeats every lap."""
    rgb = frame.rgb.astype(np.int16)
    is_bar = (rgb[:, :, 0] - rgb[:, :, 1] > 60) & (rgb[:, :, 2] - rgb[:, :, 1] > 60)
    columns = np.nonzero(is_bar)[1]
    if not len(columns):
        return float("nan")
    shown = (float(columns.mean()) - MARGIN) / (frame.width - 2 * MARGIN) * LAP
    return float((now - shown) % LAP)
