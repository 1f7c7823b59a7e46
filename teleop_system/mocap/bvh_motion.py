# SPDX-License-Identifier: Apache-2.0
"""Loads the motion of a configuration, once for all devices of a person."""

import functools
import os
from pathlib import Path
from typing import Any

from teleop_system.exceptions import BVHError, ConfigError, suggestion
from teleop_system.mocap.bvh_loader import BVHData, load_bvh
from teleop_system.mocap.bvh_syntax import read_names
from teleop_system.mocap.config import MocapConfig
from teleop_system.mocap.joint_mapping import JointMapping, choose_mapping
from teleop_system.mocap.mapped_motion import MappedMotion
from teleop_system.mocap.playback import Clock, Playback
from teleop_system.mocap.skeleton_mapper import SkeletonMapper
from teleop_system.utils.paths import models_dir
from teleop_system.utils.schema import SchemaReader

SUFFIX = ".bvh"


def motions_dir() -> Path:
    """Return the folder of the built-in motions."""
    return models_dir() / "motions"


def shipped_motions() -> tuple[str, ...]:
    """Return the names of the built-in motions."""
    return tuple(sorted(path.stem for path in motions_dir().glob(f"*{SUFFIX}")))


def find_motion(file: Path | str) -> Path:
    """Return a file by its path, or a built-in motion by its name.

    Raises:
        BVHError: The file does not exist; the message lists the built-in motions.
    """
    path = Path(file).expanduser()
    if path.is_file():
        return path
    built_in = motions_dir() / f"{path.name.removesuffix(SUFFIX)}{SUFFIX}"
    if built_in.is_file() and path.parent == Path("."):
        return built_in
    raise BVHError(
        f"no such file or built-in motion{suggestion(path.name, shipped_motions())}", path
    )


def mocap_config(options: dict[str, Any]) -> MocapConfig:
    """Return the options of a device as a configuration.

    Raises:
        ConfigError: An option is unknown, of the wrong type or out of range, or `file` is missing.
    """
    if isinstance(options.get("file"), Path):
        options = options | {"file": str(options["file"])}
    config = SchemaReader(lambda key: "options of a bvh device").read(MocapConfig, options)
    _require_file(config)
    return config


def load_recording(config: MocapConfig) -> tuple[BVHData, JointMapping]:
    """Return the recording of a configuration, and the family of its skeleton.

    Raises:
        BVHError: The file is missing or broken, or its skeleton is unknown.
    """
    path = find_motion(_require_file(config))
    mapping = choose_mapping(read_names(path), path, name=config.skeleton)
    data = load_bvh(
        path,
        unit=config.unit or mapping.unit,
        up=config.up or mapping.up,
        rest_frame=mapping.rest_frame,
    )
    return data, mapping


def load_motion(config: MocapConfig) -> MappedMotion:
    """Return the motion of a configuration.

    Raises:
        BVHError: The file is missing or broken, or its skeleton is unknown.
    """
    path = find_motion(_require_file(config))
    return _load_motion(_Key(config), path, os.stat(path).st_mtime_ns)


def make_playback(motion: MappedMotion, config: MocapConfig, clock: Clock) -> Playback:
    """Return a playback of a motion, at its first pose."""
    return Playback(
        motion.duration,
        approach=motion.approach,
        loop=motion.loop_start is not None,
        speed=config.speed,
        run_up=config.run_up,
        clock=clock,
    )


def _require_file(config: MocapConfig) -> Path:
    if config.file is None:
        raise ConfigError("mocap.file must name a BVH file or a built-in motion, got none")
    return config.file


class _Key:
    """A configuration as a cache key; configurations hold dictionaries and have no hash."""

    def __init__(self, config: MocapConfig) -> None:
        self.config = config
        self._text = repr(config)

    def __hash__(self) -> int:
        return hash(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self._text == other._text


@functools.lru_cache(maxsize=4)
def _load_motion(key: _Key, path: Path, modified_at: int) -> MappedMotion:
    data, mapping = load_recording(key.config)
    motion = SkeletonMapper(key.config, mapping).map(data)
    if key.config.normalization != "relative":
        return motion
    # Imported here: viewing a recording does not need the kinematics libraries.
    from teleop_system.mocap.robot_plan import plan_motion

    return plan_motion(motion, key.config)
