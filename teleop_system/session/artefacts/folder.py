# SPDX-License-Identifier: Apache-2.0
"""The folder of one run: configuration, environment, events, timing, metrics and report."""

import datetime
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import teleop_system
from teleop_system.exceptions import ConfigError
from teleop_system.utils.plain_values import plain, to_yaml

PACKAGES = ("numpy", "mujoco", "pin", "daqp", "proxsuite", "numba", "hydra-core", "omegaconf")


class RunFolder:
    """A new folder named after the current time, below a root such as `runs`.

    Args:
        root: The parent folder.

    Attributes:
        path: The folder.

    Raises:
        ConfigError: The folder cannot be created.
    """

    CONFIG = "config.yaml"
    ENVIRONMENT = "environment.json"
    EVENTS = "events.jsonl"
    TIMING = "timing.json"
    METRICS = "metrics.json"
    TRACE = "trace.npz"
    INPUTS = "inputs.npz"
    REPORT = "report.html"

    def __init__(self, root: Path) -> None:
        stamp = datetime.datetime.now().strftime("%Y%m%d_%H%M%S")
        for attempt in range(1000):
            self.path = root / (f"{stamp}_{attempt}" if attempt else stamp)
            try:
                self.path.mkdir(parents=True)
                return
            except FileExistsError:
                continue  # A second run within one second.
            except OSError as error:
                raise ConfigError(f"session.runs: {root} cannot be written: {error}") from error
        raise ConfigError(f"session.runs: {root} has 1000 runs that started in the same second")

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    def remove(self) -> None:
        """Remove the folder and its contents."""
        shutil.rmtree(self.path, ignore_errors=True)

    def write_json(self, name: str, document: Mapping[str, Any]) -> Path:
        """Write plain values, dataclasses and arrays as JSON."""
        path = self.path / name
        text = json.dumps(plain(document), indent=2, allow_nan=False)
        path.write_text(text + "\n", encoding="utf-8")
        return path

    def write_config(self, settings: Any) -> Path:
        """Write settings as YAML that loads as the same settings."""
        path = self.path / self.CONFIG
        path.write_text(to_yaml(settings), encoding="utf-8")
        return path

    def write_environment(self) -> Path:
        """Write the machine, the versions and the command line of the run."""
        return self.write_json(self.ENVIRONMENT, environment())


def environment() -> dict[str, Any]:
    """Return machine, versions and command line of this process."""
    return {
        "started": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "command": sys.argv,
        "teleop_system": teleop_system.__version__,
        "commit": _commit(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processor": platform.machine(),
        "processors": os.cpu_count(),
        "packages": {name: _version(name) for name in PACKAGES},
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _commit() -> str | None:
    folder = Path(teleop_system.__file__).parent
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), "describe", "--always", "--dirty"],
            capture_output=True,
            text=True,
            timeout=5.0,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None
