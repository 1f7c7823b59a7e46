# SPDX-License-Identifier: Apache-2.0
"""A recorded operator as a lifecycle node: trackers, gloves and headset on their topics.

When activated it holds the first pose of the motion (READY), so the robot can be engaged before
anything moves. `/teleop/start_playback` starts the motion (PLAYING), `/teleop/stop_playback`
pauses it; with `autostart` it starts as soon as the robot reports that it follows.
"""

from pathlib import Path
from typing import Any

from rcl_interfaces.msg import FloatingPointRange
from std_srvs.srv import Trigger
from typing_extensions import override

from teleop_system.exceptions import ConfigError
from teleop_system.interfaces import TrackerRole
from teleop_system.mocap.bvh_motion import mocap_config
from teleop_system.mocap.config import MocapConfig
from teleop_system.mocap.playback import PlaybackState
from teleop_system.mocap.replay import Replay
from teleop_system.mocap.ros2_replay_recorder import ReplayRecorder
from teleop_system.modules.arm_teleop.ros2_adapters import TrackerPublisher
from teleop_system.modules.camera.ros2_adapters import HeadPublisher
from teleop_system.modules.hand_teleop.ros2_adapters import GlovePublisher
from teleop_system.ros2.simulated_operator import Source
from teleop_system.ros2.status import StatusListener, StatusReport
from teleop_system.ros2.teleop_node import TeleopNode, run_node
from teleop_system.session.robot_proportions import scaled_to_robot
from teleop_system.utils.ros2_helpers import TopicNames

RATE = 100.0
HEAD_SHARE = 0.9
"""Rate of head samples relative to the other samples: headsets are slower than trackers."""
STATUS_RATE = 4.0


class BVHReplayPublisher(TeleopNode):
    """Publishes what a recorded person's devices would have measured."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__("bvh_replay_publisher", status_rate=STATUS_RATE, **keywords)
        self._file = str(
            self.fixed_parameter(
                "file", "", "BVH file or built-in motion; empty takes that of the settings."
            )
        )
        self._speed = self._number("speed", 1.0, "Playback speed; 1 is real time.", 0.01, 10.0)
        self._rate = self._number("rate", RATE, "Samples per second in [Hz].", 1.0, 1000.0)
        self._loop = bool(self.fixed_parameter("loop", False, "Repeat the motion."))
        self._autostart = bool(
            self.fixed_parameter("autostart", True, "Start once the robot follows.")
        )
        self._record_to = str(
            self.fixed_parameter(
                "record", "", "File (.npz) to record for scoring; empty records nothing."
            )
        )
        self._replay: Replay | None = None
        self._recorder: ReplayRecorder | None = None
        self._waits_for_robot = False

    @override
    def setting_overrides(self) -> list[str]:
        given = super().setting_overrides()
        chosen = any(text.startswith("hardware=") for text in given)
        return given if chosen else ["hardware=mocap", *given]

    @override
    def configure(self) -> None:
        self._replay = Replay(self._config(), self.now)
        trackers, gloves = dict(self._replay.trackers), self._replay.gloves
        head = trackers.pop(TrackerRole.HEAD)
        self._sources: tuple[Source, ...] = (
            *(TrackerPublisher(self, tracker) for tracker in trackers.values()),
            *(GlovePublisher(self, glove) for glove in gloves.values()),
        )
        self._head, self._head_due = HeadPublisher(self, head), 0.0
        self._recorder = None
        if self._record_to:
            path = Path(self._record_to).expanduser()
            self._recorder = ReplayRecorder(self, self._replay, path, self._notes())
        on_report = self._recorder.record_report if self._recorder is not None else None
        self._robot = StatusListener(self, on_report=on_report)
        self.resources.callback(self.destroy_subscription, self._robot.subscription)
        self.serve(Trigger, TopicNames.START_PLAYBACK, self._start)
        self.serve(Trigger, TopicNames.STOP_PLAYBACK, self._stop)
        simulated = bool(self.get_parameter("use_sim_time").value)
        self._timer = self.every(1.0 / self._rate, self._publish, steady=not simulated)
        self._timer.cancel()

    @override
    def activate(self) -> None:
        self._waits_for_robot = self._autostart
        self._timer.reset()

    @override
    def deactivate(self) -> None:
        self._timer.cancel()
        if self._replay is not None:
            self._replay.stop()
        if self._recorder is not None and not self._recorder.is_done:
            self._recorder.save()

    @override
    def report(self) -> StatusReport:
        report = super().report()
        if self._replay is not None:
            playback = self._replay.playback
            report.values.update(
                playback=playback.state.value,
                time=f"{playback.time():.2f}",
                motion=self._replay.motion.name,
                speed=f"{playback.speed:g}",
            )
        return report

    def _config(self) -> MocapConfig:
        """Return the motion to play, scaled to the robot of the settings."""
        changes: dict[str, Any] = {"speed": self._speed, "loop": self._loop}
        if self._file:
            changes["file"] = self._file
        for driver in scaled_to_robot(self.settings).hardware.drivers.values():
            if driver.name == "bvh":
                return mocap_config(driver.options | changes)
        raise ConfigError("hardware.drivers has no driver 'bvh'; set hardware=mocap")

    def _notes(self) -> dict[str, Any]:
        """Return how the recording was made, as its scoring needs it."""
        return {
            "file": str(self._config().file),
            "speed": self._speed,
            "loop": self._loop,
            "overrides": self.setting_overrides(),
        }

    def _publish(self) -> None:
        assert self._replay is not None
        if self._waits_for_robot and self._robot.is_following:
            self._waits_for_robot = False
            self._replay.start()
            self.publish_status()
        for source in self._sources:
            source.publish()
        self._head_due += HEAD_SHARE
        if self._head_due >= 1.0:
            self._head_due -= 1.0
            self._head.publish()
        if self._recorder is not None:
            self._recorder.sample()

    def _start(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if not self.is_active or self._replay is None:
            response.success, response.message = False, "the node is not active"
            return response
        was, self._waits_for_robot = self._replay.state, False
        self._replay.start()
        restarted = was is PlaybackState.OVER
        response.success = True
        state = "playing from the start" if restarted else "playing"
        response.message = f"{self._replay.motion.name}: {state}"
        self.publish_status()
        return response

    def _stop(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self._replay is None:
            response.success, response.message = False, "the node is not configured"
            return response
        self._waits_for_robot = False
        self._replay.stop()
        response.success = True
        response.message = f"stopped at {self._replay.playback.time():.2f} s"
        self.publish_status()
        return response

    def _number(
        self, name: str, default: float, description: str, low: float, high: float
    ) -> float:
        bounds = FloatingPointRange(from_value=low, to_value=high)
        return float(
            self.fixed_parameter(name, default, description, floating_point_range=[bounds])
        )


def main(args: list[str] | None = None) -> None:
    """Run the node."""
    run_node(BVHReplayPublisher, args)


if __name__ == "__main__":
    main()
