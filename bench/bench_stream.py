# SPDX-License-Identifier: Apache-2.0
"""What streaming adds: frames of 640 x 480 at 30 Hz to ten clients, one of which never reads.

Row one streams frames that were rendered beforehand: its latency, from when the camera hands a
frame over to when a client in another process has unpacked it, is that of the transport. Row two
streams the simulated head camera and reads the time off a bar that moves across the picture, so
that its latency is all there is between the scene and the client's pixels.
"""

import dataclasses
import multiprocessing
import multiprocessing.connection
import socket
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

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

FPS, CLIENTS, DURATION = 30.0, 9, 10.0
LONGEST = 10e-3
LAP = 1.0
"""Time in [s] that the bar takes from one side of the picture to the other."""
MARGIN = 40
BAR = """<mujoco><worldbody>
  <light pos="0 0 4" dir="0 0 -1"/>
  <body name="bar" mocap="true">
    <geom type="sphere" size="0.02" rgba="1 0 1 1" contype="0" conaffinity="0"/>
  </body>
</worldbody></mujoco>"""


class ReadyFrames(ICameraStream):
    """Hands over one rendered frame after the other, on time and stamped with it."""

    def __init__(self, frame: RGBDFrame) -> None:
        # Two pictures in turn, lest anything be gained by all being the same.
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


def rows(duration: float = DURATION) -> list[dict[str, object]]:
    """Measure both; return the latencies and the verdict."""
    with RGBDStreamServer(ReadyFrames(rendered_frame()), StreamingConfig(port=0)) as server:
        transport = _measure(server, CLIENTS, duration, _age_by_stamp)
    glass = _glass_to_glass(duration)
    p95 = transport["p95 [ms]"]
    assert isinstance(p95, float)
    return [
        {
            "stream": "ready frames, 10 clients",
            **transport,
            "at most [ms]": 1e3 * LONGEST,
            "ok": p95 <= 1e3 * LONGEST,
        },
        {"stream": "glass to glass", **glass},
    ]


def _measure(
    server: RGBDStreamServer,
    clients: int,
    duration: float,
    age: Callable[[RGBDFrame, float], float],
) -> dict[str, object]:
    port = server.address[1]
    stalled = _stalled_client(port) if clients > 1 else None
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    child = context.Process(target=_watch, args=(port, clients, duration, age, theirs))
    child.start()
    try:
        if not ours.poll(duration + 120.0):
            raise TimeoutError("the clients gave no answer")
        ages, fps, lost = ours.recv()
    finally:
        child.join(10.0)
        if stalled is not None:
            stalled.close()
    milliseconds = 1e3 * np.array(ages)
    return {
        "frames": len(ages),
        "frames/s": round(fps, 1),
        "lost": lost,
        "p50 [ms]": round(float(np.percentile(milliseconds, 50.0)), 1),
        "p95 [ms]": round(float(np.percentile(milliseconds, 95.0)), 1),
        "worst [ms]": round(float(milliseconds.max()), 1),
    }


def _watch(
    port: int,
    clients: int,
    duration: float,
    age: Callable[[RGBDFrame, float], float],
    answer: "multiprocessing.connection.Connection",
) -> None:
    """Receive with all clients; the frames of the first are looked at."""
    watchers = [RGBDStreamClient(StreamingConfig(port=port)) for _ in range(clients)]
    for watcher in watchers:
        watcher.start()
    first, last = watchers[0], float("nan")
    while any(watcher.stats().frames < FPS for watcher in watchers):
        time.sleep(0.05)
    ages, begun, lost = [], time.monotonic(), first.stats().lost
    while time.monotonic() - begun < duration:
        frame = first.wait_rgbd(last, 1.0)
        if frame is not None:
            now, last = time.monotonic(), frame.timestamp
            ages.append(age(frame, now))
    stats = first.stats()
    answer.send((ages, len(ages) / (time.monotonic() - begun), stats.lost - lost))
    for watcher in watchers:
        watcher.shutdown()


def _stalled_client(port: int) -> socket.socket:
    """Return the connection of a client that is welcome, and then never reads again."""
    connection = socket.create_connection(("127.0.0.1", port))
    nonce = bytes(wire.NONCE_SIZE)
    connection.sendall(wire.pack(MessageType.HELLO, nonce + b"stalled"))
    challenge = connection.recv(wire.HEADER_SIZE + wire.NONCE_SIZE, socket.MSG_WAITALL)
    proof = client_proof(None, nonce, challenge[wire.HEADER_SIZE :])
    connection.sendall(wire.pack(MessageType.PROOF, proof))
    return connection


def _age_by_stamp(frame: RGBDFrame, now: float) -> float:
    # Clocks are the same on one machine; what comparing them got wrong is part of the figure.
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
        assert camera.initialize(), "nothing can be drawn here"
        with RGBDStreamServer(camera, StreamingConfig(port=0)) as server:
            return _measure(server, 1, duration, _age_by_bar)
    finally:
        stopping.set()
        camera.shutdown()
        simulator.shutdown()


def _move_bar(simulator: MuJoCoSimulator, view: RGBDFrame, stopping: threading.Event) -> None:
    """Put the bar where the time says, a thousand times a second."""
    inverse, pose = np.linalg.inv(view.intrinsics), view.extrinsics
    width = view.width - 2 * MARGIN
    while not stopping.wait(0.001):
        column = MARGIN + width * (time.monotonic() % LAP) / LAP
        ray = inverse @ (column, 0.35 * view.height, 1.0)
        simulator.data.mocap_pos[0] = pose[:3, :3] @ ray + pose[:3, 3]


def _age_by_bar(frame: RGBDFrame, now: float) -> float:
    """Return how long ago it was what the bar says; it says so once a lap."""
    rgb = frame.rgb.astype(np.int16)
    is_bar = (rgb[:, :, 0] - rgb[:, :, 1] > 60) & (rgb[:, :, 2] - rgb[:, :, 1] > 60)
    columns = np.nonzero(is_bar)[1]
    if not len(columns):
        return float("nan")
    shown = (float(columns.mean()) - MARGIN) / (frame.width - 2 * MARGIN) * LAP
    return float((now - shown) % LAP)
