# SPDX-License-Identifier: Apache-2.0
"""Promises of every device and robot part about connecting and disconnecting."""

import abc
import contextlib
from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar


class Connectable(Protocol):
    """Common methods of devices and robot parts."""

    def initialize(self) -> bool:
        """Connect."""

    def is_connected(self) -> bool:
        """Return whether connected."""

    def shutdown(self) -> None:
        """Disconnect."""


PartT = TypeVar("PartT", bound=Connectable)


class LifecycleSuite(abc.ABC, Generic[PartT]):
    """Tests of connecting and disconnecting, shared by the suites of devices and robots."""

    @abc.abstractmethod
    def create(self) -> PartT:
        """Return a new implementation that `initialize()` can connect in the test."""

    @contextlib.contextmanager
    def connected(self) -> Iterator[PartT]:
        """Yield an initialised implementation and shut it down afterwards."""
        part = self.create()
        assert part.initialize() is True, "initialize() must return True on success"
        try:
            yield part
        finally:
            part.shutdown()

    def test_is_not_connected_before_initialize(self) -> None:
        """A new object is not connected."""
        assert self.create().is_connected() is False

    def test_is_connected_between_initialize_and_shutdown(self) -> None:
        """Connection follows `initialize()` and `shutdown()`."""
        with self.connected() as part:
            assert part.is_connected() is True
        assert part.is_connected() is False

    def test_shutdown_is_safe_twice_and_before_initialize(self) -> None:
        """Clean-up code may call `shutdown()` in every state."""
        part = self.create()
        part.shutdown()
        assert part.initialize() is True
        part.shutdown()
        part.shutdown()
        assert part.is_connected() is False

    def test_can_be_initialized_again_after_shutdown(self) -> None:
        """A part can be connected again after `shutdown()`."""
        part = self.create()
        for _ in range(2):
            assert part.initialize() is True
            assert part.is_connected() is True
            part.shutdown()
