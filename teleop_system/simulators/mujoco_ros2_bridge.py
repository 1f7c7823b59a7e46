# SPDX-License-Identifier: Apache-2.0
"""A MuJoCo robot on ROS 2: commands in through the safety manager, sensors and pictures out.

    ros2 run teleop_system mujoco_bridge --ros-args -p robot:=rby1

A control cycle takes one `mj_step1`, runs the robot side, and takes `mj_step2` and the rest of the
period's physics steps. Cycles and callbacks share one thread; another draws and sends pictures.
"""

import contextlib
import dataclasses
import time
from collections.abc import Iterator
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from typing_extensions import override

from teleop_system.exceptions import ConfigError, SimulationError, TeleopError
from teleop_system.robot_side.drive import simulated_drive
from teleop_system.robot_side.engagement import MotionSource
from teleop_system.robot_side.robot_side import RobotSide
from teleop_system.robots import RobotDescription, load_robot
from teleop_system.ros2.fast_dds import enlarge_shared_memory
from teleop_system.ros2.robot_topics import RobotTopics
from teleop_system.ros2.status import Level, StatusReport
from teleop_system.ros2.teleop_node import TeleopNode, run_node
from teleop_system.safety import RobotParts
from teleop_system.simulators import ros2_bridge_parameters as parameters
from teleop_system.simulators.factory import create_simulator
from teleop_system.simulators.joint_pid import PidGains
from teleop_system.simulators.mujoco_robot import MuJoCoRobot
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
from teleop_system.simulators.ros2_camera import SimulatedCameraTopics
from teleop_system.simulators.ros2_sensors import SensorTopics
from teleop_system.simulators.ros2_services import SimulationServices
from teleop_system.simulators.viewer import interactive_viewer
from teleop_system.timing.pacing import Pacer
from teleop_system.timing.scheduler import Scheduler, Tick

STATUS_RATE = 5.0
VIEWER_RATE = 30.0


class MuJoCoBridge(TeleopNode):
    """The lifecycle node that owns a simulated robot."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__("mujoco_bridge", status_rate=STATUS_RATE, **keywords)
        parameters.declare(self)
        self.add_on_set_parameters_callback(self._on_parameters)
        self._simulated: MuJoCoRobot | None = None
        self._was_estopped = False
        self._is_paused = False
        self._failure = ""
        self._viewer: Any = None
        self._camera: SimulatedCameraTopics | None = None

    @override
    def setting_overrides(self) -> list[str]:
        self._options = parameters.read(self)
        return [*self._options.overrides(), *super().setting_overrides()]

    @override
    def now(self) -> float:
        """Return the time of the stamps in [s]: simulated or wall time."""
        return self.simulated_time if self._has_own_time else time.time()

    @property
    def simulated_time(self) -> float:
        """Simulated time in [s]; it continues after a reset."""
        return self._time_before + self._simulator.get_time()

    @property
    def is_paused(self) -> bool:
        """Whether simulated time stands still until it is stepped or resumed."""
        return self._is_paused

    @override
    def configure(self) -> None:
        options, settings = self._options, self.settings
        robot = load_robot(settings.robot.name)
        simulator = create_simulator(
            robot,
            settings.simulation,
            pose=settings.robot.initial_pose,
            scene=settings.robot.scene,
        )
        self.resources.callback(simulator.shutdown)
        if not isinstance(simulator, MuJoCoSimulator):
            raise ConfigError(f"simulation.name must be mujoco, got {settings.simulation.name!r}")
        self._simulator, self._time_before = simulator, 0.0
        self._has_own_time = (
            bool(self.get_parameter("use_sim_time").value) or options.pace != "real_time"
        )
        self._rate, self._steps = _cycle(settings.safety.rate, simulator.timestep)
        self._open_robot(simulator, robot)
        self._open_outputs(robot)
        self._pacer = Pacer(1.0 / self._rate)
        self._index = 0
        self._is_paused, self._failure = options.pace == "stepped", ""
        period = 1.0 / self._rate if options.pace == "real_time" else 0.0
        self._timer = self.every(period, self._on_timer)
        self._timer.cancel()

    def _open_robot(self, simulator: MuJoCoSimulator, robot: RobotDescription) -> None:
        simulated = MuJoCoRobot(simulator, robot, RobotParts(robot).joints)
        self.resources.callback(self._close_robot)
        self._model_gains = simulated.gains
        self._apply(simulated, {name: self.get_parameter(name).value for name in _LIVE})
        settings = self.settings
        self._robot_side = RobotSide(
            robot,
            simulated_drive(robot, simulated),
            settings.session,
            settings.safety,
            initial_pose=settings.robot.initial_pose,
        )
        if self._was_estopped:
            self._robot_side.latch_estop()
        self._topics = RobotTopics(
            self,
            robot,
            self._robot_side,
            auto_engage=self._options.auto_engage,
            mode=lambda: simulated.mode,
        )
        self._simulated = simulated

    def _open_outputs(self, robot: RobotDescription) -> None:
        options, simulator = self._options, self._simulator
        self._sensors = SensorTopics(
            self,
            simulator,
            self._robot_side.safety.parts.joints,
            has_base=robot.base is not None,
            with_clock=options.publish_clock,
        )
        SimulationServices(self)
        grid = Scheduler.simulated(self._rate)
        self._sensors_due = grid.at(min(options.publish_rate, self._rate))
        self._odometry_due = grid.at(min(options.odom_rate, self._rate))
        self._viewer_due = grid.at(min(VIEWER_RATE, self._rate))
        self._camera_due = grid.at(min(options.camera_fps, self._rate))
        self._camera = self._viewer = None
        if options.camera:
            head = robot.head.camera if robot.head is not None else None
            name = options.camera_name or head or ""
            self._camera = SimulatedCameraTopics(self, simulator, name, self.now)
            self.resources.callback(self._camera.close)
        if options.viewer:
            self._viewer = self.resources.enter_context(interactive_viewer(simulator))

    def _close_robot(self) -> None:
        if self._simulated is not None:  # Otherwise it was not opened: the latch did not change.
            latched, pressed = self._robot_side.is_estopped, self._topics.requests.has_estop
            self._was_estopped = latched or pressed
            self._robot_side.drive.close()
        self._simulated = None

    @override
    def activate(self) -> None:
        self._topics.restart()
        self._sensors.update_subscribers()
        self._pacer.restart()
        self._timer.reset()

    @override
    def deactivate(self) -> None:
        self._timer.cancel()
        if self._simulated is not None:
            self._topics.abort_tools("the robot was deactivated")
            self._robot_side.drive.stop_base()
            self._robot_side.come_to_rest()

    @override
    def destroy_node(self) -> None:
        super().destroy_node()
        if hasattr(self, "_topics"):
            self._topics.end()

    @override
    def report(self) -> StatusReport:
        if self._simulated is None:
            return super().report()
        report, pacer = self._topics.report(), self._pacer
        report.values.update(
            simulation=self._failure or ("paused" if self._is_paused else "running"),
            simulated_time=f"{self.simulated_time:.3f}",
            real_time_factor=f"{pacer.real_time_factor:.3f}",
            overruns=str(pacer.overruns),
            dropped=str(pacer.dropped),
            control_mode=self._simulated.mode,
        )
        self._sensors.update_subscribers()
        if self.is_active and self._is_paused:
            self._sensors.publish_clock(self.simulated_time)
        if self._failure:
            return dataclasses.replace(report, level=Level.ERROR, message=self._failure)
        if self._camera is not None and (trouble := self._camera.failure):
            level, values = max(report.level, Level.WARN), {"cause.camera": trouble}
            return dataclasses.replace(report, level=level, values={**values, **report.values})
        return report

    def pause(self) -> None:
        """Stop simulated time."""
        self._is_paused = True

    def resume(self) -> None:
        """Continue simulated time."""
        self._is_paused = False
        self._pacer.restart()

    def step(self) -> None:
        """Run one control cycle, paused or not."""
        self._cycle(1)

    def reset(self) -> None:
        """Return to the initial pose; simulated time continues, a latched stop stays."""
        assert self._simulated is not None
        self._time_before = self.simulated_time
        self._simulator.reset()
        self._simulated.restart()
        self._robot_side.restart()
        self._topics.restart()
        self._pacer.restart()
        self._failure = ""

    @property
    def failure(self) -> str:
        """Why the simulation needs a reset; empty where it does not."""
        return self._failure

    def _on_timer(self) -> None:
        if not self.is_active or self._is_paused or self._failure:
            return
        cycles = self._pacer.owed(self.steady()) if self._options.pace == "real_time" else 1
        if cycles:
            self._cycle(cycles)

    def _cycle(self, cycles: int) -> None:
        """Run one control cycle of some periods; more than one only where the loop is late."""
        simulated = self._simulated
        assert simulated is not None
        now = self.now()
        try:
            with self._viewer_lock():
                simulated.cycle(now, self._steps * cycles, lambda: self._topics.cycle(now))
        except SimulationError as error:
            self._failure = str(error)
            self.get_logger().error(f"{error}")
            self.publish_status()
            return
        self._pacer.note(self.steady(), self.simulated_time)
        self._index += cycles
        self._publish(now)

    def _publish(self, now: float) -> None:
        self._sensors.publish_clock(self.simulated_time)
        tick = Tick(self._index, now, now)
        if self._sensors_due.is_due(tick):
            self._sensors.publish_state(now, self._robot_side.output)
        if self._odometry_due.is_due(tick):
            self._sensors.publish_odometry(now)
        if self._camera is not None and self._camera_due.is_due(tick):
            self._camera.request()
        if self._viewer is not None and self._viewer_due.is_due(tick):
            self._viewer.sync()

    @contextlib.contextmanager
    def _viewer_lock(self) -> Iterator[None]:
        if self._viewer is None:
            yield
            return
        with self._viewer.lock():
            yield

    def _on_parameters(self, changes: list[Any]) -> SetParametersResult:
        values = {change.name: change.value for change in changes if change.name in _LIVE}
        kept = {name: self.get_parameter(name).value for name in _LIVE} if values else {}
        changed = parameters.differing(kept, values)
        if not changed:
            return SetParametersResult(successful=True)
        motion, estopped = MotionSource.NONE, self._was_estopped
        if self._simulated is not None:
            robot_side = self._robot_side
            motion, estopped = robot_side.status.motion, robot_side.is_estopped
        if reason := parameters.refusal(changed, motion, estopped=estopped):
            return SetParametersResult(successful=False, reason=reason)
        if self._simulated is None:
            return SetParametersResult(successful=True)
        try:
            self._apply(self._simulated, {**kept, **values})
        except TeleopError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _apply(self, simulated: MuJoCoRobot, values: dict[str, Any]) -> None:
        """Set control mode and gains from the live parameters.

        Raises:
            TeleopError: One of them cannot be used.
        """
        mode, gains = values["control_mode"], self._gains(values)
        if mode != simulated.mode:
            simulated.set_mode(mode, gains)
        else:
            simulated.gains = gains

    def _gains(self, values: dict[str, Any]) -> PidGains:
        given = {gain: list(values[f"pid_{gain}"] or ()) for gain in parameters.GAINS}
        wanted = {gain: row for gain, row in given.items() if row != parameters.MODEL_GAINS}
        return self._model_gains.changed(**wanted)


_LIVE = ("control_mode", *(f"pid_{gain}" for gain in parameters.GAINS))


def _cycle(rate: float, timestep: float) -> tuple[float, int]:
    """Return the rate of control cycles [Hz] and the physics steps of one.

    Raises:
        ConfigError: A cycle is not a whole number of steps.
    """
    steps = round(1.0 / (rate * timestep))
    if abs(steps * timestep * rate - 1.0) > 1e-6:
        raise ConfigError(
            f"physics_rate = {1.0 / timestep:g} Hz must be a multiple of safety.rate = {rate:g} Hz"
        )
    return rate, steps


def main(args: list[str] | None = None) -> None:
    """Run the bridge until Ctrl-C."""
    enlarge_shared_memory()
    run_node(MuJoCoBridge, args)


if __name__ == "__main__":
    main()
