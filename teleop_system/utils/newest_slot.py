# SPDX-License-Identifier: Apache-2.0
"""A place for the newest of something that one thread makes and others look at."""

import threading
import time
from typing import Generic, Protocol, TypeVar

from teleop_system.exceptions import DeviceNotConnectedError


class Stamped(Protocol):
    """Anything with a time of measurement."""

    @property
    def timestamp(self) -> float:
        """Time in [s]."""


ItemT = TypeVar("ItemT", bound=Stamped)


class NewestSlot(Generic[ItemT]):
    """Holds one item; a newer one takes its place, and nobody ever waits to put one in.

    Args:
        device: What the error names when there is no item.
    """

    def __init__(self, device: str) -> None:
        self._device = device
        self._changed = threading.Condition()
        self._item: ItemT | None = None

    @property
    def is_open(self) -> bool:
        """Whether there is an item."""
        return self._item is not None

    def put(self, item: ItemT) -> None:
        """Replace the item, and wake whoever waits."""
        with self._changed:
            self._item = item
            self._changed.notify_all()

    def close(self) -> None:
        """Forget the item."""
        with self._changed:
            self._item = None

    def get(self) -> ItemT:
        """Return the item.

        Raises:
            DeviceNotConnectedError: There is none.
        """
        item = self._item
        if item is None:
            raise DeviceNotConnectedError(self._device)
        return item

    def wait(self, last: float, timeout: float) -> ItemT | None:
        """Wait for an item with another stamp than `last` [s]; None after `timeout` [s]."""
        until = time.monotonic() + timeout
        with self._changed:
            while self._item is None or self._item.timestamp == last:
                remaining = until - time.monotonic()
                if remaining <= 0.0:
                    return None
                self._changed.wait(remaining)
            return self._item
