# SPDX-License-Identifier: Apache-2.0
"""Packaging, both for pip and for colcon (ament_python)."""

from pathlib import Path

from setuptools import find_packages, setup

NAME = "teleop_system"
ROOT = Path(__file__).parent

CORE = ["numpy>=1.24", "omegaconf>=2.3", "hydra-core>=1.3", "rich>=13", "typer>=0.12"]
CORE += ["typing_extensions>=4.5", "PyYAML>=6"]

EXTRAS = {
    "sim": ["mujoco>=3.3", "numba>=0.60", "pillow", "imageio-ffmpeg"],
    "ik": [
        "pin>=3.4",
        "pin-pink>=3.3",
        "qpsolvers>=4.4",
        "daqp>=0.7",
        "proxsuite>=0.7",
        "numba>=0.60",
        "scipy>=1.10",
    ],
    "ros": [
        "ros-rclpy[fastrtps]",
        "ros-diagnostic-msgs",
        "ros-geometry-msgs",
        "ros-lifecycle-msgs",
        "ros-nav-msgs",
        "ros-rosgraph-msgs",
        "ros-sensor-msgs",
        "ros-std-srvs",
        "ros-trajectory-msgs",
        "ros-visualization-msgs",
    ],
    "gui": ["dearpygui>=2.0"],
    "mocap": ["bvhio>=1.5", "scipy>=1.10"],
    "streaming": ["lz4>=4.3", "simplejpeg>=1.7", "numba>=0.60", "websockets>=13"],
    "viz": ["open3d>=0.18", "matplotlib>=3.7"],
    "vive": ["openvr>=2.2"],
    "rby1": ["rby1-sdk>=0.6"],
    "dev": [
        "hypothesis>=6.100",
        "loop-rate-limiters>=1.0",
        "matplotlib>=3.7",
        "mypy>=1.10",
        "psutil>=5.9",
        "pytest>=8",
        "pytest-rerunfailures>=14",
        "pytest-xdist>=3.5",
        "ruckig>=0.14",
        "ruff>=0.6",
        "scipy>=1.10",
        "types-PyYAML",
    ],
}
# One executable per node, under the name that the node has in the ROS 2 graph.
NODES = {
    "mujoco_bridge": "simulators.mujoco_ros2_bridge",
    "arm_teleop_node": "modules.arm_teleop.arm_teleop_node",
    "hand_teleop_node": "modules.hand_teleop.hand_teleop_node",
    "locomotion_node": "modules.locomotion.locomotion_node",
    "camera_node": "modules.camera.camera_node",
    "rgbd_stream_node": "modules.camera.rgbd_stream_node",
    "dummy_tracker_pub": "simulators.dummy_tracker_pub",
    "dummy_glove_pub": "simulators.dummy_glove_pub",
    "dummy_hmd_pub": "simulators.dummy_hmd_pub",
    "bvh_replay_publisher": "mocap.bvh_replay_publisher",
    "clutch_keyboard": "devices.clutch_keyboard_node",
}
EXTRAS["all"] = sorted({package for packages in EXTRAS.values() for package in packages})


def shared_files() -> list[tuple[str, list[str]]]:
    """Return the files for `share/teleop_system`, in their folders."""
    shared = [
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ]
    for tree in ("config", "launch", "models"):
        folders: dict[str, list[str]] = {}
        for path in sorted((ROOT / tree).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                relative = path.relative_to(ROOT)
                folders.setdefault(str(relative.parent), []).append(str(relative))
        shared += [(f"share/{NAME}/{folder}", files) for folder, files in folders.items()]
    return shared


setup(
    name=NAME,
    version="0.1.0",
    description="Whole-body teleoperation of the Rainbow RB-Y1 with ROS 2 and MuJoCo.",
    long_description=(ROOT / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    maintainer="teleop_system maintainers",
    maintainer_email="maintainers@teleop-system.example",
    python_requires=">=3.10",
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    package_data={NAME: ["py.typed", "modules/camera/streaming/web/*", "ros2/*.xml"]},
    data_files=shared_files(),
    install_requires=CORE,
    extras_require=EXTRAS,
    zip_safe=True,
    entry_points={
        "console_scripts": [
            f"teleop = {NAME}.cli.main:main",
            *(f"{name} = {NAME}.{module}:main" for name, module in NODES.items()),
        ]
    },
)
