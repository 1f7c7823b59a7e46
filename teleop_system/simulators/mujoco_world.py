# SPDX-License-Identifier: Apache-2.0
"""One loaded model with its parts: physics, joints, base, sensors and initial state."""

import logging
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import ConfigError, UnknownNameError
from teleop_system.robots.mujoco_library import mujoco
from teleop_system.simulators.config import MuJoCoConfig
from teleop_system.simulators.mujoco_actuation import Actuation
from teleop_system.simulators.mujoco_base import BaseState, DifferentialDrive, find_wheel_pair
from teleop_system.simulators.mujoco_joints import JointTable, camera_names, keyframe_names
from teleop_system.simulators.mujoco_model import load_model
from teleop_system.simulators.mujoco_rendering import RenderThread
from teleop_system.simulators.mujoco_sensors import Sensors
from teleop_system.simulators.mujoco_servos import ControlMode
from teleop_system.simulators.offscreen import FREE_CAMERA

logger = logging.getLogger(__name__)

INITIAL_KEYFRAMES = ("ready", "home")
OVERVIEW_CAMERA = "overview"


@dataclass(slots=True, eq=False)
class World:
    """One loaded model with all its parts.

    Attributes:
        model: MuJoCo's model.
        data: MuJoCo's state.
        joints: The joints that can be commanded.
        actuation: Their commands.
        base: The root body of the robot.
        drive: Its wheels, or None.
        sensors: Sensors by name.
        renderer: Renders images.
        roots: Root bodies of the robot, shape (K,).
        keyframe: Index of the initial keyframe, or None.
        start: Joint positions at the start in [rad] or [m], shape (N,).
    """

    model: Any
    data: Any
    joints: JointTable
    actuation: Actuation
    base: BaseState
    drive: DifferentialDrive | None
    sensors: Sensors
    renderer: RenderThread
    roots: NDArray[np.int32]
    keyframe: int | None
    start: NDArray[np.float64]

    def restart(self) -> None:
        """Return to the initial state, with commands that hold it."""
        if self.keyframe is None:
            mujoco.mj_resetData(self.model, self.data)
        else:
            mujoco.mj_resetDataKeyframe(self.model, self.data, self.keyframe)
        self.data.time = 0.0
        self.data.qpos[self.joints.positions] = self.start
        self.actuation.reset(self.start)
        mujoco.mj_forward(self.model, self.data)
        self.base.restart()


def build_world(config: MuJoCoConfig) -> World:
    """Load the model of a configuration.

    Raises:
        ModelError: The model is missing, invalid or has no actuated joints.
        UnknownNameError: The scene, keyframe, camera or a joint does not exist.
        ConfigError: The configured base has no velocity actuators.
    """
    model = load_model(config.mjcf_path, config.scene)
    _apply(config, model)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    joints = JointTable(model)
    actuation = Actuation(model, data, joints, config)
    roots = np.unique(model.body_rootid[model.jnt_bodyid[joints.joints]])
    keyframe = _keyframe(config, model)
    world = World(
        model,
        data,
        joints,
        actuation,
        base=BaseState(model, data, int(roots[0])),
        drive=_drive(config, model, data, joints, actuation),
        sensors=Sensors(model, data),
        renderer=RenderThread(model, config),
        roots=roots,
        keyframe=keyframe,
        start=_start(config, model, joints, actuation, keyframe),
    )
    world.restart()
    return world


def overview_camera(config: MuJoCoConfig, model: Any) -> int:
    """Return the index of the overview camera.

    Raises:
        UnknownNameError: The configured camera does not exist.
    """
    names = camera_names(model)
    if config.camera is not None and config.camera not in names:
        raise UnknownNameError("camera", config.camera, names)
    name = config.camera or OVERVIEW_CAMERA
    return int(model.camera(name).id) if name in names else FREE_CAMERA


def _apply(config: MuJoCoConfig, model: Any) -> None:
    if config.timestep is not None:
        model.opt.timestep = config.timestep
    model.vis.global_.offwidth = max(config.width, model.vis.global_.offwidth)
    model.vis.global_.offheight = max(config.height, model.vis.global_.offheight)
    model.vis.quality.offsamples = config.antialiasing
    overview_camera(config, model)


def _keyframe(config: MuJoCoConfig, model: Any) -> int | None:
    names = keyframe_names(model)
    if config.keyframe is not None and config.keyframe not in names:
        raise UnknownNameError("keyframe", config.keyframe, names)
    candidates = (config.keyframe,) if config.keyframe is not None else INITIAL_KEYFRAMES
    name = next((each for each in candidates if each in names), None)
    return int(model.key(name).id) if name is not None else None


def _start(
    config: MuJoCoConfig,
    model: Any,
    joints: JointTable,
    actuation: Actuation,
    keyframe: int | None,
) -> NDArray[np.float64]:
    qpos = model.qpos0 if keyframe is None else model.key_qpos[keyframe]
    start: NDArray[np.float64] = qpos[joints.positions].copy()
    for name, position in config.initial_pose.items():
        start[joints.index(name)] = position
    noise = np.random.default_rng(config.seed).uniform(-1.0, 1.0, len(joints))
    noise[actuation.joints_in(ControlMode.VELOCITY)] = 0.0  # The angle of a wheel does not matter.
    lower, upper = actuation.position_limits
    return np.clip(start + config.initial_noise * noise, lower, upper)


def _drive(
    config: MuJoCoConfig, model: Any, data: Any, joints: JointTable, actuation: Actuation
) -> DifferentialDrive | None:
    wheels = actuation.joints_in(ControlMode.VELOCITY)
    base = config.base or find_wheel_pair(model, data, joints, wheels)
    if base is None or base.kind != "differential":
        return None
    if len(base.joints) != 2:
        raise ConfigError(f"base needs a left_wheel and a right_wheel, got {base.joints}")
    drive = DifferentialDrive(base, joints, actuation.velocity_limits)
    for index in drive.indices:
        if index not in wheels:
            joint = joints.names[index]
            raise ConfigError(f"base cannot be driven by {joint!r}: it has no velocity actuator")
    return drive
