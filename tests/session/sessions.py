# SPDX-License-Identifier: Apache-2.0
"""Whole sessions for tests: a simulated robot, a simulated operator, and disturbances."""

import contextlib
from collections.abc import Callable, Iterator

from typing_extensions import override

from teleop_system.interfaces.causes import Cause
from teleop_system.robot_side.engagement_table import EngagementState
from teleop_system.session.build import build_session, make_simulator
from teleop_system.session.session import TeleopSession
from teleop_system.session.signals import ISignalSource, Samples
from teleop_system.settings import TeleopSettings, load_settings

QUICK = ("simulation.render=false", "simulation.real_time=false", "session.self_test=false")

Disturb = Callable[[float, Samples], Samples]
"""Changes the samples of the tick at a time in [s]."""


class DisturbedSource(ISignalSource):
    """Another source, with its samples changed."""

    def __init__(self, source: ISignalSource, disturb: Disturb) -> None:
        self._source, self._disturb = source, disturb

    @override
    def connect(self) -> None:
        self._source.connect()

    @override
    def read(self, now: float) -> Samples:
        return self._disturb(now, self._source.read(now))

    @property
    @override
    def causes(self) -> tuple[Cause, ...]:
        return self._source.causes

    @override
    def close(self) -> None:
        self._source.close()


class Rig:
    """A session that a test steps."""

    def __init__(self, session: TeleopSession) -> None:
        self.session = session
        self.now = 0.0

    def run(self, seconds: float) -> None:
        """Run the session for some time, tick by tick."""
        for _ in range(round(seconds * self.session.rate)):
            self.session.step(self.now)
            self.now = round(self.now + 1.0 / self.session.rate, 9)

    def run_until(self, state: EngagementState, longest: float = 5.0) -> None:
        """Run the session until the engagement is in a state."""
        for _ in range(round(longest * self.session.rate)):
            if self.session.status.state is state:
                return
            self.run(1.0 / self.session.rate)
        raise AssertionError(f"never {state.value}: {self.session.status}")

    def rules(self) -> set[str]:
        """Return the rules of all causes so far."""
        assert self.session.recorder is not None
        return {each.rule.id for each in self.session.recorder.events.interventions}


def settings_with(*overrides: str) -> TeleopSettings:
    """Return settings of a quick session with further overrides."""
    return load_settings([*QUICK, *overrides])


@contextlib.contextmanager
def rigged(*overrides: str, disturb: Disturb | None = None) -> Iterator[Rig]:
    """Yield a session that has been started, and close it afterwards."""
    settings = settings_with(*overrides)
    simulator = make_simulator(settings)
    session = build_session(settings, simulator=simulator)
    if disturb is not None:
        session._source = DisturbedSource(session._source, disturb)
    try:
        session.start()
        yield Rig(session)
    finally:
        session.close()
        simulator.shutdown()
