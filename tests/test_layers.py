# SPDX-License-Identifier: Apache-2.0
"""Imports point downwards only, and third-party libraries stay where they belong."""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import pytest

import teleop_system

PACKAGE = "teleop_system"
ROOT = Path(teleop_system.__file__).parent
LONGEST_FILE = 400

# From the bottom upwards; a part imports itself and what stands in lines before its own.
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
# Nodes and adapters stand beside what they are about, but are made of all that is below `ros2`.
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
PLACES = {
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
ROS_PLACES = (*WIRING, "ros2/*", "stacks/*", "utils/ros2_*.py")
ROS_MODULES = ("rclpy", "std_srvs", "tf2_ros", "*_msgs", "*_interfaces", "launch", "launch_ros")


@dataclass(frozen=True)
class Import:
    """One import statement: where it stands and what it names."""

    path: str
    line: int
    module: str

    @property
    def importer(self) -> str:
        part = self.path.partition("/")[0].removesuffix(".py")
        is_wiring = part != "utils" and any(fnmatch(self.path, place) for place in WIRING)
        return "ros2" if is_wiring else part

    def __str__(self) -> str:
        return f"{self.path}:{self.line} imports {self.module}"


def sources() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def imports() -> Iterator[Import]:
    for path in sources():
        name = path.relative_to(ROOT).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield Import(name, node.lineno, alias.name)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{name}:{node.lineno} is a relative import"
                module = node.module or ""
                if module == PACKAGE:
                    for alias in node.names:
                        yield Import(name, node.lineno, f"{module}.{alias.name}")
                else:
                    yield Import(name, node.lineno, module)


def layer(part: str) -> int:
    found = [index for index, parts in enumerate(LAYERS) if part in parts]
    assert found, f"{part} has no layer; give it one in {Path(__file__).name}"
    return found[0]


def part_of(module: str) -> str:
    part = module.split(".")[1]
    exists = (ROOT / part).is_dir() or (ROOT / f"{part}.py").is_file()
    return part if exists else "__init__"  # A name such as `__version__`.


def imported_part(module: str) -> str:
    path = "/".join(module.split(".")[1:]) + ".py"
    part = part_of(module)
    is_wiring = part != "utils" and any(fnmatch(path, place) for place in WIRING)
    return "ros2" if is_wiring else part


def points_downwards(item: Import) -> bool:
    importer, imported = item.importer, imported_part(item.module)
    if importer == imported:
        return True
    return imported == "__init__" or layer(imported) < layer(importer)


def is_in_place(item: Import) -> bool:
    library = item.module.partition(".")[0]
    if any(fnmatch(library, pattern) for pattern in ROS_MODULES):
        return any(fnmatch(item.path, place) for place in ROS_PLACES)
    if library not in PLACES:
        return library in ANYWHERE
    return any(fnmatch(item.path, place) for place in PLACES[library])


def test_imports_point_downwards() -> None:
    wrong = [
        str(item)
        for item in imports()
        if item.module.startswith(f"{PACKAGE}.") and not points_downwards(item)
    ]
    assert not wrong


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
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
    ]
    assert not wrong


def test_every_file_names_its_licence_and_says_what_it_is() -> None:
    wrong = []
    for path in sources():
        text = path.read_text(encoding="utf-8")
        licensed = text.startswith("# SPDX-License-Identifier: Apache-2.0\n")
        if not licensed or ast.get_docstring(ast.parse(text)) is None:
            wrong.append(str(path.relative_to(ROOT)))
    assert not wrong


def test_no_file_is_too_long_to_read_at_once() -> None:
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
def test_an_import_that_points_upwards_would_be_found(path: str, module: str) -> None:
    assert not points_downwards(Import(path, 1, module))


@pytest.mark.parametrize(
    ("path", "module"),
    [
        ("interfaces/simulator.py", "mujoco"),
        ("simulators/mujoco_sim.py", "pinocchio"),
        ("modules/arm_teleop/arm_controller.py", "rclpy.node"),
        ("modules/arm_teleop/arm_controller.py", "sensor_msgs.msg"),
        ("simulators/mujoco_sim.py", "rclpy.node"),
        ("utils/logger.py", "some_library_nobody_has_placed"),
    ],
)
def test_a_library_out_of_its_place_would_be_found(path: str, module: str) -> None:
    assert not is_in_place(Import(path, 1, module))
