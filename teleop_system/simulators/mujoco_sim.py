# SPDX-License-Identifier: Apache-2.0
"""MuJoCo as an `ISimulator`."""

import logging
import threading
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing_extensions import override

from teleop_system.exceptions import (
    InvalidValueError,
    RenderingUnavailableError,
    SimulationError,
    UnknownNameError,
)
from teleop_system.interfaces import ISimulator, RGBDFrame, SimState
from teleop_system.robots.mujoco_library import mujoco
from teleop_system.simulators.config import MuJoCoConfig
from teleop_system.simulators.mujoco_base import require_finite_speeds
from teleop_system.simulators.mujoco_joints import IndexArray, camera_names
from teleop_system.simulators.mujoco_sensors import ImuReading, Wrench, touching_bodies
from teleop_system.simulators.mujoco_servos import ControlMode
from teleop_system.simulators.mujoco_stepping import Stepper
from teleop_system.simulators.mujoco_world import World, build_world, overview_camera
from teleop_system.simulators.offscreen import Snapshot

logger = logging.getLogger(__name__)

Array = NDArray[np.float64]


class MuJoCoSimulator(ISimulator):
    """A robot in MuJoCo; its owner advances the time.

    Any thread may command, read and render; one lock orders these calls and the steps.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._config: MuJoCoConfig | None = None
        self._loaded: World | None = None
        self._stepper: Stepper | None = None
        self._paused = False
        self._base_reported = False

    @override
    def initialize(self, config: dict[str, Any] | MuJoCoConfig) -> bool:
        if mujoco is None:
            logger.error("MuJoCo is not installed; run: pip install 'teleop_system[sim]'")
            return False
        if not isinstance(config, MuJoCoConfig):
            config = MuJoCoConfig.from_mapping(config)
        world = build_world(config)
        self.shutdown()
        self._config, self._loaded, self._stepper = config, world, Stepper(world)
        self._paused = self._base_reported = False
        return True

    @override
    def shutdown(self) -> None:
        if self._loaded is not None:
            self._loaded.renderer.close()
        self._loaded = self._stepper = None

    @override
    def reset(self) -> None:
        with self._lock:
            self._world.restart()
            self._steps.restart()

    @property
    def model(self) -> Any:
        """MuJoCo's model, for tools; changing it may break determinism."""
        return self._world.model

    @property
    def data(self) -> Any:
        """MuJoCo's state, for tools."""
        return self._world.data

    @property
    def timestep(self) -> float:
        """The physics step in [s]."""
        return float(self._world.model.opt.timestep)

    @override
    def get_time(self) -> float:
        return float(self._world.data.time)

    @override
    def step(self, dt: float | None = None) -> None:
        """Advance by one physics step, or by the number of steps in `dt` [s]; not while paused.

        The rest of `dt` after whole steps is added to the next call.

        Raises:
            SimulationError: The simulation has diverged; call `reset()`.
        """
        steps = self._stepper or self._steps
        if not self._paused:
            with self._lock:
                steps.advance(1 if dt is None else steps.whole_steps(dt))

    def single_step(self, count: int = 1) -> None:
        """Advance by `count` physics steps, paused or not."""
        if count < 0:
            raise InvalidValueError(f"count must not be negative, got {count}")
        with self._lock:
            self._steps.advance(count)

    def step1(self) -> None:
        """Take the first half of a step, which computes all quantities that control depends on.

        Raises:
            SimulationError: The simulation has diverged, or its integrator (RK4) has no halves.
        """
        with self._lock:
            self._steps.first_half()

    def step2(self, count: int = 1) -> None:
        """Take the second half with the commands given since `step1()`; `count` steps in total."""
        with self._lock:
            self._steps.second_half(count)

    @property
    def is_paused(self) -> bool:
        """Whether `step()` does nothing."""
        return self._paused

    def pause(self) -> None:
        """Make `step()` do nothing until `resume()`; `single_step()` still works."""
        self._paused = True

    def resume(self) -> None:
        """Make `step()` advance again."""
        self._paused = False

    @override
    def get_joint_names(self) -> list[str]:
        return list(self._world.joints.names)

    def joint_indices(self, names: Iterable[str]) -> IndexArray:
        """Return the indices of joints in every joint vector.

        Raises:
            UnknownNameError: A joint does not exist or has no actuator.
        """
        return self._world.joints.indices(names)

    @override
    def get_state(self) -> SimState:
        world = self._world
        with self._lock:
            data, (position, orientation) = world.data, world.base.pose()
            arrays = data.qpos[world.joints.positions], data.qvel[world.joints.dofs]
            for array in (*arrays, position, orientation):
                array.setflags(write=False)
            return SimState.unchecked(*arrays, position, orientation, float(data.time))

    def read_joint_positions(self, out: Array) -> None:
        """Write the joint positions [rad] or [m] into `out`, shape (N,), without allocating."""
        world = self._world
        with self._lock:
            world.data.qpos.take(world.joints.positions, out=out, mode="clip")

    def read_joint_velocities(self, out: Array) -> None:
        """Write the joint velocities [rad/s] or [m/s] into `out`, without allocating."""
        world = self._world
        with self._lock:
            world.data.qvel.take(world.joints.dofs, out=out, mode="clip")

    def read_joint_efforts(self, out: Array) -> None:
        """Write the efforts of the actuators [N m] or [N] into `out`, without allocating."""
        world = self._world
        with self._lock:
            world.data.qfrc_actuator.take(world.joints.dofs, out=out, mode="clip")

    @override
    def set_joint_positions(self, positions: ArrayLike) -> None:
        """Command the joints in position mode; entries of other joints (wheels) are ignored.

        Positions are clamped to their limits.

        Raises:
            InvalidJointStateError: The length is wrong or a value is not finite; the last command
                stays active.
        """
        world = self._world
        with self._lock:
            world.actuation.command_all(ControlMode.POSITION, positions)

    def set_joint_targets(self, names: Sequence[str], values: ArrayLike) -> None:
        """Command named joints, each in the unit of its control mode.

        Raises:
            UnknownNameError: A joint does not exist or has no actuator.
            InvalidJointStateError: The values are not one finite number per name.
        """
        world = self._world
        indices = world.joints.indices(names)
        with self._lock:
            world.actuation.command(indices, values)

    def get_joint_targets(self) -> Array:
        """Return the active commands, each in the unit of its joint's mode, shape (N,)."""
        with self._lock:
            return self._world.actuation.commands.copy()

    def set_control_mode(self, mode: str, joints: Sequence[str] | None = None) -> None:
        """Set joints, or all, to "position", "velocity" or "effort" mode without a jump.

        A joint holds its position in position mode, stops in velocity mode and keeps its current
        effort in effort mode.

        Raises:
            UnknownNameError: The mode or a joint does not exist.
            SimulationError: An actuator cannot change its mode.
        """
        world = self._world
        indices = world.joints.indices(world.joints.names if joints is None else joints)
        with self._lock:
            world.actuation.set_mode(mode, indices)

    def get_control_modes(self) -> list[str]:
        """Return the mode of every joint, in the order of `get_joint_names()`."""
        return self._world.actuation.modes()

    @override
    def set_base_velocity(self, linear_x: float, linear_y: float, angular_z: float) -> None:
        """Command the base's velocity [m/s, m/s, rad/s] in its own frame.

        Directions that the base cannot drive are ignored and logged once.

        Raises:
            InvalidValueError: A speed is not finite; the base stops.
        """
        world = self._world
        if world.drive is None:
            require_finite_speeds(linear_x, linear_y, angular_z)
            self._report_fixed_base(any((linear_x, linear_y, angular_z)))
            return
        try:
            require_finite_speeds(linear_x, linear_y, angular_z)
        except InvalidValueError:
            with self._lock:
                world.drive.command(world.actuation, 0.0, 0.0, 0.0)
            raise
        with self._lock:
            world.drive.command(world.actuation, linear_x, linear_y, angular_z)

    def get_base_velocity(self) -> tuple[Array, Array]:
        """Return linear [m/s] and angular [rad/s] velocity in the base frame, shape (3,) each."""
        with self._lock:
            return self._world.base.twist()

    def get_odometry(self) -> tuple[Array, Array]:
        """Return position [m] and orientation xyzw relative to the start of the run."""
        with self._lock:
            return self._world.base.odometry()

    def get_force_torque(self, name: str) -> Wrench:
        """Return the force and torque of the arm on the tool at a force/torque sensor.

        Raises:
            UnknownNameError: The sensor does not exist.
        """
        return self._world.sensors.force_torque(name)

    def get_imu(self, name: str) -> ImuReading:
        """Return the reading of an inertial sensor.

        Raises:
            UnknownNameError: The sensor does not exist.
        """
        return self._world.sensors.imu(name)

    def get_sensor_names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the names of the force/torque sensors and of the inertial sensors."""
        return self._world.sensors.force_torque_names, self._world.sensors.imu_names

    def self_contacts(self) -> set[tuple[str, str]]:
        """Return the pairs of the robot's own bodies that touch each other, names sorted."""
        world = self._world
        with self._lock:
            return touching_bodies(world.model, world.data, world.roots)

    @override
    def render(self, snapshot: Snapshot | None = None) -> NDArray[np.uint8] | None:
        """Return an image of the current state or of a snapshot; None without rendering."""
        world, config = self._world, self._config
        if config is None or not config.render:
            return None
        try:
            return world.renderer.image(
                snapshot or self.snapshot(), overview_camera(config, world.model)
            )
        except RenderingUnavailableError:
            return None  # The render thread has logged the reason.

    @override
    def get_camera_rgbd(self, camera_name: str) -> RGBDFrame:
        """Return the view of a named camera, stamped with the simulated time.

        Raises:
            UnknownNameError: The camera does not exist.
            RenderingUnavailableError: Rendering is not available.
        """
        camera = self._camera(camera_name)
        return self._world.renderer.rgbd(self.snapshot(), camera)

    @property
    def _world(self) -> World:
        if self._loaded is None:
            raise SimulationError("the simulator has no model; call initialize() first")
        return self._loaded

    @property
    def _steps(self) -> Stepper:
        if self._stepper is None:
            raise SimulationError("the simulator has no model; call initialize() first")
        return self._stepper

    def snapshot(self) -> Snapshot:
        """Return the state that an image of the current moment needs, for rendering later."""
        with self._lock:
            return Snapshot.of(self._world.data)

    def _camera(self, name: str) -> int:
        camera = self._camera_id(name)
        if self._config is None or not self._config.render:
            raise RenderingUnavailableError("rendering is disabled by the setting render")
        return camera

    def _camera_id(self, name: str) -> int:
        model = self._world.model
        names = camera_names(model)
        if name not in names:
            raise UnknownNameError("camera", name, names)
        return int(model.camera(name).id)

    def _report_fixed_base(self, moves: bool) -> None:
        if moves and not self._base_reported:
            logger.warning("the robot has no driven wheels: base velocities are ignored")
        self._base_reported = moves
