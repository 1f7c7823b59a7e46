# SPDX-License-Identifier: Apache-2.0
"""Imports point downwards without cycles, and third-party libraries stay where they belong."""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import teleop_system

PACKAGE = "teleop_system"
ROOT = Path(teleop_system.__file__).parent
LONGEST_FILE = 400

# From the bottom upwards: a room imports itself and the rooms in the lines before its own.
LAYERS = (
    ("__init__", "exceptions"),
    ("utils",),
    ("interfaces",),
    ("registry", "testing"),
    ("robots",),
    ("calibration", "solvers"),
    ("simulators",),
    ("mocap",),
    ("devices",),
    ("timing",),
    ("safety",),
    ("robot_side",),
    ("modules",),
    ("settings",),
    ("session",),
    ("ros2",),
    ("stacks", "gui", "tools"),
    ("cli",),
)
# Nodes and adapters lie beside their subject, under names that are part of the public layout, but
# belong to the layer of `ros2/`.
WIRING = (
    "*_node.py",
    "*/ros2_*.py",
    "simulators/mujoco_ros2_bridge.py",
    "simulators/dummy_*_pub.py",
    "devices/*_pub.py",
    "devices/realsense_camera.py",
    "mocap/bvh_replay_publisher.py",
)
ANYWHERE = ("numpy", "typing_extensions")
# Where a library may be imported, as patterns of paths within the package.
LIBRARIES = {
    "mujoco": ("simulators/*", "robots/*", "tools/*"),
    "pinocchio": ("solvers/*",),
    "coal": ("solvers/*",),
    "pink": ("solvers/*",),
    "qpsolvers": ("solvers/*",),
    "daqp": ("solvers/*",),
    "proxsuite": ("solvers/*",),
    "osqp": ("solvers/*",),
    "scipy": ("solvers/*", "simulators/*", "mocap/*", "calibration/*", "modules/*", "tools/*"),
    "bvhio": ("mocap/*",),
    "hydra": ("utils/*",),
    "omegaconf": ("utils/*",),
    "yaml": ("utils/*", "robots/*", "cli/*"),
    "typer": ("cli/*",),
    "rich": ("cli/*", "stacks/*", "tools/*", "utils/*", "session/*"),
    "PIL": ("tools/*",),
    "imageio_ffmpeg": ("tools/*",),
    "matplotlib": ("tools/*", "session/*"),
    "lz4": ("modules/camera/*",),
    "simplejpeg": ("modules/camera/*",),
    "websockets": ("modules/camera/*",),
    "open3d": ("modules/camera/*",),
    "pytest": ("testing/*",),
}
ROS_PATHS = (*WIRING, "ros2/*", "stacks/*", "utils/ros2_*.py")
ROS_MODULES = ("rclpy", "std_srvs", "tf2_ros", "*_msgs", "*_interfaces", "launch", "launch_ros")


@dataclass(frozen=True)
class Import:
    """One import statement, wherever it is in a file: a function and `TYPE_CHECKING` count too."""

    path: str
    line: int
    module: str

    @property
    def importer(self) -> str:
        return room_of(module_of(self.path))

    def __str__(self) -> str:
        return f"{self.path}:{self.line} imports {self.module}"


def sources() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def module_of(path: str) -> str:
    """Return the name of a module, given its path within the package."""
    return ".".join(
        (PACKAGE, *path.removesuffix(".py").removesuffix("__init__").split("/"))
    ).strip(".")


def is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split(".")[1:])
    return path.is_dir() or path.with_suffix(".py").is_file()


@cache
def syntax_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports() -> tuple[Import, ...]:
    return tuple(_imports())


def _imports() -> Iterator[Import]:
    for path in sources():
        name = path.relative_to(ROOT).as_posix()
        for node in ast.walk(syntax_of(path)):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield Import(name, node.lineno, alias.name)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{name}:{node.lineno} is a relative import"
                module = node.module or ""
                ours = module.partition(".")[0] == PACKAGE
                for alias in node.names:
                    full = f"{module}.{alias.name}"
                    yield Import(name, node.lineno, full if ours and is_module(full) else module)


def layer(room: str) -> int:
    found = [index for index, rooms in enumerate(LAYERS) if room in rooms]
    assert found, f"{room} has no layer; give it one in {Path(__file__).name}"
    return found[0]


def room_of(module: str) -> str:
    """Return the room that a module belongs to; nodes and adapters belong to `ros2`."""
    parts = module.split(".")[1:] or ["__init__"]
    path = "/".join(parts) + ".py"
    if parts[0] != "utils" and any(fnmatch(path, pattern) for pattern in WIRING):
        return "ros2"
    return parts[0]


def points_downwards(item: Import) -> bool:
    importer, imported = item.importer, room_of(item.module)
    return importer == imported or layer(imported) < layer(importer)


def dependencies() -> dict[str, set[str]]:
    """Return what each module of the package imports from the package."""
    found: dict[str, set[str]] = {
        module_of(path.relative_to(ROOT).as_posix()): set() for path in sources()
    }
    for item in imports():
        if item.module.partition(".")[0] == PACKAGE:
            found[module_of(item.path)] |= {item.module}
    return found


def within(package: str, graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return what the files and sub-packages of a package import from one another."""

    def part(module: str) -> str | None:
        if module == package:
            return f"{package}.__init__"
        if not module.startswith(f"{package}."):
            return None
        return ".".join(module.split(".")[: package.count(".") + 2])

    found: dict[str, set[str]] = {}
    for importer, modules in graph.items():
        if (source := part(importer)) is not None:
            ends = {part(module) for module in modules} - {None, source}
            found.setdefault(source, set()).update(end for end in ends if end is not None)
    return found


def cycle(graph: dict[str, set[str]]) -> list[str]:
    """Return a cycle of a graph; empty without one."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def is_in_place(item: Import) -> bool:
    library = item.module.partition(".")[0]
    if any(fnmatch(library, pattern) for pattern in ROS_MODULES):
        return any(fnmatch(item.path, path) for path in ROS_PATHS)
    if library not in LIBRARIES:
        return library in ANYWHERE
    return any(fnmatch(item.path, path) for path in LIBRARIES[library])


def test_imports_point_downwards() -> None:
    wrong = [
        str(item)
        for item in imports()
        if item.module.startswith(f"{PACKAGE}.") and not points_downwards(item)
    ]
    assert not wrong


def test_no_module_imports_itself_through_others() -> None:
    assert not cycle(dependencies())


def test_no_sub_package_and_no_file_beside_it_import_each_other() -> None:
    graph = dependencies()
    rooms = {path.parent.relative_to(ROOT).as_posix() for path in sources()} - {"."}
    cycles = {room: cycle(within(module_of(room), graph)) for room in sorted(rooms)}
    assert not {room: found for room, found in cycles.items() if found}


def test_third_party_libraries_are_imported_only_where_they_belong() -> None:
    wrong = [
        str(item)
        for item in imports()
        if item.module.partition(".")[0] not in (PACKAGE, *sys.stdlib_module_names)
        and not is_in_place(item)
    ]
    assert not wrong


def test_interfaces_need_numpy_alone() -> None:
    libraries = {
        item.module.partition(".")[0] for item in imports() if item.importer == "interfaces"
    }
    assert libraries - set(sys.stdlib_module_names) <= {PACKAGE, "numpy", "typing_extensions"}


def test_nothing_in_the_package_prints() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sources()
        for node in ast.walk(syntax_of(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
    ]
    assert not wrong


def test_every_file_has_a_licence_and_a_docstring() -> None:
    wrong = []
    for path in sources():
        text = path.read_text(encoding="utf-8")
        licensed = text.startswith("# SPDX-License-Identifier: Apache-2.0\n")
        if not licensed or ast.get_docstring(syntax_of(path)) is None:
            wrong.append(str(path.relative_to(ROOT)))
    assert not wrong


def test_no_file_is_too_long() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in sources()}
    assert not {str(path): lines for path, lines in lengths.items() if lines > LONGEST_FILE}


@pytest.mark.parametrize(
    ("path", "module"),
    [
        ("interfaces/simulator.py", "teleop_system.robots"),
        ("solvers/dls_solver.py", "teleop_system.simulators.mujoco_sim"),
        ("utils/paths.py", "teleop_system.interfaces"),
        ("robots/mjcf.py", "teleop_system.cli.main"),
        ("simulators/simulated_robot.py", "teleop_system.ros2.cdr"),
        ("simulators/simulated_robot.py", "teleop_system.simulators.mujoco_ros2_bridge"),
    ],
)
def test_an_upward_import_is_detected(path: str, module: str) -> None:
    assert not points_downwards(Import(path, 1, module))


def test_a_cycle_between_a_sub_package_and_a_file_is_detected() -> None:
    graph = {
        "teleop_system.safety.guards.workspace": {"teleop_system.safety.values"},
        "teleop_system.safety.values": {"teleop_system.safety.guards.kernels"},
        "teleop_system.safety.guards.kernels": set(),
    }
    assert not cycle(graph)
    assert cycle(within("teleop_system.safety", graph))
    assert not cycle(within("teleop_system.safety.guards", graph))


@pytest.mark.parametrize(
    ("path", "module"),
    [
        ("interfaces/simulator.py", "mujoco"),
        ("simulators/mujoco_sim.py", "pinocchio"),
        ("modules/arm_teleop/arm_controller.py", "rclpy.node"),
        ("modules/arm_teleop/arm_controller.py", "sensor_msgs.msg"),
        ("simulators/mujoco_sim.py", "rclpy.node"),
        ("utils/logger.py", "some_unlisted_library"),
    ],
)
def test_a_library_in_the_wrong_package_is_detected(path: str, module: str) -> None:
    assert not is_in_place(Import(path, 1, module))
