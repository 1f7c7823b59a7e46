# SPDX-License-Identifier: Apache-2.0
"""What the operator asks of a session, besides moving."""

import threading
from dataclasses import dataclass, fields, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Requests:
    """What is asked for in one tick.

    Attributes:
        engage: Take control.
        disengage: Give up control.
        clutch: Whether the clutch is closed, so that motion counts.
        estop: Whether an emergency stop is pressed.
        reset_estop: Release the emergency stop.
        restart: Start again after a failure.
        recenter: Let the head look straight ahead from here.
    """

    engage: bool = False
    disengage: bool = False
    clutch: bool = True
    estop: bool = False
    reset_estop: bool = False
    restart: bool = False
    recenter: bool = False

    def encode(self) -> float:
        """Return the requests as one number, for a recording."""
        return float(sum(getattr(self, name) << bit for bit, name in enumerate(_NAMES)))

    @classmethod
    def decode(cls, number: float) -> "Requests":
        """Return the requests that were encoded as a number."""
        bits = int(number)
        return cls(**{name: bool(bits >> bit & 1) for bit, name in enumerate(_NAMES)})


_NAMES = tuple(entry.name for entry in fields(Requests))
_HELD = ("clutch", "estop")


class RequestBox:
    """Takes requests from any thread, and hands them to the loop once a tick.

    The clutch and the emergency stop stay as they were put; the others count for one tick. An
    emergency stop that was pressed and released between two ticks still counts.

    Args:
        auto_engage: Ask for control by itself once the robot is ready; only for an operator who
            cannot ask, such as a simulated one.
    """

    def __init__(self, *, auto_engage: bool = False) -> None:
        self._auto_engage = auto_engage
        self._lock = threading.Lock()
        self._held = Requests()
        self._next = Requests()
        # What is asked for in a tick in which nobody has asked for anything.
        self._idle = Requests()

    def ask(self, **wishes: Any) -> None:
        """Ask for something, such as `ask(engage=True)` or `ask(clutch=False)`."""
        with self._lock:
            self._next = replace(self._next, **wishes)
            kept = {name: value for name, value in wishes.items() if name in _HELD}
            if wishes.get("estop") is False:
                # Only what the loop has seen may be released.
                self._next = replace(self._next, estop=self._next.estop or self._held.estop)
            self._held = replace(self._held, **kept)
            self._idle = replace(Requests(), clutch=self._held.clutch, estop=self._held.estop)
            if wishes.get("disengage"):
                self._auto_engage = False

    @property
    def asks_for_estop(self) -> bool:
        """Whether an emergency stop is pressed that no tick has taken yet."""
        with self._lock:
            return self._next.estop or self._held.estop

    def take(self, *, ready: bool) -> Requests:
        """Return what is asked for in this tick.

        Args:
            ready: Whether the robot waits for somebody to take control.
        """
        with self._lock:
            asked = self._next
            self._next = self._idle
            if self._auto_engage and ready:
                asked = replace(asked, engage=True)
            return asked
