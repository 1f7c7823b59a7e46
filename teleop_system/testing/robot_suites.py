# SPDX-License-Identifier: Apache-2.0
"""Suites for parts of a robot: arms, hands and the mobile base."""

import numpy as np
import pytest

from teleop_system.exceptions import (
    DeviceNotConnectedError,
    InvalidJointStateError,
    InvalidValueError,
)
from teleop_system.interfaces import ArmSide, IMobileBase, ISlaveArm, ISlaveHand
from teleop_system.testing.lifecycle import LifecycleSuite, PartT


class _JointCommandSuite(LifecycleSuite[PartT]):
    """Promises of arms and hands about joint vectors."""

    def test_state_has_one_position_per_joint(self) -> None:
        """Count, positions and names agree."""
        with self.connected() as part:
            assert isinstance(part, ISlaveArm | ISlaveHand)
            count = part.get_joint_count()
            state = part.get_joint_state()
        assert count > 0
        assert state.positions.shape == (count,)
        assert len(state.names) == count

    def test_present_position_is_an_acceptable_command(self) -> None:
        """A joint can always be commanded to its measured position."""
        with self.connected() as part:
            assert isinstance(part, ISlaveArm | ISlaveHand)
            part.send_joint_command(part.get_joint_state().positions)

    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    def test_a_command_that_is_not_finite_is_refused(self, bad: float) -> None:
        """NaN must never reach an actuator."""
        with self.connected() as part:
            assert isinstance(part, ISlaveArm | ISlaveHand)
            command = part.get_joint_state().positions.copy()
            command[-1] = bad
            with pytest.raises(InvalidJointStateError):
                part.send_joint_command(command)

    def test_a_command_of_another_length_is_refused(self) -> None:
        """A command for another part must not move this one."""
        with self.connected() as part:
            assert isinstance(part, ISlaveArm | ISlaveHand)
            for size in (0, part.get_joint_count() - 1, part.get_joint_count() + 1):
                with pytest.raises(InvalidJointStateError):
                    part.send_joint_command(np.zeros(size))

    def test_a_command_to_a_disconnected_part_is_refused(self) -> None:
        """A command is never dropped silently."""
        part = self.create()
        assert isinstance(part, ISlaveArm | ISlaveHand)
        with pytest.raises(DeviceNotConnectedError):
            part.send_joint_command(np.zeros(part.get_joint_count()))


class SlaveArmSuite(_JointCommandSuite[ISlaveArm]):
    """Promises of every `ISlaveArm`."""

    def test_side_is_an_arm_side(self) -> None:
        """Left, right or the torso."""
        assert isinstance(self.create().get_side(), ArmSide)


class SlaveHandSuite(_JointCommandSuite[ISlaveHand]):
    """Promises of every `ISlaveHand`."""

    def test_side_is_left_or_right(self) -> None:
        """A hand belongs to one arm."""
        assert self.create().get_side() in ("left", "right")


class MobileBaseSuite(LifecycleSuite[IMobileBase]):
    """Promises of every `IMobileBase`."""

    def test_odometry_is_a_pose(self) -> None:
        """A position and a unit quaternion xyzw."""
        with self.connected() as base:
            position, orientation = base.get_odometry()
        assert position.shape == (3,)
        assert orientation.shape == (4,)
        assert abs(np.linalg.norm(orientation) - 1.0) < 1e-6

    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    def test_a_speed_that_is_not_finite_is_refused(self, bad: float) -> None:
        """NaN must never reach a wheel."""
        with self.connected() as base:
            for axis in range(3):
                speeds = [0.0, 0.0, 0.0]
                speeds[axis] = bad
                with pytest.raises(InvalidValueError):
                    base.send_velocity(*speeds)

    def test_stop_is_safe_in_every_state(self) -> None:
        """`stop()` must never fail."""
        base = self.create()
        base.stop()
        assert base.initialize() is True
        base.send_velocity(0.1, 0.0, 0.0)
        base.stop()
        base.stop()
        base.shutdown()
        base.stop()

    def test_a_command_to_a_disconnected_base_is_refused(self) -> None:
        """A command is never dropped silently."""
        with pytest.raises(DeviceNotConnectedError):
            self.create().send_velocity(0.0, 0.0, 0.0)
