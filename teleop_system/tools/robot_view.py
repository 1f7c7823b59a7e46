# SPDX-License-Identifier: Apache-2.0
"""Shows a robot in a window, or draws a picture of it."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import InvalidValueError, UnknownNameError
from teleop_system.robots import RobotDescription
from teleop_system.robots.mujoco_library import mujoco
from teleop_system.simulators import gl_backend
from teleop_system.simulators.config import AUTO_SCENE
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
from teleop_system.simulators.viewer import interactive_viewer
from teleop_system.tools.media import save_picture
from teleop_system.tools.robot_simulation import simulate_robot

VIEWS = {
    "corner": (145.0, -15.0),
    "front": (180.0, -8.0),
    "left": (270.0, -8.0),
    "right": (90.0, -8.0),
    "back": (0.0, -8.0),
    "top": (180.0, -89.0),
}
"""Azimuth and elevation in [deg] of the views that exist beside the cameras of the model."""
MARGIN = 1.05
"""Factor of the camera distance that leaves a margin around the robot."""
FRAME_PERIOD = 1.0 / 60.0
"""Time in [s] between two frames in the window."""
COLLISION_COLOUR = (0.95, 0.45, 0.1, 0.55)
HIDDEN_GROUP = 5


@dataclass(frozen=True, slots=True)
class ViewOptions:
    """Options of a view.

    Attributes:
        pose: Named pose; None for the initial one.
        camera: A camera of the model or one of `VIEWS`.
        collision: Show collision shapes instead of visual shapes.
        scene: Surroundings as `MuJoCoConfig.scene` takes them; "auto" always adds a floor here.
        width: Columns of a picture in [px].
        height: Rows of a picture in [px].
    """

    pose: str | None = None
    camera: str = "corner"
    collision: bool = False
    scene: str | None = AUTO_SCENE
    width: int = 960
    height: int = 960


def show_robot(robot: RobotDescription, options: ViewOptions) -> None:
    """Show a robot in a window until it is closed; it holds its pose and can be dragged.

    Raises:
        UnknownNameError: The pose or scene does not exist.
        RenderingUnavailableError: No window can be opened.
    """
    simulator = _simulate(robot, options)
    try:
        with interactive_viewer(simulator) as viewer:
            while viewer.is_running():
                start = time.monotonic()
                with viewer.lock():
                    simulator.step(FRAME_PERIOD)
                viewer.sync()
                time.sleep(max(0.0, FRAME_PERIOD - (time.monotonic() - start)))
    finally:
        simulator.shutdown()


def draw_robot(robot: RobotDescription, options: ViewOptions) -> NDArray[np.uint8]:
    """Return a picture of a robot, shape (height, width, 3).

    Raises:
        UnknownNameError: The pose, camera or scene does not exist.
        RenderingUnavailableError: No OpenGL back end works.
    """
    simulator = _simulate(robot, options)
    try:
        model, data = simulator.model, simulator.data
        mujoco.mj_forward(model, data)
        camera = _camera(model, data, options)
        gl = gl_backend.open_context(options.width, options.height)
        try:
            return _draw(model, data, camera, options)
        finally:
            gl.free()
    finally:
        simulator.shutdown()


def save_view(picture: NDArray[np.uint8], path: Path) -> None:
    """Write a picture to a file, in the format of the file extension.

    Raises:
        MissingExtraError: The picture library is not installed.
        InvalidValueError: The file cannot be written, or its extension is not a picture format.
    """
    try:
        save_picture(picture, path)
    except (OSError, ValueError) as error:
        raise InvalidValueError(f"{path}: the picture cannot be written: {error}") from error


def _simulate(robot: RobotDescription, options: ViewOptions) -> MuJoCoSimulator:
    simulator = simulate_robot(robot, options.pose, options.scene)
    plane = int(mujoco.mjtGeom.mjGEOM_PLANE)
    if options.scene == AUTO_SCENE and plane not in simulator.model.geom_type:
        # A fixed robot needs no floor, but without one the background is black.
        simulator = simulate_robot(robot, options.pose, "floor")
    if options.collision:
        _show_collision(simulator.model)
    return simulator


def _show_collision(model: Any) -> None:
    """Colour the collision shapes and hide the others, except the floor."""
    plane = int(mujoco.mjtGeom.mjGEOM_PLANE)
    for geom in range(model.ngeom):
        if model.geom_type[geom] == plane:
            continue
        touches = model.geom_contype[geom] or model.geom_conaffinity[geom]
        model.geom_group[geom] = 0 if touches else HIDDEN_GROUP
        if touches:
            model.geom_matid[geom] = -1
            model.geom_rgba[geom] = COLLISION_COLOUR


def _camera(model: Any, data: Any, options: ViewOptions) -> Any:
    camera = mujoco.MjvCamera()
    own = [model.camera(index).name for index in range(model.ncam)]
    if options.camera in own:
        camera.type = mujoco.mjtCamera.mjCAMERA_FIXED
        camera.fixedcamid = model.camera(options.camera).id
        return camera
    if options.camera not in VIEWS:
        raise UnknownNameError("camera", options.camera, [*VIEWS, *filter(None, own)])
    lower, upper = _bounds(model, data)
    camera.azimuth, camera.elevation = VIEWS[options.camera]
    camera.lookat[:] = 0.5 * (lower + upper)
    half_angle = 0.5 * np.deg2rad(model.vis.global_.fovy)
    narrow = min(1.0, options.width / options.height)
    radius = 0.5 * float(np.linalg.norm(upper - lower))
    camera.distance = MARGIN * radius / (np.tan(half_angle) * narrow)
    return camera


def _bounds(model: Any, data: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the corners in [m] of a box around everything except floors and walls."""
    plane = int(mujoco.mjtGeom.mjGEOM_PLANE)
    shown = [
        geom
        for geom in range(model.ngeom)
        if model.geom_type[geom] != plane and model.body_mocapid[model.geom_bodyid[geom]] < 0
    ]
    if not shown:
        return -np.ones(3), np.ones(3)
    centres = model.geom_aabb[shown, :3]
    halves = model.geom_aabb[shown, 3:]
    rotations = data.geom_xmat[shown].reshape(-1, 3, 3)
    middles = data.geom_xpos[shown] + np.einsum("nij,nj->ni", rotations, centres)
    extents = np.einsum("nij,nj->ni", np.abs(rotations), halves)
    return (middles - extents).min(axis=0), (middles + extents).max(axis=0)


def _draw(model: Any, data: Any, camera: Any, options: ViewOptions) -> NDArray[np.uint8]:
    model.vis.global_.offwidth = max(options.width, model.vis.global_.offwidth)
    model.vis.global_.offheight = max(options.height, model.vis.global_.offheight)
    model.vis.quality.offsamples = 8  # Smooth edges; the cost does not matter for one picture.
    context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
    try:
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, context)
        scene = mujoco.MjvScene(model, maxgeom=model.ngeom + 1000)
        visible = mujoco.MjvOption()
        everything = mujoco.mjtCatBit.mjCAT_ALL.value
        mujoco.mjv_updateScene(model, data, visible, None, camera, everything, scene)
        viewport = mujoco.MjrRect(0, 0, options.width, options.height)
        mujoco.mjr_render(viewport, scene, context)
        pixels = np.empty((options.height, options.width, 3), np.uint8)
        mujoco.mjr_readPixels(pixels, None, viewport, context)
    finally:
        context.free()
    return np.ascontiguousarray(pixels[::-1])  # OpenGL returns the bottom row first.
