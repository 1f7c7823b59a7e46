# SPDX-License-Identifier: Apache-2.0
"""What all tests share."""

import os

# Small matrices are slower, not faster, on several threads; NumPy reads this when it loads.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from pathlib import Path

import pytest

pytest.register_assert_rewrite("teleop_system.testing")

REALTIME = (
    "ros2/test_end_to_end.py",
    "ros2/test_harness.py",
    "ros2/test_interrupts.py",
    "ros2/test_module_node",
    "ros2/test_fast_dds.py",
    "modules/camera/test_ros2_rgbd_subscriber.py",
    "modules/camera/test_rgbd_stream_node.py",
    "stacks/supervisor/test_supervisor.py",
    "stacks/test_running_stack.py",
    "mocap/test_bvh_replay_publisher.py",
    "simulators/mujoco_ros2_bridge/",
    "simulators/test_dummy_pubs.py",
    "devices/test_clutch_keyboard_node.py",
)
"""Tests that start nodes in separate processes; tests that run at the same time disturb them."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that other load disturbs."""
    here = Path(__file__).parent
    for item in items:
        if item.path.relative_to(here).as_posix().startswith(REALTIME):
            item.add_marker(pytest.mark.realtime)


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: "pytest.TerminalReporter") -> None:
    """End the run with a list of the tests that were run again, and why."""
    reports = terminalreporter.stats.get("rerun", [])
    if reports:
        terminalreporter.section(f"run again: {len(reports)}", yellow=True)
    for report in reports:
        reason = getattr(report.longrepr, "reprcrash", None)
        lines = getattr(reason, "message", "").splitlines() or ["no reason given"]
        terminalreporter.line(f"{report.nodeid}: {lines[0]}")


@pytest.fixture(autouse=True, scope="session")
def own_domain() -> None:
    """Give every test process a ROS 2 domain of its own; processes that it starts inherit it."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    os.environ["ROS_DOMAIN_ID"] = str(int(os.environ.get("ROS_DOMAIN_ID", "40")) + worker)
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
