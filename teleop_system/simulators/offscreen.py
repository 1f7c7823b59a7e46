# SPDX-License-Identifier: Apache-2.0
"""Renders a MuJoCo state to memory; create, use and close it in the same thread."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import RenderingUnavailableError, SimulationError
from teleop_system.interfaces import RGBDFrame
from teleop_system.robots.mujoco_library import mujoco
from teleop_system.simulators import gl_backend
from teleop_system.utils.transforms import opengl_to_optical_matrix

SPARE_GEOMS = 1000
"""Extra geoms in a scene, for frames and lights that MuJoCo adds."""

FREE_CAMERA = -1


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """The state that an image depends on.

    Attributes:
        qpos: Generalised positions, shape (nq,).
        mocap_pos: Positions of the mocap bodies in [m], shape (nmocap, 3).
        mocap_quat: Their orientations wxyz, shape (nmocap, 4).
        time: Simulated time in [s].
    """

    qpos: NDArray[np.float64]
    mocap_pos: NDArray[np.float64]
    mocap_quat: NDArray[np.float64]
    time: float

    @classmethod
    def of(cls, data: Any) -> "Snapshot":
        """Copy the state of a simulation."""
        return cls(
            data.qpos.copy(), data.mocap_pos.copy(), data.mocap_quat.copy(), float(data.time)
        )


class OffscreenRenderer:
    """Renders colour and depth images of a model, with its own copy of the state."""

    def __init__(self, model: Any, width: int, height: int, *, shadows: bool = False) -> None:
        self._model = model
        self._data = mujoco.MjData(model)
        self._gl = gl_backend.open_context(width, height)
        try:
            self._context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
        except mujoco.FatalError as error:
            self._gl.free()
            raise RenderingUnavailableError(f"OpenGL cannot render off screen: {error}") from error
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, self._context)
        # Depth is then 1 at the near plane and exactly 0 without an object.
        self._context.readDepthMap = mujoco.mjtDepthMap.mjDEPTH_ZEROFAR
        self._scene = mujoco.MjvScene(model, maxgeom=model.ngeom + SPARE_GEOMS)
        self._scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = shadows
        self._options = mujoco.MjvOption()
        self._camera = mujoco.MjvCamera()
        self._viewport = mujoco.MjrRect(0, 0, width, height)
        self._has_sky = bool(np.isin(mujoco.mjtTexture.mjTEXTURE_SKYBOX.value, model.tex_type))

    def image(self, snapshot: Snapshot, camera: int) -> NDArray[np.uint8]:
        """Return the image of a camera, shape (H, W, 3)."""
        self._update_scene(snapshot, camera)
        return np.ascontiguousarray(self._draw()[::-1])  # OpenGL starts with the bottom row.

    def rgbd(self, snapshot: Snapshot, camera: int) -> RGBDFrame:
        """Return the image of a fixed camera, with depth and geometry.

        Raises:
            SimulationError: The camera is orthographic and has no camera matrix.
        """
        self._update_scene(snapshot, camera)
        view = self._scene.camera[0]
        if view.orthographic:
            raise SimulationError("an orthographic camera has no camera matrix, so no RGB-D view")
        extrinsics = np.eye(4)
        rotation = self._data.cam_xmat[camera].reshape(3, 3)
        extrinsics[:3, :3] = opengl_to_optical_matrix(rotation)
        extrinsics[:3, 3] = self._data.cam_xpos[camera]
        rgb, depth = self._draw_with_depth(float(view.frustum_near), float(view.frustum_far))
        return RGBDFrame(
            rgb,
            depth,
            intrinsics=camera_matrix(view, self._viewport.width, self._viewport.height),
            extrinsics=extrinsics,
            timestamp=snapshot.time,
            width=self._viewport.width,
            height=self._viewport.height,
        )

    def close(self) -> None:
        """Free the OpenGL resources."""
        self._context.free()
        self._gl.free()

    def _update_scene(self, snapshot: Snapshot, camera: int) -> None:
        model, data = self._model, self._data
        data.qpos[:] = snapshot.qpos
        data.mocap_pos[:] = snapshot.mocap_pos
        data.mocap_quat[:] = snapshot.mocap_quat
        data.time = snapshot.time
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)  # Lights and cameras may follow a centre of mass.
        mujoco.mj_camlight(model, data)
        mujoco.mj_flex(model, data)
        mujoco.mj_tendon(model, data)
        if camera == FREE_CAMERA:
            mujoco.mjv_defaultFreeCamera(model, self._camera)
        else:
            self._camera.type = mujoco.mjtCamera.mjCAMERA_FIXED
            self._camera.fixedcamid = camera
        everything = mujoco.mjtCatBit.mjCAT_ALL.value
        mujoco.mjv_updateScene(
            model, data, self._options, None, self._camera, everything, self._scene
        )

    def _draw(self, depth: NDArray[np.float32] | None = None) -> NDArray[np.uint8]:
        """Return the colours of the scene, bottom row first; write its depth buffer to `depth`."""
        pixels = np.empty((self._viewport.height, self._viewport.width, 3), np.uint8)
        mujoco.mjr_render(self._viewport, self._scene, self._context)
        mujoco.mjr_readPixels(pixels, depth, self._viewport, self._context)
        return pixels

    def _draw_with_depth(
        self, near: float, far: float
    ) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        """Return colours, and distances along the optical axis in [m], 0 without an object.

        Sky and haze would write a depth. They are rendered only afterwards, for pixels without an
        object, which is cheaper than rendering everything twice.
        """
        scene = self._scene
        buffer = np.empty((self._viewport.height, self._viewport.width), np.float32)
        flags = scene.flags.copy()
        scene.flags[mujoco.mjtRndFlag.mjRND_SKYBOX] = 0
        scene.flags[mujoco.mjtRndFlag.mjRND_HAZE] = 0
        pixels = self._draw(buffer)
        scene.flags[:] = flags
        empty = buffer <= 0.0
        if self._has_sky and empty.any():
            count, scene.ngeom = scene.ngeom, 0
            pixels[empty] = self._draw()[empty]
            scene.ngeom = count
        return np.ascontiguousarray(pixels[::-1]), metric_depth(buffer[::-1], near, far)


def metric_depth(buffer: NDArray[np.float32], near: float, far: float) -> NDArray[np.float32]:
    """Convert a reversed depth buffer (1 near, 0 far) to distances in [m]."""
    distance = np.float32(near * far) / (np.float32(near) + np.float32(far - near) * buffer)
    distance[buffer <= 0.0] = 0.0
    result: NDArray[np.float32] = np.ascontiguousarray(distance)
    return result


def camera_matrix(view: Any, width: int, height: int) -> NDArray[np.float64]:
    """Return the camera matrix K in [px]; pixel centres have integer coordinates."""
    focal = view.frustum_near * height / (view.frustum_top - view.frustum_bottom)
    row = height * view.frustum_top / (view.frustum_top - view.frustum_bottom)
    # MuJoCo sets the half width to 0 if it follows from the aspect ratio.
    half_width = view.frustum_width or 0.5 * width * view.frustum_near / focal
    focal_x = 0.5 * view.frustum_near * width / half_width
    column = 0.5 * width * (1.0 - view.frustum_center / half_width)
    return np.array([[focal_x, 0.0, column - 0.5], [0.0, focal, row - 0.5], [0.0, 0.0, 1.0]])
