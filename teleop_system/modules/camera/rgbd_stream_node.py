# SPDX-License-Identifier: Apache-2.0
"""What the robot sees, for other machines: a stream server as a lifecycle node."""

import time
from typing import Any

from typing_extensions import override

from teleop_system.modules.camera.head_follower import HeadThread
from teleop_system.modules.camera.ros2_head_sync import neck_over_topics
from teleop_system.modules.camera.ros2_rgbd_subscriber import ROS2RGBDSubscriber
from teleop_system.modules.camera.streaming.config import load_token
from teleop_system.modules.camera.streaming.server import RGBDStreamServer
from teleop_system.robots import load_robot
from teleop_system.ros2.status import Level, StatusReport
from teleop_system.ros2.teleop_node import TeleopNode, run_node
from teleop_system.safety.staleness import CAMERA_WARNING

NAME = "rgbd_stream_node"
LOOK_PERIOD = 0.1
"""Time in [s] between two looks at whether anybody watches."""
LINGER = 5.0
"""Time in [s] that the topics stay open after the last client: it may only be reconnecting."""


class RGBDStreamNode(TeleopNode):
    """Serves `/slave/camera/*` over TCP while active, and turns the head as clients wish.

    It listens to the pictures only while there are clients, as the robot's side draws none that
    nobody looks at.
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
        self._make_server()  # Says now whether the address, token and certificates will do.
        self._watched, self._unseen = -LINGER, 0.0
        self._timer = self.every(LOOK_PERIOD, self._look)
        self._timer.cancel()

    @override
    def activate(self) -> None:
        server = self._make_server()
        server.start()
        self._head.start()
        self._server = server
        self._timer.reset()
        self.get_logger().info(f"a browser opens {server.url}")

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
        self._head = neck_over_topics(self._camera, self._neck)
        return RGBDStreamServer(
            self._camera, config, token=load_token(config), on_head=self._head.take
        )

    def _look(self) -> None:
        """Open the topics for the first client, and close them after the last."""
        if self._server is None:
            return
        now = time.monotonic()
        if self._server.stats().clients:
            self._watched = now
            if self._camera.node is None:
                self._camera.open()
                self._unseen = now
            if self._camera.is_connected():
                self._unseen = now
        elif self._camera.node is not None and now - self._watched > LINGER:
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
            head="nobody" if stats.head is None else f"client {stats.head}",
        )
        waited = time.monotonic() - self._unseen
        if stats.clients and self._camera.node is not None and CAMERA_WARNING.is_stale(waited):
            reason = f"clients wait, but no picture came for {waited:.0f} s"
            return StatusReport(report.name, Level.WARN, reason, report.values, report.hardware)
        return report


def main(args: list[str] | None = None) -> None:
    """Run the node."""
    run_node(RGBDStreamNode, args)


if __name__ == "__main__":
    main()
