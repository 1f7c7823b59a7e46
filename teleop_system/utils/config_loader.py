# SPDX-License-Identifier: Apache-2.0
"""Configuration: one YAML file, or the Hydra tree, as one frozen dataclass.

All other code sees the dataclass only. Every error is a ConfigError that names the file and line
(or the override), the key, the value and the expected value.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml
from hydra.core.override_parser.types import Override
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from teleop_system.exceptions import ConfigError, suggestion
from teleop_system.utils.hydra_tree import (
    compose_tree,
    is_group,
    list_options,
    parse_overrides,
    require_options,
)
from teleop_system.utils.schema import SchemaReader
from teleop_system.utils.yaml_sources import SourceFile, Sources, yaml_problem

T = TypeVar("T")


def load_config(schema: type[T], path: Path | str, overrides: Sequence[str] = ()) -> T:
    """Return a YAML file as an instance of the dataclass `schema`.

    Args:
        schema: Dataclass; its fields, types and `__post_init__` define what is valid.
        path: The file; an empty one gives the defaults.
        overrides: Changes such as "solver.damping=1e-3"; later ones override earlier ones.

    Raises:
        ConfigError: The file or an override is invalid; the message names the key.
    """
    path = Path(path)
    parsed = parse_overrides(overrides)
    sources = Sources(path, [SourceFile(path)], _origins(parsed))
    config = _read_yaml(path)
    _require_keys(schema, parsed, sources)
    for override in parsed:
        if override.is_delete():
            raise ConfigError(f"override {override.input_line!r}: cannot delete a key of a file")
        OmegaConf.update(config, override.key_or_group, override.value(), force_add=True)
    return SchemaReader(sources.locate).read(schema, _resolved(config, sources))


def compose_config(
    schema: type[T],
    config_dir: Path | str,
    name: str = "default",
    overrides: Sequence[str] = (),
) -> T:
    """Return the Hydra tree below `config_dir` as an instance of the dataclass `schema`.

    Args:
        schema: Dataclass; its fields, types and `__post_init__` define what is valid.
        config_dir: Folder with the main file and one folder per group.
        name: The main file, without its suffix.
        overrides: Overrides in Hydra's grammar, such as "group=option" and "key=value". A key
            must be in the schema, but need not be in a file.

    Raises:
        ConfigError: The tree or an override is invalid; the message names the key.
    """
    root = Path(config_dir).resolve()
    main = root / f"{name}.yaml"
    if not main.is_file():
        raise ConfigError(f"{main}: no such file{suggestion(name, list_options(root))}")
    parsed = parse_overrides(overrides)
    values = [override for override in parsed if not is_group(root, override)]
    for override in parsed:
        if is_group(root, override):
            require_options(root, override)
    _require_keys(schema, values, Sources(main, (), _origins(values)))
    config, files = compose_tree(root, name, parsed)
    sources = Sources(main, files, _origins(values))
    return SchemaReader(sources.locate).read(schema, _resolved(config, sources))


def _read_yaml(path: Path) -> DictConfig:
    """Return the contents of a file, which must be a mapping or empty."""
    try:
        config = OmegaConf.load(path)
    except yaml.YAMLError as error:
        raise yaml_problem(error, path) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not a text file in UTF-8") from error
    except OSError as error:
        raise ConfigError(f"{path}: {_reason(error)}") from error
    if not isinstance(config, DictConfig):
        raise ConfigError(f"{path}: should contain keys and values, got a list")
    return config


def _reason(error: OSError) -> str:
    return "no such file" if isinstance(error, FileNotFoundError) else str(error.strerror or error)


def _origins(overrides: Sequence[Override]) -> list[tuple[str, str]]:
    return [(override.key_or_group, str(override.input_line)) for override in overrides]


def _require_keys(schema: type[Any], overrides: Sequence[Override], sources: Sources) -> None:
    """Raise ConfigError for the first override of a key that is not in the schema."""
    reader = SchemaReader(sources.locate)
    for override in overrides:
        problem = reader.problem_with_key(schema, override.key_or_group)
        if problem is not None:
            raise ConfigError(problem)


def _resolved(config: DictConfig, sources: Sources) -> Mapping[Any, Any]:
    """Return plain values with every ${reference} resolved."""
    try:
        data = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    except OmegaConfBaseException as error:
        key = str(error.full_key or "")
        # Further lines of the message describe OmegaConf's nodes, not the user's file.
        reason = str(error.msg or error).splitlines()[0]
        raise ConfigError(f"{sources.locate(key)}: {key}: {reason}") from error
    assert isinstance(data, dict)
    return data
