# SPDX-License-Identifier: Apache-2.0
"""Registry of all classes that a configuration file can name.

Built-in classes are listed in `_BUILT_IN`. An installed package adds one with an entry point in
the group `teleop_system.<kind>`:

    [project.entry-points."teleop_system.solver"]
    my_solver = "my_package.my_module:MySolver"

A class is imported when it is used, so listing names needs no optional dependency.
"""

import importlib
from importlib import metadata
from typing import Any

from teleop_system.exceptions import RegistryError, UnknownNameError

_BUILT_IN: dict[str, dict[str, str]] = {
    "tracker": {
        "bvh": "teleop_system.mocap.bvh_tracker_adapter:BVHTrackerAdapter",
        "simulated": "teleop_system.simulators.simulated_tracker:SimulatedTracker",
    },
    "hand_input": {
        "bvh": "teleop_system.mocap.bvh_hand_adapter:BVHHandAdapter",
        "simulated": "teleop_system.simulators.simulated_hand:SimulatedHand",
    },
    "simulator": {
        "mujoco": "teleop_system.simulators.mujoco_sim:MuJoCoSimulator",
    },
    "solver": {
        "qp": "teleop_system.solvers.qp_ik_solver:QPIKSolver",
        "pink": "teleop_system.solvers.pink_ik_solver:PinkIKSolver",
        "dls": "teleop_system.solvers.dls_solver:DLSSolver",
        "proportional": "teleop_system.solvers.proportional_mapper:ProportionalMapper",
    },
    "retargeter": {
        "angles": "teleop_system.modules.hand_teleop.retargeting:AngleRetargeter",
        "fingertips": "teleop_system.modules.hand_teleop.retargeting:FingertipRetargeter",
    },
    "camera": {
        "simulated": "teleop_system.simulators.sim_camera_stream:SimCameraStream",
        "ros2": "teleop_system.modules.camera.ros2_rgbd_subscriber:ROS2RGBDSubscriber",
        "realsense": "teleop_system.devices.realsense_camera:RealSenseCamera",
        "stream": "teleop_system.modules.camera.streaming.client:RGBDStreamClient",
    },
    "robot": {},
    "robot_side": {},
}


def kinds() -> tuple[str, ...]:
    """Return the kinds of classes that can be registered."""
    return tuple(_BUILT_IN)


def names(kind: str) -> tuple[str, ...]:
    """Return the registered names of a kind, sorted: built-in ones and those of other packages."""
    return tuple(sorted(_targets(kind)))


def find(kind: str, name: str) -> Any:
    """Return the object registered under a name: a class, or the model folder of a robot.

    Raises:
        UnknownNameError: The kind or the name is not registered.
        RegistryError: The name is registered, but its module or class cannot be loaded.
    """
    targets = _targets(kind)
    if name not in targets:
        raise UnknownNameError(kind, name, sorted(targets))
    module_name, _, attribute = targets[name].partition(":")
    try:
        module = importlib.import_module(module_name)
        return getattr(module, attribute)
    except (ImportError, AttributeError) as error:
        raise RegistryError(
            f"{kind} {name!r} is registered as {targets[name]!r}, which cannot be loaded: {error}"
        ) from error


def create(kind: str, name: str, *args: Any, **kwargs: Any) -> Any:
    """Return a new instance of the class registered under a name."""
    return find(kind, name)(*args, **kwargs)


def _targets(kind: str) -> dict[str, str]:
    if kind not in _BUILT_IN:
        raise UnknownNameError("kind of plugin", kind, _BUILT_IN)
    installed = {
        point.name: point.value for point in metadata.entry_points(group=f"teleop_system.{kind}")
    }
    # Built-in names come first: no installed package can replace a part of the command path.
    return installed | _BUILT_IN[kind]
