# SPDX-License-Identifier: Apache-2.0
"""One hand of the robot that follows one of the operator: a DG-5F or a gripper.

The way of a sample: gate, retargeter, smoothing, ramp, speed and acceleration limits, and for a
DG-5F the guard between its fingers. Whatever holds or changes the motion yields a cause.
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


@dataclass(slots=True, eq=False)  # Made in every cycle; to freeze it would cost more.
class HandOutput:
    """What a hand is to do in this cycle.

    Attributes:
        positions: Joint positions in [rad] or [m], shape (N,), in the order of `joint_names`.
        causes: Whatever held or changed the motion.
        following: Whether the hand follows the operator; False while it holds.
        timestamp: Time at which the sample acted upon was measured in [s].
    """

    positions: Array
    causes: tuple[Cause, ...] = ()
    following: bool = False
    timestamp: float = 0.0


class HandController:
    """Commands one hand from the operator's samples, deterministically.

    Args:
        side: The operator's hand, "left" or "right".
        config: Parameters.
        hand: The robot's hand; None stands for a DG-5F of that side.

    Raises:
        ConfigError: The configuration does not fit the hand.
    """

    def __init__(
        self, side: str, config: HandTeleopConfig | None = None, hand: Hand | None = None
    ) -> None:
        self._config = config or HandTeleopConfig()
        self._side = side
        self._name = f"{side} hand"
        self._kind = create_kind(side, self._config, hand)
        limits = self._config
        self._gate = HandGate(side, limits.gate)
        self._filter = OneEuroFilter(limits.smoothing_cutoff, limits.smoothing_beta)
        self._log = CauseLog()
        self._now: float | None = None
        self._step, self._follows = 0.0, False
        self._target: Array | None = None
        self._ramp_start: Array | None = None
        self._ramp = EngageRamp(limits.ramp_time)
        self._jump, self._stamp = 0.0, 0.0
        self.reset()

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The robot's joints, in the order of the output."""
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
        """Whether fingers were kept from each other in the last cycle."""
        return self._kind.is_blocked

    def reset(self, positions: Array | None = None) -> None:
        """Take up from where the hand is: measured positions [rad] or [m], or the open hand.

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
        """Return the command of this cycle.

        Args:
            state: Newest sample of the operator's hand, or None.
            now: Monotonic time in [s].
            dt: Time since the last cycle in [s].
            engaged: Whether the operator has engaged this hand.
        """
        fresh = self.admit(state, now=now, dt=dt, engaged=engaged)
        target = None
        if fresh is not None:
            try:
                target = self._kind.retarget(fresh)
            except InvalidHandStateError:
                target = None  # `advance` says so.
        return self.advance(fresh, target)

    def admit(
        self, state: HandJointState | None, *, now: float, dt: float, engaged: bool = True
    ) -> HandJointState | None:
        """Do the first half of `update()`: return the sample if it is to be acted upon."""
        timely = math.isfinite(now)
        self._log.begin(now if timely else self._now or 0.0)
        self._step = self._step_time(now, dt)
        self._follows = False
        if not timely:
            return None
        was_fresh = self._gate.is_fresh(now)
        verdict = self._gate.check(state, now, self._log)
        if not engaged:
            self._log.add(Rule.NOT_ENGAGED, self._name, 0.0, 1.0, Severity.HOLD)
            return None
        self._follows = verdict in USABLE
        if verdict is not Verdict.NEW:
            return None
        if not was_fresh:
            self._stop_following()  # The hand has held; it begins with the ramp again.
        return state

    def advance(self, fresh: HandJointState | None, target: Array | None) -> HandOutput:
        """Do the second half of `update()`: move on, towards the target or to a halt.

        Args:
            fresh: What `admit()` returned.
            target: Where it wants the joints in [rad] or [m], as the retargeter of this kind of
                hand gives it; None where the sample lacks what that needs.
        """
        if fresh is not None:
            self._target, self._stamp = target, fresh.timestamp
            if target is None:
                subject = f"{self._side} finger tips"
                self._log.add(Rule.WRONG_SHAPE, subject, 0.0, FINGER_COUNT, Severity.HOLD)
        follows = self._follows and self._target is not None
        if self._step > 0.0:
            if follows and self._target is not None:
                self._follow(self._target, self._step)
            else:
                self._stop_following()
                self._kind.brake(self._step)
        return HandOutput(self._kind.positions, self._log.causes, follows, self._stamp)

    def _step_time(self, now: float, dt: float) -> float:
        """Return how much time this cycle may use [s]; none where the clock is not to trust."""
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
        first = self._ramp_start is None
        if self._ramp_start is None:
            self._ramp_start = self._kind.positions
            self._jump = float(np.max(np.abs(target - self._ramp_start)))
            self._filter.reset()
        self._ramp.advance(step)
        if not self._ramp.is_complete and self._jump > self._kind.engage_step:
            self._log.add(Rule.ENGAGE_JUMP, self._name, self._jump, self._kind.engage_step)
        smooth = self._filter.update(target, step)
        share = self._ramp.blend
        goal = share * smooth + (1.0 - share) * self._ramp_start
        # Even a cycle far longer than usual must not make the first step a jump.
        speed = self._kind.engage_step / step if first else self._kind.max_speed
        self._kind.follow(goal, step, min(speed, self._kind.max_speed), self._log)

    def _stop_following(self) -> None:
        self._ramp_start = None
        self._ramp.restart()
        self._jump = 0.0


class HandPairController:
    """Both hands at once; fingertip retargeting solves them together, for little more than one.

    Args:
        config: Parameters of both.
        hands: The robot's hands by side; a missing one stands for a DG-5F.
    """

    def __init__(
        self, config: HandTeleopConfig | None = None, hands: Mapping[str, Hand] | None = None
    ) -> None:
        config = config or HandTeleopConfig()
        robot = hands or {}
        self.hands = {side: HandController(side, config, robot.get(side)) for side in HAND_SIDES}
        together = [side for side, hand in self.hands.items() if hand.needs_tips]
        batched = config.retargeter == "fingertips" and len(together) > 1
        self._batch = FingertipBatch(together, config.fingertips) if batched else None

    @property
    def is_batched(self) -> bool:
        """Whether both hands are solved together."""
        return self._batch is not None

    def reset(self, positions: Mapping[str, Array]) -> None:
        """Take up from where the hands are: measured positions [rad] or [m] by side."""
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
        """Return the commands of this cycle by side.

        Args:
            states: Newest samples by side; a missing one counts as lost.
            now: Monotonic time in [s].
            dt: Time since the last cycle in [s].
            engaged: Which hands the operator has engaged; a missing one is.
        """
        wishes = engaged or {}
        outputs = {}
        if self._batch is None:
            for side, hand in self.hands.items():
                wish = wishes.get(side, True)
                outputs[side] = hand.update(states.get(side), now=now, dt=dt, engaged=wish)
            return outputs
        fresh = {
            side: hand.admit(states.get(side), now=now, dt=dt, engaged=wishes.get(side, True))
            for side, hand in self.hands.items()
        }
        tips = {
            side: state.finger_tip_positions
            for side, state in fresh.items()
            if state is not None and state.finger_tip_positions is not None
        }
        targets = self._batch.retarget(tips) if tips else {}
        for side, hand in self.hands.items():
            outputs[side] = hand.advance(fresh[side], targets.get(side))
        blocked = [side for side, hand in self.hands.items() if hand.is_blocked]
        if blocked:
            # What cannot be reached from here is no use as a start for the next solution.
            self._batch.reset({side: outputs[side].positions for side in blocked})
        return outputs
