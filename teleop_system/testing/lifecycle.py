# SPDX-License-Identifier: Apache-2.0
"""What every connectable part promises, whatever it is: initialize, use, shut down."""

import abc
import contextlib
from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar


class Connectable(Protocol):
    """The part of the interfaces that devices and robots have in common."""

    def initialize(self) -> bool:
        """Connect."""

    def is_connected(self) -> bool:
        """Tell whether connected."""

    def shutdown(self) -> None:
        """Disconnect."""


PartT = TypeVar("PartT", bound=Connectable)


class LifecycleSuite(abc.ABC, Generic[PartT]):
    """Tests of connecting and disconnecting, shared by the suites of devices and robots."""

    @abc.abstractmethod
    def create(self) -> PartT:
        """Return a new, not yet initialised implementation that can be initialised here."""

    @contextlib.contextmanager
    def connected(self) -> Iterator[PartT]:
        """Yield an initialised implementation and shut it down afterwards."""
        part = self.create()
        assert part.initialize() is True, "initialize() must return True where it succeeds"
        try:
            yield part
        finally:
            part.shutdown()

    def test_is_not_connected_before_initialize(self) -> None:
        """A new object has nothing to talk to yet."""
        assert self.create().is_connected() is False

    def test_is_connected_between_initialize_and_shutdown(self) -> None:
        """Connection follows `initialize()` and `shutdown()`."""
        with self.connected() as part:
            assert part.is_connected() is True
        assert part.is_connected() is False

    def test_shutdown_is_safe_twice_and_before_initialize(self) -> None:
        """Clean-up code can call `shutdown()` without asking first."""
        part = self.create()
        part.shutdown()
        assert part.initialize() is True
        part.shutdown()
        part.shutdown()
        assert part.is_connected() is False

    def test_can_be_initialized_again_after_shutdown(self) -> None:
        """A part that was let go can be taken up again."""
        part = self.create()
        for _ in range(2):
            assert part.initialize() is True
            assert part.is_connected() is True
            part.shutdown()
