# SPDX-License-Identifier: Apache-2.0
"""Suite for physics simulators."""

import abc
import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from teleop_system.exceptions import (
    InvalidJointStateError,
    InvalidValueError,
    ModelError,
    RenderingUnavailableError,
    UnknownNameError,
)
from teleop_system.interfaces import ISimulator

STEPS = 50


class SimulatorSuite(abc.ABC):
    """Promises of every `ISimulator`."""

    @abc.abstractmethod
    def create(self) -> ISimulator:
        """Return a new, not yet initialised simulator."""

    @abc.abstractmethod
    def config(self) -> dict[str, Any]:
        """Return a valid configuration; `mjcf_path` names the model."""

    @contextlib.contextmanager
    def running(self) -> Iterator[ISimulator]:
        """Yield an initialised simulator and shut it down afterwards."""
        simulator = self.create()
        assert simulator.initialize(self.config()) is True
        try:
            yield simulator
        finally:
            simulator.shutdown()

    def test_a_missing_model_is_named(self) -> None:
        """The message names the missing file."""
        with pytest.raises(ModelError, match="no_such_model"):
            self.create().initialize(self.config() | {"mjcf_path": "no_such_model.xml"})

    def test_joint_vectors_follow_the_joint_names(self) -> None:
        """One position and one velocity per name, and no name twice."""
        with self.running() as simulator:
            names = simulator.get_joint_names()
            state = simulator.get_state()
        assert names
        assert len(set(names)) == len(names)
        assert state.joint_positions.shape == (len(names),)
        assert state.joint_velocities.shape == (len(names),)
        assert abs(np.linalg.norm(state.base_orientation) - 1.0) < 1e-6

    def test_time_advances_by_the_requested_step(self) -> None:
        """`step(dt)` fills dt with whole physics steps."""
        with self.running() as simulator:
            assert simulator.get_time() == 0.0
            simulator.step()
            tick = simulator.get_time()
            assert tick > 0.0
            simulator.step(10 * tick)
            assert simulator.get_time() == pytest.approx(11 * tick, abs=1e-9)
            assert simulator.get_state().timestamp == simulator.get_time()

    def test_a_snapshot_does_not_change_with_the_simulation(self) -> None:
        """Recorded states must stay constant."""
        with self.running() as simulator:
            before = simulator.get_state()
            kept = before.joint_positions.copy()
            simulator.set_joint_positions(kept + 0.05)
            simulator.step(0.1)
            np.testing.assert_array_equal(before.joint_positions, kept)
            assert np.abs(simulator.get_state().joint_positions - kept).max() > 1e-4

    def test_reset_repeats_the_same_motion_to_the_last_bit(self) -> None:
        """A run can be reproduced."""
        with self.running() as simulator:
            runs = []
            for _ in range(2):
                simulator.reset()
                assert simulator.get_time() == 0.0
                simulator.set_joint_positions(simulator.get_state().joint_positions + 0.02)
                for _ in range(STEPS):
                    simulator.step()
                runs.append(simulator.get_state().joint_positions)
        np.testing.assert_array_equal(runs[0], runs[1])

    @pytest.mark.parametrize("bad", [np.nan, np.inf])
    def test_a_command_that_is_not_finite_is_refused(self, bad: float) -> None:
        """The last command stays active."""
        with self.running() as simulator:
            command = simulator.get_state().joint_positions.copy()
            command[-1] = bad
            with pytest.raises(InvalidJointStateError):
                simulator.set_joint_positions(command)
            simulator.step(0.1)
            assert np.isfinite(simulator.get_state().joint_positions).all()

    def test_a_command_of_another_length_is_refused(self) -> None:
        """The number of joints must match."""
        with self.running() as simulator, pytest.raises(InvalidJointStateError):
            simulator.set_joint_positions(np.zeros(len(simulator.get_joint_names()) + 1))

    def test_a_base_speed_that_is_not_finite_is_refused(self) -> None:
        """NaN must never reach a wheel."""
        with self.running() as simulator, pytest.raises(InvalidValueError):
            simulator.set_base_velocity(np.nan, 0.0, 0.0)

    def test_an_unknown_camera_is_named_with_the_valid_ones(self) -> None:
        """Without rendering, a different error is raised."""
        with (
            self.running() as simulator,
            pytest.raises((UnknownNameError, RenderingUnavailableError)),
        ):
            simulator.get_camera_rgbd("no_such_camera")

    def test_render_returns_a_colour_image_or_none(self) -> None:
        """Without OpenGL the simulator still runs."""
        with self.running() as simulator:
            image = simulator.render()
        if image is not None:
            assert image.dtype == np.uint8
            assert image.ndim == 3
            assert image.shape[2] == 3

    def test_shutdown_is_safe_twice(self) -> None:
        """Clean-up code may call it in every state."""
        simulator = self.create()
        simulator.shutdown()
        assert simulator.initialize(self.config()) is True
        simulator.shutdown()
        simulator.shutdown()
