# SPDX-License-Identifier: Apache-2.0
"""Loading of single files and of Hydra trees, and the error messages when it fails."""

import dataclasses
import enum
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra

from teleop_system.exceptions import ConfigError
from teleop_system.utils.config_loader import compose_config, load_config
from teleop_system.utils.validators import require_in_range, require_positive
from tests.waiting import LIMIT


class Mode(enum.Enum):
    POSITION = "position"
    VELOCITY = "velocity"


@dataclass(frozen=True, slots=True)
class Wheel:
    radius: float = 0.1
    """In [m]."""
    width: float = 0.05

    def __post_init__(self) -> None:
        require_positive(self, "radius", "width")


@dataclass(frozen=True, slots=True)
class Robot:
    name: str = "rby1"
    rate: float = 100.0
    count: int = 2
    enabled: bool = True
    mode: Mode = Mode.POSITION
    side: Literal["left", "right"] = "left"
    model: Path | None = None
    gains: tuple[float, ...] = (1.0, 2.0)
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    joints: list[str] = field(default_factory=list)
    poses: dict[str, dict[str, float]] = field(default_factory=dict)
    wheel: Wheel = field(default_factory=Wheel)
    wheels: dict[str, Wheel] = field(default_factory=dict)
    limit: int | str | None = None

    def __post_init__(self) -> None:
        require_in_range(self, "rate", 1.0, 1000.0, unit="Hz")


@dataclass(frozen=True, slots=True)
class Named:
    name: str


@dataclass(frozen=True, slots=True)
class Tree:
    robot: Robot = field(default_factory=Robot)
    speed: float = 1.0
    extra: Named | None = None


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    write(tmp_path / "default.yaml", "defaults:\n  - robot: big\n  - _self_\nspeed: 2.0\n")
    write(tmp_path / "robot/big.yaml", "name: big\nrate: 50\nwheel:\n  radius: 0.2\n")
    write(tmp_path / "robot/small.yaml", "name: small\ncount: 1\n")
    return tmp_path


def failure(schema: type, path: Path, overrides: tuple[str, ...] = ()) -> str:
    with pytest.raises(ConfigError) as caught:
        load_config(schema, path, overrides)
    return str(caught.value)


def tree_failure(root: Path, *overrides: str) -> str:
    with pytest.raises(ConfigError) as caught:
        compose_config(Tree, root, overrides=overrides)
    return str(caught.value)


def test_file_fills_the_dataclass_and_leaves_the_rest_at_its_defaults(tmp_path: Path) -> None:
    path = write(tmp_path / "robot.yaml", "name: arm\nrate: 50\nwheel:\n  radius: 0.2\n")
    assert load_config(Robot, path) == Robot(name="arm", rate=50.0, wheel=Wheel(radius=0.2))


def test_result_is_frozen(tmp_path: Path) -> None:
    config = load_config(Robot, write(tmp_path / "robot.yaml", "name: arm\n"))
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.name = "other"  # type: ignore[misc]


def test_every_kind_of_field_is_converted(tmp_path: Path) -> None:
    path = write(
        tmp_path / "robot.yaml",
        "mode: velocity\nside: right\nmodel: /tmp/x.xml\ngains: [1, 2.5]\noffset: [1, 2, 3]\n"
        "joints: [a, b]\nposes: {ready: {a: 1}}\nwheels: {left: {radius: 0.3}}\nlimit: 3\n",
    )
    assert load_config(Robot, path) == Robot(
        mode=Mode.VELOCITY,
        side="right",
        model=Path("/tmp/x.xml"),
        gains=(1.0, 2.5),
        offset=(1.0, 2.0, 3.0),
        joints=["a", "b"],
        poses={"ready": {"a": 1.0}},
        wheels={"left": Wheel(radius=0.3)},
        limit=3,
    )


@pytest.mark.parametrize("text", ["", "# Nothing but a comment.\n", "wheel:\n"])
def test_empty_file_or_section_means_the_defaults(tmp_path: Path, text: str) -> None:
    assert load_config(Robot, write(tmp_path / "robot.yaml", text)) == Robot()


def test_number_in_scientific_notation_needs_no_decimal_point(tmp_path: Path) -> None:
    path = write(tmp_path / "wheel.yaml", "radius: 1e-3\n")
    assert load_config(Wheel, path).radius == 1e-3


def test_override_takes_precedence_over_the_file_and_the_last_one_over_all(tmp_path: Path) -> None:
    path = write(tmp_path / "robot.yaml", "rate: 50\n")
    config = load_config(Robot, path, ["rate=60", "rate=70", "wheel.radius=0.5", "gains=[3]"])
    assert (config.rate, config.wheel.radius, config.gains) == (70.0, 0.5, (3.0,))


def test_reference_to_another_key_is_followed(tmp_path: Path) -> None:
    path = write(tmp_path / "robot.yaml", "count: 3\nrate: ${count}\n")
    assert load_config(Robot, path).rate == 3.0


def test_unknown_key_is_reported_with_its_line_and_the_nearest_valid_one(tmp_path: Path) -> None:
    path = write(tmp_path / "robot.yaml", "name: arm\nwheel:\n  radios: 0.2\n")
    message = failure(Robot, path)
    assert message.startswith(f"{path}:3: no key named 'radios' in 'wheel'")
    assert "did you mean 'radius'?" in message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rate: fast", "rate should be a number, got 'fast'"),
        ("rate: true", "rate should be a number, got True"),
        ("rate: .nan", "rate should be a number, got nan"),
        ("rate:", "rate should be a number, got None"),
        ("count: 1.5", "count should be a whole number, got 1.5"),
        ("count: true", "count should be a whole number, got True"),
        ("enabled: 1", "enabled should be true or false, got 1"),
        ("name: 7", "name should be text, got 7"),
        ("model: 7", "model should be a path, got 7"),
        ("gains: 1.0", "gains should be a list, each a number, got 1.0"),
        ("gains: [1, x]", "gains[1] should be a number, got 'x'"),
        ("offset: [1, 2]", "offset should be a list of 3: a number, a number, a number"),
        ("joints: {a: 1}", "joints should be a list, each text"),
        ("poses: [1]", "poses should be a section of keys and values, got [1]"),
        ("poses: {up: {a: b}}", "poses.up.a should be a number, got 'b'"),
        ("wheel: 3", "wheel should be a section of keys and values, got 3"),
        ("limit: 1.5", "limit should be a whole number or text or null, got 1.5"),
        ("mode: effort", "mode cannot be 'effort'; valid choices: position, velocity"),
        ("side: rihgt", "side cannot be 'rihgt'; did you mean 'right'?"),
        ("rate: 0", "rate must be between 1.0 and 1000.0 Hz, got 0.0"),
    ],
)
def test_wrong_value_is_reported_with_its_line_and_what_was_expected(
    tmp_path: Path, text: str, expected: str
) -> None:
    path = write(tmp_path / "robot.yaml", f"# First line.\n{text}\n")
    assert failure(Robot, path).startswith(f"{path}:2: {expected}")


def test_value_out_of_range_in_a_section_is_reported_with_its_full_key(tmp_path: Path) -> None:
    path = write(tmp_path / "robot.yaml", "wheels:\n  left:\n    radius: -1\n")
    assert failure(Robot, path) == f"{path}:3: wheels.left.radius must be positive, got -1.0"


def test_missing_key_without_default_is_reported(tmp_path: Path) -> None:
    path = write(tmp_path / "named.yaml", "")
    assert failure(Named, path) == f"{path}: name is missing and has no default"


def test_placeholder_without_a_value_is_reported(tmp_path: Path) -> None:
    path = write(tmp_path / "named.yaml", "name: ???\n")
    assert failure(Named, path).startswith(f"{path}:1: name: Missing mandatory value")


def test_reference_to_a_missing_key_is_reported_in_one_line(tmp_path: Path) -> None:
    path = write(tmp_path / "robot.yaml", "rate: ${nowhere}\n")
    message = failure(Robot, path)
    assert message == f"{path}:1: rate: Interpolation key 'nowhere' not found"


def test_reference_to_a_wrong_value_is_reported_with_the_referenced_key(tmp_path: Path) -> None:
    path = write(tmp_path / "robot.yaml", "name: fast\nrate: ${name}\n")
    message = failure(Robot, path)
    assert message == f"{path}:1 (through {path}:2): rate should be a number, got 'fast'"


def test_circular_references_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "robot.yaml", "count: ${rate}\nrate: ${count}\n")
    assert failure(Robot, path).startswith(f"{path}:")


def test_missing_file_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "absent.yaml"
    assert failure(Robot, path) == f"{path}: no such file"


def test_folder_instead_of_a_file_is_refused(tmp_path: Path) -> None:
    assert failure(Robot, tmp_path) == f"{tmp_path}: Is a directory"


@pytest.mark.parametrize(
    ("text", "line"),
    [("name: arm\nrate: [1, 2\ncount: 1\n", 3), ("name: a\nname: b\n", 2), ("a: b: c\n", 1)],
    ids=["bracket", "duplicate", "colon"],
)
def test_broken_yaml_is_reported_with_its_line(tmp_path: Path, text: str, line: int) -> None:
    path = write(tmp_path / "robot.yaml", text)
    assert failure(Robot, path).startswith(f"{path}:{line}: not valid YAML")


def test_list_instead_of_keys_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "robot.yaml", "- a\n- b\n")
    assert failure(Robot, path) == f"{path}: should contain keys and values, got a list"


def test_binary_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "robot.yaml"
    path.write_bytes(b"\xff\xfe\x00\x81")
    assert failure(Robot, path) == f"{path}: not a text file in UTF-8"


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("rade=3", "no key named 'rade'; did you mean 'rate'?"),
        ("wheel.radios=3", "no key named 'radios' in 'wheel'; did you mean 'radius'?"),
        ("rate=fast", "rate should be a number, got 'fast'"),
        ("wheel.radius=0", "wheel.radius must be positive, got 0.0"),
        ("wheel={radius: x}", "wheel.radius should be a number, got 'x'"),
        ("rate", "should be key=value"),
        ("=3", "should be key=value"),
        ("rate=1,2", "has several values; expected one"),
        ("~rate", "cannot delete a key of a file"),
    ],
)
def test_wrong_override_is_quoted_with_what_was_expected(
    tmp_path: Path, override: str, expected: str
) -> None:
    path = write(tmp_path / "robot.yaml", "rate: 50\n")
    assert failure(Robot, path, (override,)).startswith(f"override {override!r}: {expected}")


def test_tree_is_composed_from_its_defaults(tree: Path) -> None:
    expected = Robot(name="big", rate=50.0, wheel=Wheel(radius=0.2))
    assert compose_config(Tree, tree) == Tree(robot=expected, speed=2.0)


def test_group_and_value_overrides_work_together(tree: Path) -> None:
    config = compose_config(Tree, tree, overrides=["robot=small", "robot.rate=5", "speed=3"])
    assert config == Tree(robot=Robot(name="small", count=1, rate=5.0), speed=3.0)


def test_key_that_only_the_schema_knows_can_be_overridden(tree: Path) -> None:
    assert compose_config(Tree, tree, overrides=["robot.wheel.width=0.3"]).robot.wheel.width == 0.3


def test_optional_section_can_be_added(tree: Path) -> None:
    assert compose_config(Tree, tree, overrides=["+extra.name=x"]).extra == Named("x")


def test_deleted_group_leaves_the_defaults(tree: Path) -> None:
    assert compose_config(Tree, tree, overrides=["~robot"]).robot == Robot()


def test_wrong_value_in_a_tree_is_reported_with_its_file(tree: Path) -> None:
    write(tree / "robot/big.yaml", "name: big\nwheel:\n  radius: wide\n")
    path = tree / "robot/big.yaml"
    assert tree_failure(tree) == (f"{path}:3: robot.wheel.radius should be a number, got 'wide'")


def test_unknown_key_in_a_tree_is_reported_with_its_file(tree: Path) -> None:
    write(tree / "robot/big.yaml", "name: big\n\nrat: 3\n")
    message = tree_failure(tree)
    assert message.startswith(f"{tree / 'robot/big.yaml'}:3: no key named 'rat' in 'robot'")
    assert "did you mean 'rate'?" in message


def test_unknown_key_in_the_main_file_is_reported(tree: Path) -> None:
    write(tree / "default.yaml", "sped: 2.0\n")
    assert tree_failure(tree).startswith(f"{tree / 'default.yaml'}:1: no key named 'sped'")


def test_broken_yaml_in_a_tree_is_reported_with_its_line(tree: Path) -> None:
    path = write(tree / "robot/big.yaml", "name: big\nrate: [1\ncount: 1\n")
    assert tree_failure(tree).startswith(f"{path}:3: not valid YAML")


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("robot=smal", "did you mean 'small'? valid choices: big, small"),
        ("robt=small", "no key named 'robt'; did you mean 'robot'?"),
        ("robot.rade=3", "no key named 'rade' in 'robot'; did you mean 'rate'?"),
        ("robot.rate=0", "robot.rate must be between 1.0 and 1000.0 Hz, got 0.0"),
        ("hydra.run.dir=x", "no key named 'hydra'"),
        ("robot=null", "no option None"),
    ],
)
def test_wrong_override_of_a_tree_is_quoted_with_the_valid_choices(
    tree: Path, override: str, expected: str
) -> None:
    message = tree_failure(tree, override)
    assert message.startswith(f"override {override!r}: ")
    assert expected in message


def test_missing_file_of_the_defaults_list_is_reported(tree: Path) -> None:
    write(tree / "default.yaml", "defaults:\n  - robot: bigg\n")
    message = tree_failure(tree)
    assert message.startswith(f"{tree / 'default.yaml'}: its defaults name 'bigg'")
    assert "did you mean 'big'?" in message


def test_missing_main_file_is_reported_with_those_that_exist(tree: Path) -> None:
    with pytest.raises(ConfigError, match="did you mean 'default'"):
        compose_config(Tree, tree, name="defualt")


def test_composition_does_not_change_an_outer_hydra(tree: Path) -> None:
    with initialize_config_dir(str(tree), version_base="1.2"):
        outer = GlobalHydra.instance().hydra
        compose_config(Tree, tree)
        assert GlobalHydra.instance().hydra is outer
        assert compose("default").speed == 2.0
    assert not GlobalHydra.instance().is_initialized()


def test_failed_composition_clears_hydra(tree: Path) -> None:
    tree_failure(tree, "robot=absent")
    write(tree / "robot/big.yaml", "name: [\n")
    tree_failure(tree)
    assert not GlobalHydra.instance().is_initialized()


def test_trees_can_be_composed_from_several_threads(tree: Path) -> None:
    results: list[float] = []

    def run(speed: float) -> None:
        results.append(compose_config(Tree, tree, overrides=[f"speed={speed}"]).speed)

    threads = [threading.Thread(target=run, args=(float(index),)) for index in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=LIMIT)
    assert sorted(results) == [1.0, 2.0, 3.0, 4.0]
