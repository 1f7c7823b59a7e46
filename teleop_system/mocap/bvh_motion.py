# SPDX-License-Identifier: Apache-2.0
"""From a configuration to a motion, loaded and mapped once for all trackers of a person."""

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
    """Return the folder of the motions that we ship."""
    return models_dir() / "motions"


def shipped_motions() -> tuple[str, ...]:
    """Return the names of the motions that we ship."""
    return tuple(sorted(path.stem for path in motions_dir().glob(f"*{SUFFIX}")))


def find_motion(file: Path | str) -> Path:
    """Return a file by its path, or one of ours by its name.

    Raises:
        BVHError: There is no such file; the message lists the names of ours.
    """
    path = Path(file).expanduser()
    if path.is_file():
        return path
    ours = motions_dir() / f"{path.name.removesuffix(SUFFIX)}{SUFFIX}"
    if ours.is_file() and path.parent == Path("."):
        return ours
    raise BVHError(
        f"no such file, nor a motion of ours{suggestion(path.name, shipped_motions())}", path
    )


def mocap_config(options: dict[str, Any]) -> MocapConfig:
    """Return options of a device as a configuration.

    Raises:
        ConfigError: An option is unknown, of the wrong type or out of range, or no file is named.
    """
    config = SchemaReader(lambda key: "options of a bvh device").read(MocapConfig, _plain(options))
    _require_file(config)
    return config


def load_recording(config: MocapConfig) -> tuple[BVHData, JointMapping]:
    """Return the recording of a configuration, and the family of its skeleton.

    Raises:
        BVHError: The file is missing, broken, or of a skeleton that nobody knows.
    """
    path = _path(config)
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
        BVHError: The file is missing, broken, or of a skeleton that nobody knows.
    """
    path = _path(config)
    return _load(_Key(config), path, os.stat(path).st_mtime_ns)


def make_playback(motion: MappedMotion, config: MocapConfig, clock: Clock) -> Playback:
    """Return a playback of a motion that waits in its first pose."""
    return Playback(
        motion.duration,
        approach=motion.approach,
        loop=motion.loop_start is not None,
        speed=config.speed,
        run_up=config.run_up,
        clock=clock,
    )


def _path(config: MocapConfig) -> Path:
    return find_motion(_require_file(config))


def _require_file(config: MocapConfig) -> Path:
    if config.file is None:
        raise ConfigError("mocap.file must name a BVH file or one of our motions, got none")
    return config.file


class _Key:
    """A configuration that can be looked up: equal where it says the same."""

    def __init__(self, config: MocapConfig) -> None:
        self.config = config
        self._text = repr(config)

    def __hash__(self) -> int:
        return hash(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self._text == other._text


@functools.lru_cache(maxsize=4)
def _load(key: _Key, path: Path, stamp: int) -> MappedMotion:
    data, mapping = load_recording(key.config)
    motion = SkeletonMapper(key.config, mapping).map(data)
    if key.config.normalization != "relative":
        return motion
    # Whoever only looks at recordings needs no libraries of kinematics.
    from teleop_system.mocap.robot_plan import planned

    return planned(motion, key.config)


def _plain(options: dict[str, Any]) -> dict[str, Any]:
    """Return options as they would stand in a file."""
    file = options.get("file")
    return options | ({"file": str(file)} if isinstance(file, Path) else {})
