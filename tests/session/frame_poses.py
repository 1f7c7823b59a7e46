# SPDX-License-Identifier: Apache-2.0
"""Poses of the links of a simulated robot, relative to its base."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import UnknownNameError
from teleop_system.interfaces import Pose6D
from teleop_system.robots.mujoco_library import mujoco
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
from teleop_system.utils.transforms import quat_from_matrix

Array = NDArray[np.float64]


class FramePoses:
    """Poses of bodies and sites in the frame of the robot's base.

    The kinematics are computed on a copy of the state: after a step MuJoCo's own poses are those
    of the beginning of the step.

    Args:
        simulator: An initialised simulator.
        base: Body that poses are relative to.
        names: Bodies or sites, by name.

    Raises:
        UnknownNameError: The body or site does not exist.
    """

    def __init__(self, simulator: MuJoCoSimulator, base: str, names: Sequence[str]) -> None:
        self._simulator = simulator
        self._data = mujoco.MjData(simulator.model)
        self._base = self._frame(base)
        self._frames = {name: self._frame(name) for name in names}

    def update(self) -> None:
        """Read the simulator's current joint positions."""
        self._data.qpos[:] = self._simulator.data.qpos
        mujoco.mj_kinematics(self._simulator.model, self._data)

    def __getitem__(self, name: str) -> Pose6D:
        """Return the pose of a frame as of the last `update()`."""
        base_position, base_matrix = self._base
        position, matrix = self._frames[name]
        rotation = base_matrix.reshape(3, 3).T
        return Pose6D(
            rotation @ (position - base_position),
            quat_from_matrix(rotation @ matrix.reshape(3, 3)),
            float(self._simulator.get_time()),
        )

    def _frame(self, name: str) -> tuple[Array, Array]:
        """Return views of a frame's position and rotation matrix."""
        model = self._simulator.model
        bodies = [model.body(index).name for index in range(1, model.nbody)]
        if name in bodies:
            index = model.body(name).id
            return self._data.xpos[index], self._data.xmat[index]
        sites = [model.site(index).name for index in range(model.nsite)]
        if name in sites:
            index = model.site(name).id
            return self._data.site_xpos[index], self._data.site_xmat[index]
        raise UnknownNameError("body or site", name, [*bodies, *filter(None, sites)])
