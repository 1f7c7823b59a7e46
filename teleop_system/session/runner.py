# SPDX-License-Identifier: Apache-2.0
"""Runs a session tick by tick, in real time or as fast as possible, until it ends."""

import contextlib
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from types import FrameType

from teleop_system.interfaces.causes import Severity
from teleop_system.robot_side.engagement_table import EngagementState
from teleop_system.robot_side.requests import Requests
from teleop_system.session.session import TeleopSession
from teleop_system.session.status import SessionStatus, StatusReporter
from teleop_system.timing.scheduler import Scheduler, Tick

STATUS_INTERVAL = 0.2
"""Time between two status callbacks in [s]."""
LONGEST_BRAKING = 1.5
"""Longest wait for the robot to come to rest at the end in [s]."""

TickCallback = Callable[[float], None]
StatusCallback = Callable[[SessionStatus], None]


@dataclass(slots=True)
class RunSummary:
    """Duration, pace and final state of a run.

    Attributes:
        duration: Session time in [s].
        elapsed: Wall time in [s].
        ticks: Number of ticks.
        overruns: Ticks that started more than one period late.
        interrupted: Whether Ctrl-C ended the run.
        state: Engagement state before the end.
        reason: Reason for that state.
    """

    duration: float = 0.0
    elapsed: float = 0.0
    ticks: int = 0
    overruns: int = 0
    interrupted: bool = False
    state: EngagementState = EngagementState.STARTING
    reason: str = ""

    @property
    def speed(self) -> float:
        """Session time divided by wall time."""
        return self.duration / self.elapsed if self.elapsed > 0.0 else 0.0


class SessionRunner:
    """Steps a session at its rate and reports its status.

    Args:
        session: The session.
        reporter: Creates the status.
        simulated_time: Count time in whole periods instead of reading the wall clock.
        real_time: Keep pace with the wall clock; False runs as fast as possible.
    """

    def __init__(
        self,
        session: TeleopSession,
        reporter: StatusReporter,
        *,
        simulated_time: bool = True,
        real_time: bool = True,
    ) -> None:
        self._session = session
        self._reporter = reporter
        self._simulated_time = simulated_time
        waits = real_time or not simulated_time
        make = Scheduler if waits else Scheduler.simulated
        self.scheduler = make(session.rate, name="session")
        self.summary = RunSummary()
        self._first = math.nan
        self._started = 0.0

    def run(
        self,
        duration: float | None,
        *,
        on_tick: TickCallback | None = None,
        on_status: StatusCallback | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> RunSummary:
        """Run until the time is up or `should_stop` is true; Ctrl-C ends it after this tick.

        Args:
            duration: Session time in [s]; None for no limit.
            on_tick: Called after every tick with the session time in [s].
            on_status: Called a few times per second with the status.
            should_stop: Called after every tick; True ends the run.
        """
        end = math.inf if duration is None else duration
        summary = self.summary
        self._session.start()
        self._started = time.perf_counter()
        next_status = 0.0
        with stop_on_interrupt() as interrupted, self.scheduler:
            for tick in self.scheduler:
                self._step(tick)
                if on_tick is not None:
                    on_tick(summary.duration)
                if on_status is not None and summary.elapsed >= next_status:
                    next_status = summary.elapsed + STATUS_INTERVAL
                    on_status(self.status())
                summary.interrupted = interrupted()
                failed = summary.state is EngagementState.FAILED
                is_over = summary.duration >= end - 1e-9 or self._session.is_over
                if is_over or summary.interrupted or failed or should_stop():
                    break
            self._brake()
        return summary

    def status(self) -> SessionStatus:
        """Return the current status."""
        summary = self.summary
        return self._reporter.status(summary.elapsed, summary.speed, summary.overruns)

    def _step(self, tick: Tick, requests: Requests | None = None) -> None:
        session, summary = self._session, self.summary
        now = summary.ticks / session.rate if self._simulated_time else tick.start
        if summary.ticks == 0:
            self._first = now
        late = tick.cause
        if late is not None and self._simulated_time:
            # Simulated time waits for the loop, so a late tick is no reason to hold.
            late = replace(late, severity=Severity.INFO)
        session.step(now, requests, late=late)
        summary.ticks += 1
        summary.duration = now - self._first + 1.0 / session.rate
        summary.elapsed = time.perf_counter() - self._started
        summary.overruns = self.scheduler.overruns.total
        if requests is None:
            status = session.robot_side.status
            summary.state, summary.reason = status.state, status.reason

    def _brake(self) -> None:
        """Disengage and step until the robot is at rest."""
        for _ in range(int(LONGEST_BRAKING * self._session.rate)):
            if self._session.is_resting:
                return
            self._step(self.scheduler.wait(), Requests(disengage=True))


@contextlib.contextmanager
def stop_on_interrupt() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether Ctrl-C was pressed.

    The first Ctrl-C does not interrupt the current tick, so its commands are complete; a second
    one interrupts at once.
    """
    pressed = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield pressed.is_set
        return
    before = signal.getsignal(signal.SIGINT)

    def press(number: int, frame: FrameType | None) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()

    signal.signal(signal.SIGINT, press)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)
