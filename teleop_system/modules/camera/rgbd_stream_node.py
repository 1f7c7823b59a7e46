# SPDX-License-Identifier: Apache-2.0
"""The stream server of the robot's camera as a lifecycle node."""

import time
from typing import Any

from typing_extensions import override

from teleop_system.modules.camera.head_follower import HeadThread
from teleop_system.modules.camera.ros2_rgbd_subscriber import ROS2RGBDSubscriber
from teleop_system.modules.camera.streaming.config import load_token
from teleop_system.modules.camera.streaming.server import RGBDStreamServer
from teleop_system.robots import load_robot
from teleop_system.ros2.status import Level, StatusReport
from teleop_system.ros2.teleop_node import TeleopNode, run_node
from teleop_system.safety.staleness import CAMERA_WARNING

NAME = "rgbd_stream_node"
CHECK_PERIOD = 0.1
"""Time in [s] between two checks for connected clients."""
LINGER = 5.0
"""Time in [s] that the topics stay open after the last client left; it may reconnect."""


class RGBDStreamNode(TeleopNode):
    """Serves `/slave/camera/*` over TCP while active, and forwards head requests of clients.

    It subscribes to the images only while clients are connected, because the robot side renders
    images only for subscribers.
    """

    _head: HeadThread

    def __init__(self, **keywords: Any) -> None:
        super().__init__(NAME, **keywords)
        self._server: RGBDStreamServer | None = None

    @override
    def configure(self) -> None:
        robot = load_robot(self.settings.robot.name)
        head = robot.head
        joints = (head.pan, head.tilt) if head is not None else ()
        self._camera = ROS2RGBDSubscriber(
            str(self.get_parameter("topic_prefix").value),
            joints=[name for name in joints if name is not None],
            use_sim_time=self.is_simulated,
            node=self,
        )
        self._neck = self.settings.camera.within(robot)
        self._make_server()  # Reports invalid addresses, tokens and certificates now.
        self._last_client, self._last_image = -LINGER, 0.0
        self._timer = self.every(CHECK_PERIOD, self._check_clients)
        self._timer.cancel()

    @override
    def activate(self) -> None:
        server = self._make_server()
        server.start()
        self._head.start()
        self._server = server
        self._timer.reset()
        self.get_logger().info(f"viewer page: {server.url}")

    @override
    def deactivate(self) -> None:
        self._timer.cancel()
        if self._server is not None:
            self._server.stop()
            self._server = None
            self._head.stop()
        self._camera.shutdown()

    def _make_server(self) -> RGBDStreamServer:
        config = self.settings.streaming
        self._head = HeadThread(self._neck, self._camera)
        return RGBDStreamServer(
            self._camera, config, token=load_token(config), on_head=self._head.submit
        )

    def _check_clients(self) -> None:
        """Subscribe for the first client, and unsubscribe after the last."""
        if self._server is None:
            return
        now = time.monotonic()
        if self._server.stats().clients:
            self._last_client = now
            if self._camera.node is None:
                self._camera.open()
                self._last_image = now
            if self._camera.is_connected():
                self._last_image = now
        elif self._camera.node is not None and now - self._last_client > LINGER:
            self._camera.shutdown()

    @override
    def report(self) -> StatusReport:
        report, server = super().report(), self._server
        if server is None:
            return report
        stats = server.stats()
        report.values.update(
            url=server.url,
            clients=str(stats.clients),
            frames=str(stats.frames),
            sent=str(stats.sent),
            skipped=str(stats.skipped),
            refused=str(stats.refused),
            head="none" if stats.head is None else f"client {stats.head}",
        )
        waited = time.monotonic() - self._last_image
        if stats.clients and self._camera.node is not None and CAMERA_WARNING.is_stale(waited):
            reason = f"clients wait, but no image arrived for {waited:.0f} s"
            return StatusReport(report.name, Level.WARN, reason, report.values, report.hardware)
        return report


def main(args: list[str] | None = None) -> None:
    """Run the node."""
    run_node(RGBDStreamNode, args)


if __name__ == "__main__":
    main()
