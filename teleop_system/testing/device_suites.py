# SPDX-License-Identifier: Apache-2.0
"""Suites for the operator's devices: trackers, hand inputs and cameras."""

import numpy as np
import pytest

from teleop_system.exceptions import DeviceNotConnectedError
from teleop_system.interfaces import (
    HandJointState,
    ICameraStream,
    IHandInput,
    IMasterTracker,
    Pose6D,
    RGBDFrame,
    TrackerRole,
)
from teleop_system.testing.lifecycle import LifecycleSuite

SAMPLES = 20


class MasterTrackerSuite(LifecycleSuite[IMasterTracker]):
    """Promises of every `IMasterTracker`."""

    def test_role_is_known_and_does_not_change(self) -> None:
        """The role depends on the body part, not on the connection."""
        tracker = self.create()
        role = tracker.get_role()
        assert isinstance(role, TrackerRole)
        assert tracker.initialize() is True
        assert tracker.get_role() is role
        tracker.shutdown()
        assert tracker.get_role() is role

    def test_pose_is_invalid_while_not_connected(self) -> None:
        """Before and after the connection the pose is invalid; this is not an error."""
        tracker = self.create()
        assert tracker.get_pose().valid is False
        assert tracker.initialize() is True
        tracker.shutdown()
        assert tracker.get_pose().valid is False

    def test_valid_poses_have_unit_quaternions(self) -> None:
        """A quaternion without unit length must not be marked valid."""
        with self.connected() as tracker:
            for _ in range(SAMPLES):
                pose = tracker.get_pose()
                assert isinstance(pose, Pose6D)
                if pose.valid:
                    assert abs(np.linalg.norm(pose.orientation) - 1.0) < 1e-6

    def test_time_stamps_never_run_backwards(self) -> None:
        """Controllers rely on the order of samples."""
        with self.connected() as tracker:
            stamps = [tracker.get_pose().timestamp for _ in range(SAMPLES)]
        assert stamps == sorted(stamps)


class HandInputSuite(LifecycleSuite[IHandInput]):
    """Promises of every `IHandInput`."""

    def test_side_is_left_or_right_and_on_every_state(self) -> None:
        """A state has the side of its device."""
        with self.connected() as hand:
            assert hand.get_side() in ("left", "right")
            assert hand.get_joint_state().side == hand.get_side()

    def test_state_is_invalid_while_not_connected(self) -> None:
        """Before and after the connection the state is invalid; this is not an error."""
        hand = self.create()
        assert hand.get_joint_state().valid is False
        assert hand.initialize() is True
        hand.shutdown()
        assert hand.get_joint_state().valid is False

    def test_valid_angles_are_those_of_a_hand(self) -> None:
        """Radians, not degrees: no finger joint rotates by more than pi."""
        with self.connected() as hand:
            for _ in range(SAMPLES):
                state = hand.get_joint_state()
                assert isinstance(state, HandJointState)
                if state.valid:
                    assert np.abs(state.joint_angles).max() <= np.pi

    def test_time_stamps_never_run_backwards(self) -> None:
        """Controllers rely on the order of samples."""
        with self.connected() as hand:
            stamps = [hand.get_joint_state().timestamp for _ in range(SAMPLES)]
        assert stamps == sorted(stamps)


class CameraStreamSuite(LifecycleSuite[ICameraStream]):
    """Promises of every `ICameraStream`."""

    def test_frames_carry_usable_geometry(self) -> None:
        """Depth is in metres and the camera pose is a rigid transform."""
        with self.connected() as camera:
            frame = camera.get_rgbd()
        assert isinstance(frame, RGBDFrame)
        assert np.isfinite(frame.depth).all()
        assert frame.depth.min() >= 0.0
        rotation = frame.extrinsics[:3, :3]
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-6)
        np.testing.assert_allclose(frame.extrinsics[3], [0, 0, 0, 1], atol=0)

    def test_intrinsics_are_those_of_the_frames(self) -> None:
        """`get_intrinsics()` returns the camera matrix of the frames."""
        with self.connected() as camera:
            matrix = camera.get_intrinsics()
            frame = camera.get_rgbd()
        np.testing.assert_allclose(matrix, frame.intrinsics)
        assert matrix[0, 0] > 0
        assert matrix[1, 1] > 0

    def test_orientation_stays_within_the_limits_of_the_neck(self) -> None:
        """A request beyond a limit is clamped, not refused."""
        with self.connected() as camera:
            camera.set_orientation(100.0, -100.0)
            pan, tilt = camera.get_orientation()
        assert abs(pan) <= np.pi
        assert abs(tilt) <= np.pi

    def test_a_closed_camera_gives_no_frames(self) -> None:
        """An old image must not be used as a live one."""
        camera = self.create()
        with pytest.raises(DeviceNotConnectedError):
            camera.get_rgbd()
