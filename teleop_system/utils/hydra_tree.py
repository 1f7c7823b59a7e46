# SPDX-License-Identifier: Apache-2.0
"""Interface to Hydra: override grammar and composition of a configuration tree."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import yaml
from hydra import compose, initialize_config_dir
from hydra.core.config_loader import ConfigLoader
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, OverrideType
from hydra.errors import HydraException, MissingConfigException
from hydra.types import RunMode
from hydra.version import VersionBase
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from teleop_system.exceptions import ConfigError, suggestion
from teleop_system.utils.yaml_sources import SourceFile, yaml_problem

# Hydra keeps its state in a global, so only one tree is composed at a time.
_hydra_lock = threading.RLock()


def parse_overrides(overrides: Sequence[str]) -> list[Override]:
    """Parse overrides in Hydra's grammar, such as "solver.damping=1e-3".

    Raises:
        ConfigError: An override is not of the form key=value, or is a sweep.
    """
    parser = OverridesParser.create()
    parsed = []
    for text in overrides:
        try:
            override = parser.parse_override(text)
        except HydraException as error:
            raise ConfigError(f"override {text!r}: should be key=value ({error})") from error
        if not override.key_or_group:
            raise ConfigError(f"override {text!r}: should be key=value, but the key is empty")
        if override.is_sweep_override():
            raise ConfigError(f"override {text!r}: has several values; expected one")
        parsed.append(override)
    return parsed


def is_group(root: Path, override: Override) -> bool:
    """Return whether an override selects the option of a group instead of setting a value."""
    return override.package is not None or (root / override.key_or_group).is_dir()


def require_options(root: Path, override: Override) -> None:
    """Raise ConfigError if an override selects an option that its group does not have."""
    group = override.key_or_group
    value = override.value()
    if override.is_delete() and value is None:
        return
    options = list_options(root / group)
    for option in value if isinstance(value, list) else [value]:
        if str(option) not in options:
            raise ConfigError(
                f"override {override.input_line!r}: no option {option!r} in {root / group}"
                f"{suggestion(str(option), options)}"
            )


def list_options(folder: Path) -> list[str]:
    """Return the names of the configuration files in a folder."""
    return sorted(path.stem for path in folder.glob("*.yaml"))


def compose_tree(
    root: Path, name: str, overrides: Sequence[Override]
) -> tuple[DictConfig, list[SourceFile]]:
    """Return the configuration that Hydra composes from `root`, and its files in merge order.

    Raises:
        ConfigError: A file is invalid, or an option or group does not exist.
    """
    texts = [_text(root, override) for override in overrides]
    try:
        with _private_hydra(root) as loader:
            config = compose(config_name=name, overrides=texts)
            entries = loader.compute_defaults_list(name, texts, RunMode.RUN).defaults
    except yaml.YAMLError as error:
        raise yaml_problem(error, root) from error
    except MissingConfigException as error:
        raise ConfigError(_missing(root, name, error)) from error
    except (HydraException, OmegaConfBaseException, ValueError) as error:
        raise ConfigError(f"{root / name}.yaml: {' '.join(str(error).split())}") from error
    files = [
        SourceFile(root / f"{entry.config_path}.yaml", entry.package or "")
        for entry in entries
        if entry.config_path is not None and not entry.config_path.startswith("hydra/")
    ]
    return config, files


@contextmanager
def _private_hydra(root: Path) -> Iterator[ConfigLoader]:
    """Run Hydra on `root` and restore its global state afterwards."""
    with _hydra_lock:
        hydra, version = GlobalHydra.instance(), VersionBase.instance()
        outer_hydra, outer_version = hydra.hydra, version.version_base
        hydra.clear()
        try:
            initialize_config_dir(str(root), job_name="teleop", version_base="1.3")
            yield GlobalHydra.instance().config_loader()
        finally:
            hydra.hydra, version.version_base = outer_hydra, outer_version


def _text(root: Path, override: Override) -> str:
    """Return the text of an override for Hydra."""
    # The schema has checked the key, so Hydra need not find it in a file.
    if override.type == OverrideType.CHANGE and not is_group(root, override):
        return f"++{override.input_line}"
    return str(override.input_line)


def _missing(root: Path, name: str, error: MissingConfigException) -> str:
    """Return the message for a missing option in a defaults list."""
    if error.missing_cfg_file is None:
        return f"{root / name}.yaml: {error}"
    group, _, option = str(error.missing_cfg_file).rpartition("/")
    folder = root / group
    tail = suggestion(option, list_options(folder))
    return f"{root / name}.yaml: its defaults name {option!r}, which is not in {folder}{tail}"
