# SPDX-License-Identifier: Apache-2.0
"""Loads an MJCF robot and puts it into a scene."""

from pathlib import Path
from typing import Any

from teleop_system.exceptions import ModelError, UnknownNameError
from teleop_system.robots.mujoco_library import mujoco
from teleop_system.simulators.config import AUTO_SCENE
from teleop_system.utils.paths import models_dirs

SCENE_PREFIX = "scene/"
"""Stands before every name that comes from a scene, so that none can clash with the robot's."""


def load_model(mjcf_path: str | Path, scene: str | Path | None = None) -> Any:
    """Compile a robot, on its own or in a scene; keyframes of the robot stay what they were.

    Args:
        mjcf_path: The robot's file.
        scene: None for the robot alone, the name of a file in `scenes` of a models folder, the
            path of an MJCF file, or "auto": a floor where a robot that can fall has none.

    Raises:
        ModelError: A file is missing, or MuJoCo rejects it; the message is MuJoCo's.
        UnknownNameError: There is no such scene.
    """
    path = Path(mjcf_path)
    robot = _parse(path)
    chosen = _scene_file(robot, scene)
    if chosen is not None:
        _furnish(robot, _parse(chosen))
    return _checked(path, robot.compile)


def scene_names() -> tuple[str, ...]:
    """Return the names of the scenes in the models folders, sorted."""
    return tuple(sorted(_scenes()))


def _scenes() -> dict[str, Path]:
    # A scene in an earlier folder hides one of the same name in a later one.
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
    """Add a scene to a robot's world; floor and lights of the robot's own file win."""
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
