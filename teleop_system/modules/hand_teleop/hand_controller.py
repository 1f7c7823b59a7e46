# SPDX-License-Identifier: Apache-2.0
"""Commands the robot's hands, DG-5F or gripper, from the operator's hands.

A sample passes gate, retargeter, smoothing, ramp, speed and acceleration limits, and for a DG-5F
the guard between its fingers. Whatever holds or changes the motion yields a cause.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from teleop_system.exceptions import InvalidHandStateError
from teleop_system.interfaces.causes import Cause, Rule, Severity
from teleop_system.interfaces.master_device import FINGER_COUNT, HAND_SIDES, HandJointState
from teleop_system.modules.gate import USABLE, HandGate, Verdict
from teleop_system.modules.hand_teleop.config import HandTeleopConfig
from teleop_system.modules.hand_teleop.dg5f import Array
from teleop_system.modules.hand_teleop.hand_kinds import create_kind
from teleop_system.modules.hand_teleop.retargeting import FingertipBatch
from teleop_system.robots.description import Hand
from teleop_system.safety.cause_log import CauseLog
from teleop_system.safety.engage_ramp import EngageRamp
from teleop_system.utils.filters import OneEuroFilter


@dataclass(slots=True, eq=False)  # Not frozen: one is created per tick, and freezing is slower.
class HandOutput:
    """Command of one hand in one tick.

    Attributes:
        positions: Joint positions in [rad] or [m], shape (N,), in the order of `joint_names`.
        causes: Why the hand holds, or does not fully follow.
        following: Whether the hand follows the operator; False while it holds.
        timestamp: Time of measurement of the followed sample in [s].
    """

    positions: Array
    causes: tuple[Cause, ...] = ()
    following: bool = False
    timestamp: float = 0.0


class HandController:
    """Commands one hand; a tick is `check`, `retarget` and `move`.

    Args:
        side: The operator's hand, "left" or "right".
        config: Parameters.
        hand: The robot's hand; None means a DG-5F of that side.

    Raises:
        ConfigError: The configuration does not fit the hand.
    """

    def __init__(
        self, side: str, config: HandTeleopConfig | None = None, hand: Hand | None = None
    ) -> None:
        self._config = config = config or HandTeleopConfig()
        self._side = side
        self._name = f"{side} hand"
        self._kind = create_kind(side, config, hand)
        self._gate = HandGate(side, config.gate)
        self._filter = OneEuroFilter(config.smoothing_cutoff, config.smoothing_beta)
        self._log = CauseLog()
        self._now: float | None = None
        self._step, self._is_usable = 0.0, False
        self._target: Array | None = None
        self._ramp_start: Array | None = None
        self._ramp = EngageRamp(config.ramp_time)
        self._jump, self._stamp = 0.0, 0.0
        self.reset()

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints of the robot's hand, in the order of the output."""
        return self._kind.joint_names

    @property
    def side(self) -> str:
        """The operator's hand that this controller follows."""
        return self._side

    @property
    def needs_tips(self) -> bool:
        """Whether samples must carry finger tips."""
        return self._kind.needs_tips

    @property
    def is_blocked(self) -> bool:
        """Whether the last step was shortened to keep fingers apart."""
        return self._kind.is_blocked

    def reset(self, positions: Array | None = None) -> None:
        """Start from measured positions [rad] or [m], or from the open hand.

        Raises:
            InvalidJointStateError: The positions are not one finite number per joint.
        """
        self._kind.reset(positions)
        self._gate.reset()
        self._stop_following()
        self._target, self._stamp = None, 0.0

    def update(
        self, state: HandJointState | None, *, now: float, dt: float, engaged: bool = True
    ) -> HandOutput:
        """Return the command of this tick.

        Args:
            state: Newest sample of the operator's hand, or None.
            now: Monotonic time in [s].
            dt: Time since the last tick in [s].
            engaged: Whether the operator has engaged this hand.
        """
        sample = self.check(state, now=now, dt=dt, engaged=engaged)
        return self.move(sample, None if sample is None else self.retarget(sample))

    def check(
        self, state: HandJointState | None, *, now: float, dt: float, engaged: bool = True
    ) -> HandJointState | None:
        """Begin a tick; return the sample if it is new and the hand may follow it."""
        is_timely = math.isfinite(now)
        self._log.begin(now if is_timely else self._now or 0.0)
        self._step = self._step_time(now, dt)
        self._is_usable = False
        if not is_timely:
            return None
        was_fresh = self._gate.is_fresh(now)
        verdict = self._gate.check(state, now, self._log)
        if not engaged:
            self._log.add(Rule.NOT_ENGAGED, self._name, 0.0, 1.0, Severity.HOLD)
            return None
        self._is_usable = verdict in USABLE
        if verdict is not Verdict.NEW:
            return None
        if not was_fresh:
            self._stop_following()  # The hand has held, so the ramp restarts.
        return state

    def retarget(self, sample: HandJointState) -> Array | None:
        """Return the joint targets for a sample; None if the sample has no finger tips."""
        try:
            return self._kind.retarget(sample)
        except InvalidHandStateError:
            return None

    def move(self, sample: HandJointState | None, target: Array | None) -> HandOutput:
        """End a tick: take one step towards the target, or brake.

        Args:
            sample: The result of `check`.
            target: Its joint targets in [rad] or [m]; None if it has no finger tips.
        """
        if sample is not None:
            self._target, self._stamp = target, sample.timestamp
            if target is None:
                subject = f"{self._side} finger tips"
                self._log.add(Rule.WRONG_SHAPE, subject, 0.0, FINGER_COUNT, Severity.HOLD)
        is_following = self._is_usable and self._target is not None
        if self._step > 0.0:
            if is_following and self._target is not None:
                self._follow(self._target, self._step)
            else:
                self._stop_following()
                self._kind.brake(self._step)
        return HandOutput(self._kind.positions, self._log.causes, is_following, self._stamp)

    def _step_time(self, now: float, dt: float) -> float:
        """Return the time step of this tick [s]; 0 if the clock is invalid."""
        last, limit = self._now, self._config.max_step_time
        if not (math.isfinite(now) and math.isfinite(dt) and dt > 0.0):
            self._log.add(Rule.TIME_ORDER, self._name, dt, 0.0, Severity.HOLD)
            return 0.0
        self._now = now
        if last is not None and now <= last:
            self._log.add(Rule.TIME_ORDER, self._name, now - last, 0.0, Severity.HOLD)
            if now < last:
                self._gate.reset()  # The clock was set back: earlier stamps mean nothing.
            return 0.0
        elapsed = dt if last is None else min(dt, now - last)
        if elapsed > limit:
            self._log.add(Rule.OVERRUN, self._name, elapsed, limit)
        return min(elapsed, limit)

    def _follow(self, target: Array, step: float) -> None:
        is_first = self._ramp_start is None
        if self._ramp_start is None:
            self._ramp_start = self._kind.positions
            self._jump = float(np.max(np.abs(target - self._ramp_start)))
            self._filter.reset()
        self._ramp.advance(step)
        goal = self._filter.update(target, step)
        if not self._ramp.is_complete:
            goal = self._ramp_start + self._ramp.blend * (goal - self._ramp_start)
            if self._jump > self._kind.engage_step:
                self._log.add(Rule.ENGAGE_JUMP, self._name, self._jump, self._kind.engage_step)
        # The first step stays small, even in a tick that is much longer than usual.
        speed = self._kind.engage_step / step if is_first else math.inf
        self._kind.follow(goal, step, speed, self._log)

    def _stop_following(self) -> None:
        self._ramp_start = None
        self._ramp.restart()
        self._jump = 0.0


class HandPairController:
    """Commands both hands; fingertip retargeting solves them in one batch.

    Args:
        config: Parameters of both.
        hands: The robot's hands by side; a missing one means a DG-5F.
    """

    def __init__(
        self, config: HandTeleopConfig | None = None, hands: Mapping[str, Hand] | None = None
    ) -> None:
        config = config or HandTeleopConfig()
        robot = hands or {}
        self.hands = {side: HandController(side, config, robot.get(side)) for side in HAND_SIDES}
        sides = [side for side, hand in self.hands.items() if hand.needs_tips]
        is_batched = config.retargeter == "fingertips" and len(sides) > 1
        self._batch = FingertipBatch(sides, config.fingertips) if is_batched else None

    def reset(self, positions: Mapping[str, Array]) -> None:
        """Start from measured positions [rad] or [m] by side."""
        for side, values in positions.items():
            self.hands[side].reset(values)
        if self._batch is not None:
            self._batch.reset(positions)

    def update(
        self,
        states: Mapping[str, HandJointState | None],
        *,
        now: float,
        dt: float,
        engaged: Mapping[str, bool] | None = None,
    ) -> dict[str, HandOutput]:
        """Return the commands of this tick by side.

        Args:
            states: Newest samples by side; a missing one counts as lost.
            now: Monotonic time in [s].
            dt: Time since the last tick in [s].
            engaged: Whether the operator has engaged each hand; a missing one counts as engaged.
        """
        flags = engaged or {}
        samples = {
            side: hand.check(states.get(side), now=now, dt=dt, engaged=flags.get(side, True))
            for side, hand in self.hands.items()
        }
        targets = self._retarget(samples)
        outputs = {
            side: hand.move(samples[side], targets.get(side)) for side, hand in self.hands.items()
        }
        if self._batch is not None:
            # A blocked target is unreachable, so the next solution starts from the command.
            self._batch.reset(
                {
                    side: outputs[side].positions
                    for side, hand in self.hands.items()
                    if hand.is_blocked
                }
            )
        return outputs

    def _retarget(
        self, samples: Mapping[str, HandJointState | None]
    ) -> Mapping[str, Array | None]:
        """Return joint targets by side."""
        if self._batch is None:
            return {
                side: self.hands[side].retarget(sample)
                for side, sample in samples.items()
                if sample is not None
            }
        tips = {
            side: sample.finger_tip_positions
            for side, sample in samples.items()
            if sample is not None and sample.finger_tip_positions is not None
        }
        return self._batch.retarget(tips) if tips else {}
