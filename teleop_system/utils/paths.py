# SPDX-License-Identifier: Apache-2.0
"""Finds the `config/` and `models/` trees of every kind of installation."""

import os
import site
import sys
from pathlib import Path

from teleop_system.exceptions import ConfigError

PACKAGE = "teleop_system"
CONFIG_VARIABLE = "TELEOP_CONFIG_DIR"
MODELS_VARIABLE = "TELEOP_MODELS_DIR"


def config_dir() -> Path:
    """Return the configuration tree: `TELEOP_CONFIG_DIR` if set, else the built-in one.

    Raises:
        ConfigError: There is no such folder; the message lists the searched ones.
    """
    chosen = os.environ.get(CONFIG_VARIABLE)
    if not chosen:
        return _shipped("config")
    path = Path(chosen).expanduser()
    if not path.is_dir():
        raise ConfigError(f"{CONFIG_VARIABLE}={chosen}: no such folder")
    return path.resolve()


def models_dir() -> Path:
    """Return the folder of the built-in models.

    Raises:
        ConfigError: The folder is missing; the message lists the searched ones.
    """
    return _shipped("models")


def models_dirs() -> tuple[Path, ...]:
    """Return every folder with models: those of `TELEOP_MODELS_DIR`, then the built-in one.

    The variable lists folders as PATH does. A robot found in an earlier folder hides one of
    the same name in a later one.

    Raises:
        ConfigError: A listed folder does not exist.
    """
    listed = [entry for entry in os.environ.get(MODELS_VARIABLE, "").split(os.pathsep) if entry]
    folders = [Path(entry).expanduser() for entry in listed]
    for folder in folders:
        if not folder.is_dir():
            raise ConfigError(f"{MODELS_VARIABLE}: no such folder: {folder}")
    ordered = [folder.resolve() for folder in folders]
    ordered.append(models_dir())
    return tuple(dict.fromkeys(ordered))


def _shipped(tree: str) -> Path:
    """Return the first existing folder named `tree` among the installation folders."""
    candidates = [root / tree for root in _roots()]
    for candidate in candidates:
        if candidate.is_dir():
            return candidate.resolve()
    searched = ", ".join(str(candidate) for candidate in candidates)
    raise ConfigError(f"the {tree!r} folder of {PACKAGE} is missing; searched: {searched}")


def _roots() -> list[Path]:
    """Return the possible parents: a checkout, a pip installation, an ament workspace."""
    roots = []
    checkout = Path(__file__).resolve().parents[2]
    # In site-packages this parent is shared, so require a file that only a checkout has.
    if (checkout / "pyproject.toml").is_file():
        roots.append(checkout)
    prefixes = [entry for entry in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)]
    prefixes += [sys.prefix, site.getuserbase()]
    roots += [Path(prefix) / "share" / PACKAGE for prefix in prefixes if prefix]
    return roots
