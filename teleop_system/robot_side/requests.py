# SPDX-License-Identifier: Apache-2.0
"""What the operator requests besides motion: engage, stop, reset."""

import operator
import threading
from dataclasses import dataclass, fields, replace


@dataclass(frozen=True, slots=True)
class Requests:
    """The requests of one cycle.

    Attributes:
        engage: Take control.
        disengage: Give up control.
        clutch: Whether the clutch is closed, so that motion counts.
        estop: Whether an emergency stop is pressed.
        reset_estop: Release the emergency stop.
        restart: Start again after a failure.
        recenter: Make the head's present direction the one straight ahead.
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
        return float(sum(map(operator.mul, _values(self), _BITS)))

    @classmethod
    def decode(cls, number: float) -> "Requests":
        """Return the requests that were encoded as a number."""
        bits = int(number)
        return cls(**{name: bool(bits >> bit & 1) for bit, name in enumerate(_NAMES)})


_NAMES = tuple(entry.name for entry in fields(Requests))
_BITS = tuple(1 << bit for bit in range(len(_NAMES)))
_values = operator.attrgetter(*_NAMES)
_HELD = ("clutch", "estop")


class RequestBox:
    """Collects requests from any thread until the next cycle takes them.

    The clutch and the emergency stop keep their state; every other request is taken once. A stop
    that was pressed and released between two cycles still counts.

    Args:
        auto_engage: Engage whenever the robot is ready; only for an operator who cannot request
            it, such as a simulated one.
    """

    def __init__(self, *, auto_engage: bool = False) -> None:
        self._auto_engage = auto_engage
        self._lock = threading.Lock()
        self._held = Requests()
        self._next = Requests()

    def request(self, **changes: bool) -> None:
        """Add requests, such as `request(engage=True)` or `request(clutch=False)`."""
        with self._lock:
            pressed = self._next.estop or self._held.estop
            self._next = replace(self._next, **changes)
            if changes.get("estop") is False:
                # A press counts until a cycle has taken it.
                self._next = replace(self._next, estop=pressed)
            held = {name: value for name, value in changes.items() if name in _HELD}
            self._held = replace(self._held, **held)
            if changes.get("disengage") or changes.get("estop"):
                # Only a person may engage again.
                self._auto_engage = False

    @property
    def has_estop(self) -> bool:
        """Whether an emergency stop is pressed that no cycle has taken yet."""
        with self._lock:
            return self._next.estop or self._held.estop

    def take(self, *, ready: bool) -> Requests:
        """Return the requests of this cycle.

        Args:
            ready: Whether the robot is ready to be engaged.
        """
        with self._lock:
            taken = self._next
            self._next = self._held
            if self._auto_engage and ready:
                taken = replace(taken, engage=True)
            return taken
