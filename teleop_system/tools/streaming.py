# SPDX-License-Identifier: Apache-2.0
"""Serves and views camera streams; used by the streaming scripts."""

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from teleop_system.exceptions import (
    DeviceNotConnectedError,
    SimulationError,
    StreamError,
    UnknownNameError,
)
from teleop_system.interfaces import ICameraStream, RGBDFrame
from teleop_system.modules.camera.head_follower import HeadThread
from teleop_system.modules.camera.pointcloud_generator import (
    PointCloudConfig,
    PointCloudGenerator,
)
from teleop_system.modules.camera.pointcloud_viewer import PointCloudViewer, write_snapshot
from teleop_system.modules.camera.streaming.client import RGBDStreamClient
from teleop_system.modules.camera.streaming.config import load_token
from teleop_system.modules.camera.streaming.server import RGBDStreamServer
from teleop_system.robots import load_robot
from teleop_system.session.build import make_simulator
from teleop_system.settings import TeleopSettings
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
from teleop_system.simulators.sim_camera_stream import SimCameraStream
from teleop_system.tools.simulated_robot_loop import SimulatedRobotLoop

REPORT_PERIOD = 1.0
VIEW_RATE = 60.0
"""Rate in [Hz] at which a window handles the mouse between frames."""

Report = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class RosOptions:
    """Prefix, clock and time-out of the robot's topics."""

    topic_prefix: str = ""
    use_sim_time: bool = False
    patience: float = 60.0
    """Time-out for the first frame in [s]; the robot may start later than this process."""


@dataclass(slots=True)
class Deadline:
    """End of a loop: a duration in [s] after the first query, or a stop request.

    It counts from the first query, because a camera may take long to open.
    """

    duration: float | None = None
    is_stopped: bool = False
    _begin: float | None = None

    def is_over(self) -> bool:
        """Return whether the loop must end."""
        now = time.monotonic()
        self._begin = now if self._begin is None else self._begin
        return self.is_stopped or (
            self.duration is not None and now - self._begin >= self.duration
        )


@contextlib.contextmanager
def open_camera(
    source: str, settings: TeleopSettings, ros: RosOptions | None = None
) -> Iterator[ICameraStream]:
    """Yield an open camera, and close it afterwards.

    Args:
        source: "simulated" (a new simulated robot), "ros2", "realsense" or "stream".
        settings: Robot, simulation and streaming.
        ros: Options of the topics.

    Raises:
        UnknownNameError: The source does not exist.
        StreamError: The camera cannot be opened; the reason was logged.
        TeleopError: Another resource is missing.
    """
    makers: dict[str, Callable[[], ICameraStream]] = {
        "simulated": lambda: _simulated(settings, stack),
        "ros2": lambda: _subscriber(settings, ros or RosOptions()),
        "realsense": _realsense,
        "stream": lambda: RGBDStreamClient(
            settings.streaming, token=load_token(settings.streaming)
        ),
    }
    if source not in makers:
        raise UnknownNameError("camera source", source, makers)
    with contextlib.ExitStack() as stack:
        camera = makers[source]()
        stack.callback(camera.shutdown)
        if not camera.initialize():
            raise StreamError(f"cannot open camera {source!r}; see the log for the reason")
        yield camera


def serve(
    source: str,
    settings: TeleopSettings,
    *,
    deadline: Deadline,
    report: Report,
    ros: RosOptions | None = None,
) -> None:
    """Stream a camera until the deadline; clients may move its head.

    Raises:
        TeleopError: The camera or the address cannot be opened.
    """
    config = settings.streaming
    token = load_token(config)
    with open_camera(source, settings, ros) as camera:
        neck = settings.camera.within(load_robot(settings.robot.name))
        with (
            HeadThread(neck, camera) as head,
            RGBDStreamServer(camera, config, token=token, on_head=head.submit) as server,
        ):
            report(f"open {server.url} in a browser, or connect a client to {server.address}")
            while not deadline.is_over():
                time.sleep(0.2)
                stats = server.stats()
                report(
                    f"{stats.clients} clients, {stats.frames} frames, {stats.sent} sent, "
                    f"{stats.skipped} skipped, {stats.refused} refused"
                )


def view(
    camera: ICameraStream,
    config: PointCloudConfig,
    *,
    deadline: Deadline,
    report: Report,
    window: bool,
    folder: Path,
) -> tuple[Path, Path] | None:
    """Show a camera's point cloud in a window; without one, write the last cloud to files.

    Returns:
        The paths of the PLY and PNG files if there was no window.
    """
    generator = PointCloudGenerator(config)
    viewer = PointCloudViewer() if window else None
    if viewer is not None and not viewer.open():
        viewer = None
    last, count, reported = float("nan"), 0, time.monotonic()
    frame = None
    while not deadline.is_over():
        # A window also handles the mouse between frames.
        newer = _next(camera, last, 1.0 / VIEW_RATE if viewer is not None else 0.2)
        if newer is not None:
            frame, last, count = newer, newer.timestamp, count + 1
        if viewer is not None:
            is_open = (
                viewer.show(generator.generate(newer), newer)
                if newer is not None
                else viewer.refresh()
            )
            if not is_open:
                return None
        if time.monotonic() - reported >= REPORT_PERIOD:
            report(_describe(camera, count / (time.monotonic() - reported)))
            reported, count = time.monotonic(), 0
    if viewer is not None:
        viewer.close()
        return None
    if frame is None:
        raise StreamError("no frame arrived")
    return write_snapshot(generator.generate(frame), frame, folder)


def _next(camera: ICameraStream, last: float, timeout: float) -> RGBDFrame | None:
    try:
        return camera.wait_rgbd(last, timeout)
    except DeviceNotConnectedError:
        time.sleep(timeout)
        return None


def _describe(camera: ICameraStream, fps: float) -> str:
    pan, tilt = camera.get_orientation()
    text = f"{fps:.0f} frames/s, head {pan:+.2f} {tilt:+.2f} rad"
    if isinstance(camera, RGBDStreamClient):
        stats = camera.stats()
        state = "connected" if stats.connected else "not connected"
        text += (
            f", {state}, latency {1e3 * stats.latency:.0f} ms, "
            f"round trip {1e3 * stats.round_trip:.1f} ms, {stats.lost} lost"
        )
    return text


def _simulated(settings: TeleopSettings, stack: contextlib.ExitStack) -> ICameraStream:
    simulator = make_simulator(settings)
    stack.callback(simulator.shutdown)
    if not isinstance(simulator, MuJoCoSimulator):
        raise SimulationError(f"only MuJoCo has cameras, got {settings.simulation.name!r}")
    robot = load_robot(settings.robot.name)
    loop = SimulatedRobotLoop(robot, simulator, settings.session, settings.safety)
    stack.enter_context(loop)
    return SimCameraStream(simulator, robot, fps=settings.streaming.fps, aim=loop.aim_head)


def _subscriber(settings: TeleopSettings, ros: RosOptions) -> ICameraStream:
    from teleop_system.modules.camera.ros2_rgbd_subscriber import ROS2RGBDSubscriber

    head = load_robot(settings.robot.name).head
    joints = (head.pan, head.tilt) if head is not None else (None, None)
    return ROS2RGBDSubscriber(
        ros.topic_prefix,
        joints=[name for name in joints if name is not None],
        patience=ros.patience,
        use_sim_time=ros.use_sim_time,
    )


def _realsense() -> ICameraStream:
    from teleop_system.devices.realsense_camera import RealSenseCamera

    return RealSenseCamera()
