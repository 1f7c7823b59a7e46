# SPDX-License-Identifier: Apache-2.0
"""All limbs of a robot, and the quick way for the ticks in which they simply go on."""

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from teleop_system.interfaces import Pose6D, TrackerRole
from teleop_system.modules.arm_teleop.body import Body
from teleop_system.modules.arm_teleop.config import ArmTeleopConfig
from teleop_system.modules.arm_teleop.limbs import limb_kernels as kernels
from teleop_system.modules.arm_teleop.limbs.limb import Limb, LimbState
from teleop_system.modules.arm_teleop.limbs.limb_kernels import LIMITED, UNSURE, follow_all
from teleop_system.modules.arm_teleop.targets import Targets
from teleop_system.robots.description import Chain
from teleop_system.safety.cause_log import CauseLog

Trackers = Mapping[TrackerRole, Pose6D | None]

HANDS = (TrackerRole.RIGHT_HAND, TrackerRole.LEFT_HAND)
"""Trackers that may be exchanged for each other."""


class LimbGroup:
    """The limbs of one robot, their numbers in one table.

    Args:
        chains: What follows, and the tracker that each follows; those that carry others first.
        config: Parameters.
        body: What they belong to.

    Attributes:
        states: What each limb does, by name; another object whenever that changes.
        following: Names of those that the operator moves.
        stamps: When the samples that they follow were measured in [s], by name.
        is_steady: Whether none is catching up or coming to rest, so that `go_on()` can be asked.
        movers: Those that follow then.
        others: Those that rest.
    """

    def __init__(
        self, chains: Sequence[tuple[Chain, TrackerRole]], config: ArmTeleopConfig, body: Body
    ) -> None:
        self._table = table = np.zeros((len(chains), kernels.SIZE))
        self._poses: list[Pose6D | None] = [None] * len(chains)
        self._limbs = tuple(
            Limb(chain, role, config, body, table[n], (self._poses, n))
            for n, (chain, role) in enumerate(chains)
        )
        self._names = tuple(limb.name for limb in self._limbs)
        self._samples = samples = np.zeros((len(chains), kernels.STAMP + 1))
        self._all_slots = self._slots = [
            (limb.name, limb.role, row) for limb, row in zip(self._limbs, samples, strict=True)
        ]
        self._aim = body.aim
        self._targets = table[:, kernels.TARGET : kernels.FILTER]
        self._glance = self._limbs[0].gate.glance if self._limbs else np.empty(0)
        self._can_go_on = self._link_carriers()
        self.settle()

    def __iter__(self) -> Iterator[Limb]:
        return iter(self._limbs)

    def _link_carriers(self) -> bool:
        """Note what carries each limb; tell whether that always is a limb, or nothing."""
        carriers = [limb.carrier for limb in self._limbs]
        known = [self._names.index(name) if name in self._names else -1 for name in carriers]
        self._table[:, kernels.CARRIER] = known
        return bool(carriers) and all(name in (None, *self._names) for name in carriers)

    def go_on(
        self, trackers: Trackers, engaged: Collection[str], now: float, log: CauseLog
    ) -> bool:
        """Let the `movers` go on, after the `others` were told what to do.

        False, and nothing has happened, where a glance at a tracker's sample does not tell that
        there is nothing wrong with it. Only to be asked where `is_steady`.
        """
        poses, stamps = [], {}
        for name, role, sample in self._slots:
            pose = trackers.get(role)
            if pose is None or not pose.valid or name not in engaged:
                return False
            sample[...] = pose.numbers
            stamps[name] = pose.timestamp
            poses.append(pose)
        done = follow_all(self._table, self._samples, self._glance, now)
        if done == UNSURE:
            return False
        self._poses[self._first :], self.stamps = poses, stamps
        if done == LIMITED:
            for limb in self.movers:
                limb.report_limits(log)
        return True

    def settle(self) -> None:
        """Take note of what the limbs do, after any of them was told to do something."""
        limbs, names = self._limbs, self._names
        self.states: dict[str, LimbState] = {limb.name: limb.state for limb in limbs}
        following = tuple(limb.name for limb in limbs if limb.is_following)
        self.following = names if following == names else following
        self.stamps = {limb.name: limb.stamp for limb in limbs if limb.is_following}
        self._aimed = [n for n, limb in enumerate(limbs) if limb.is_aimed]
        aimed = tuple(names[n] for n in self._aimed)
        # The same object from tick to tick, which spares comparisons.
        self._chains = names if aimed == names else aimed
        self._settle_quick_way()

    def settle_others(self) -> None:
        """Do the same after `go_on()`, where one of the others has begun to do something else."""
        if any(self.states[limb.name] is not limb.state for limb in self.others):
            self.settle()

    def _settle_quick_way(self) -> None:
        """Find out whether `go_on()` can be tried, and with which limbs."""
        limbs = self._limbs
        # Those in front may rest: a torso without a tracker. A hand may not, as only both together
        # show whether their trackers have been exchanged.
        self._first = next((n for n, limb in enumerate(limbs) if limb.is_following), len(limbs))
        self.others, self.movers = limbs[: self._first], limbs[self._first :]
        self.is_steady = (
            self._can_go_on
            and bool(self.movers)
            and all(limb.is_resting and limb.role not in HANDS for limb in self.others)
            and all(limb.state is LimbState.FOLLOWING for limb in self.movers)
        )
        if self.is_steady:
            self._slots = self._all_slots[self._first :]
            self._table[:, kernels.FOLLOWS] = 0.0
            self._table[self._first :, kernels.FOLLOWS] = 1.0
            for limb, target in zip(self.others, self._targets, strict=False):
                # What carries others has to be where the kernel finds it.
                position, turn = self._aim(limb.name)
                target[:] = (*position, *turn)

    def targets(self, now: float) -> Targets:
        """Return where the end effectors should be at time `now` [s]."""
        chains, rows = self._chains, self._targets
        return Targets(chains, rows.copy() if chains is self._names else rows[self._aimed], now)
