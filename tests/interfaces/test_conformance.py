# SPDX-License-Identifier: Apache-2.0
"""The suites pass for correct implementations, and fail for wrong ones."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from teleop_system import testing
from teleop_system.exceptions import DeviceNotConnectedError
from teleop_system.interfaces import IMasterTracker, Pose6D, TrackerRole
from teleop_system.testing.lifecycle import LifecycleSuite
from tests.interfaces.reference_parts import EchoArm, EchoBase, EchoHand, GreyCamera


class TestEchoArm(testing.SlaveArmSuite):
    def create(self) -> EchoArm:
        return EchoArm()


class TestEchoHand(testing.SlaveHandSuite):
    def create(self) -> EchoHand:
        return EchoHand()


class TestEchoBase(testing.MobileBaseSuite):
    def create(self) -> EchoBase:
        return EchoBase()


class TestGreyCamera(testing.CameraStreamSuite):
    def create(self) -> GreyCamera:
        return GreyCamera()


class NanSwallowingArm(EchoArm):
    def send_joint_command(self, joint_positions: NDArray[np.float64]) -> None:
        self.require_connection()
        self.positions = np.nan_to_num(joint_positions)


class DeafBase(EchoBase):
    def send_velocity(self, linear_x: float, linear_y: float, angular_z: float) -> None:
        pass


class StaleCamera(GreyCamera):
    def require_connection(self) -> None:
        pass


class SelfConnectedArm(EchoArm):
    def is_connected(self) -> bool:
        return True


class BoldTracker(IMasterTracker):
    """Returns a valid pose while it is not connected, with an invalid orientation."""

    def initialize(self) -> bool:
        return True

    def get_pose(self) -> Pose6D:
        return Pose6D(np.zeros(3), np.full(4, 0.7))

    def is_connected(self) -> bool:
        return True

    def get_role(self) -> TrackerRole:
        return TrackerRole.HEAD

    def shutdown(self) -> None:
        pass


def suite_of(base: type[LifecycleSuite], part: Callable[[], object]) -> LifecycleSuite:
    return type("Suite", (base,), {"create": lambda self: part()})()


@pytest.mark.parametrize(
    ("base", "part", "test", "arguments"),
    [
        (
            testing.SlaveArmSuite,
            NanSwallowingArm,
            "test_a_command_that_is_not_finite_is_refused",
            [np.nan],
        ),
        (testing.SlaveArmSuite, SelfConnectedArm, "test_is_not_connected_before_initialize", []),
        (
            testing.MobileBaseSuite,
            DeafBase,
            "test_a_command_to_a_disconnected_base_is_refused",
            [],
        ),
        (testing.CameraStreamSuite, StaleCamera, "test_a_closed_camera_gives_no_frames", []),
        (testing.MasterTrackerSuite, BoldTracker, "test_pose_is_invalid_while_not_connected", []),
        (testing.MasterTrackerSuite, BoldTracker, "test_valid_poses_have_unit_quaternions", []),
    ],
)
def test_a_broken_promise_is_detected(
    base: type[LifecycleSuite], part: Callable[[], object], test: str, arguments: list[object]
) -> None:
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        getattr(suite_of(base, part), test)(*arguments)


def test_the_error_of_an_unconnected_device_names_the_remedy() -> None:
    with pytest.raises(DeviceNotConnectedError, match=r"'EchoArm'.*initialize"):
        EchoArm().send_joint_command(np.zeros(7))
