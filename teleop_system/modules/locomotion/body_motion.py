# SPDX-License-Identifier: Apache-2.0
"""Walking and turning: how far a body, rather than one of its limbs, has moved in the room.

A foot that kicks, hips that sway and a tracker that slips all move alone. The body counts as
moved by as much as most of its trackers agree on: the median of both feet and the waist, axis by
axis. Without a waist tracker a witness that never moves takes its place, so that both feet have
to agree and the more hesitant one decides. How fast a body goes that is known to move is better
told by the mean, which does not halt between the steps.
"""

import math
from collections import deque

from teleop_system.modules.locomotion.foot_motion import Place, yaw_between

Motion = tuple[float, float, float]
"""Displacement along x and y of the room in [m], and turn about its z axis in [rad]."""

STILL: Motion = (0.0, 0.0, 0.0)


class BodyMotion:
    """Displacement of a body from an anchor, and its rate over a window of time.

    Args:
        window: Time in [s] over which the rate is taken.
        trusts: Whether two trackers need not agree, and the body is half-way between them.
    """

    def __init__(self, window: float, *, trusts: bool = False) -> None:
        self._window = window
        self._trusts = trusts
        self._witnesses: dict[str, _Witness] = {}
        # Where to count from, until somebody moves: of a body at rest that is all there is.
        self._anchored: dict[str, Place] = {}
        self._history: deque[tuple[float, Motion]] = deque()
        self.displacement = STILL
        """What most trackers agree on since the anchor was set."""

    def anchor(self, places: dict[str, Place]) -> None:
        """Count from these places on."""
        self._anchored = places
        self._history.clear()
        self.displacement = STILL

    def update(self, places: dict[str, Place], now: float) -> None:
        """Take new places of trackers by name, measured by time `now` [s]."""
        if self._anchored:
            self._witnesses = {name: _Witness(place) for name, place in self._anchored.items()}
            self._anchored = {}
        if places.keys() != self._witnesses.keys():
            self._adopt(places)
        motions = [self._witnesses[name].update(place) for name, place in places.items()]
        count = len(motions)
        xs, ys, turns = zip(*motions, strict=True)
        mean = sum(xs) / count, sum(ys) / count, sum(turns) / count
        self._history.append((now, mean))
        if count < 3:
            x, y, turn = mean if self._trusts else STILL
            xs, ys, turns = (*xs, x), (*ys, y), (*turns, turn)
        self.displacement = sorted(xs)[1], sorted(ys)[1], sorted(turns)[1]
        while self._history[0][0] < now - self._window:
            self._history.popleft()

    @property
    def rate(self) -> Motion:
        """Rate of the mean in [m/s, m/s, rad/s]; before the anchor there was none."""
        if not self._history:
            return STILL
        (x0, y0, turn0), (x, y, turn) = self._history[0][1], self._history[-1][1]
        return (x - x0) / self._window, (y - y0) / self._window, (turn - turn0) / self._window

    def drift(self, share: float) -> None:
        """Let the anchor follow the body by a share of the way, between 0 and 1."""
        for witness in self._witnesses.values():
            witness.drift(share)

    def _adopt(self, places: dict[str, Place]) -> None:
        """Let trackers that come and go change what is measured without moving the body."""
        for name in [name for name in self._witnesses if name not in places]:
            del self._witnesses[name]
            # The others may disagree with what it said, which would look like a motion.
            self._history.clear()
        for name, place in places.items():
            if name not in self._witnesses:
                self._witnesses[name] = _Witness(place, self.displacement)


class _Witness:
    """Displacement and unwrapped turn of one tracker from its anchor."""

    def __init__(self, place: Place, start: Motion = STILL) -> None:
        self._origin, self._anchor = place
        self._start = start
        self._turn = 0.0
        self._motion = start

    def update(self, place: Place) -> Motion:
        x, y, _ = place[0]
        turn = yaw_between(self._anchor, place[1])
        if turn is not None:
            # The turn nearest to the last one, so that several turns add up.
            self._turn += math.remainder(turn - self._turn, 2.0 * math.pi)
        x0, y0, turn0 = self._start
        self._motion = x - self._origin[0] + x0, y - self._origin[1] + y0, self._turn + turn0
        return self._motion

    def drift(self, share: float) -> None:
        x, y, turn = self._start
        dx, dy, dturn = self._motion
        self._start = x - share * dx, y - share * dy, turn - share * dturn
