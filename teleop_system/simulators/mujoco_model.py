# SPDX-License-Identifier: Apache-2.0
"""Loads an MJCF robot and adds a scene."""

from pathlib import Path
from typing import Any

from teleop_system.exceptions import ModelError, UnknownNameError
from teleop_system.robots.mujoco_library import mujoco
from teleop_system.simulators.config import AUTO_SCENE
from teleop_system.utils.paths import models_dirs

SCENE_PREFIX = "scene/"
"""Prefix of all names of a scene, so that they cannot clash with those of the robot."""


def load_model(mjcf_path: str | Path, scene: str | Path | None = None) -> Any:
    """Compile a robot, alone or in a scene; the robot's keyframes stay valid.

    Args:
        mjcf_path: The robot's file.
        scene: None for the robot alone, the name of a file in `scenes` of a models folder, the
            path of an MJCF file, or "auto": a floor, if a robot with a free base has none.

    Raises:
        ModelError: A file is missing, or MuJoCo rejects it; the message is MuJoCo's.
        UnknownNameError: The scene does not exist.
    """
    path = Path(mjcf_path)
    robot = _parse(path)
    chosen = _scene_file(robot, scene)
    if chosen is not None:
        _furnish(robot, _parse(chosen))
    return _checked(path, robot.compile)


def _scenes() -> dict[str, Path]:
    # A scene in an earlier folder overrides one of the same name in a later one.
    folders = reversed(models_dirs())
    return {path.stem: path for folder in folders for path in (folder / "scenes").glob("*.xml")}


def _scene_file(robot: Any, scene: str | Path | None) -> Path | None:
    if scene is None:
        return None
    if str(scene).endswith(".xml"):
        return Path(scene)
    scenes = _scenes()
    if scene == AUTO_SCENE:
        return scenes.get("floor") if _can_fall(robot) and not _planes(robot) else None
    if scene not in scenes:
        raise UnknownNameError("scene", str(scene), sorted(scenes))
    return scenes[str(scene)]


def _furnish(robot: Any, scene: Any) -> None:
    """Add a scene to a robot's world, without floor and lights if the robot's file has a floor."""
    if _planes(robot):
        for item in (*_planes(scene), *scene.worldbody.lights):
            scene.delete(item)
    robot.attach(scene, frame=robot.worldbody.add_frame(), prefix=SCENE_PREFIX)


def _can_fall(spec: Any) -> bool:
    return any(joint.type == mujoco.mjtJoint.mjJNT_FREE for joint in spec.joints)


def _planes(spec: Any) -> list[Any]:
    plane = mujoco.mjtGeom.mjGEOM_PLANE
    return [geom for geom in spec.worldbody.geoms if geom.type == plane]


def _parse(path: Path) -> Any:
    if not path.is_file():
        raise ModelError("no such file", path)
    return _checked(path, lambda: mujoco.MjSpec.from_file(str(path)))


def _checked(path: Path, work: Any) -> Any:
    try:
        return work()
    except ValueError as error:  # How MuJoCo reports every fault of a file.
        reason = " ".join(str(error).split())
        raise ModelError(f"MuJoCo cannot load it: {reason}", path) from error
