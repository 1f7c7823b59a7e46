# SPDX-License-Identifier: Apache-2.0
"""Every signal there is: what kind of device measures it, and what it can be derived from."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from teleop_system.interfaces import HandJointState, Pose6D, TrackerRole
from teleop_system.interfaces.master_device import HAND_SIDES
from teleop_system.simulators.human.hand_model import finger_tips

OperatorSample = Pose6D | HandJointState
"""What a signal delivers: the pose of a part of the body, or the state of a hand."""

TRACKER = "tracker"
HAND_INPUT = "hand_input"

WAIST_BELOW_HEAD = 0.7
"""Height of the head above the waist of a standing person in [m]."""


@dataclass(frozen=True, slots=True)
class Signal:
    """One signal.

    Attributes:
        name: As configuration and messages call it.
        kind: Kind of device that measures it, as the registry calls it.
        place: Where that device is worn: the role of a tracker, or the side of a hand.
        meaning: What it is, for people.
    """

    name: str
    kind: str
    place: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Derivation:
    """How one signal follows from others.

    Attributes:
        signal: The signal it yields.
        requires: The signals it needs, in the order of its arguments.
        compute: Computes it.
        how: In words, for the table of signals.
    """

    signal: str
    requires: tuple[str, ...]
    compute: Callable[..., OperatorSample]
    how: str


def _signals() -> Mapping[str, Signal]:
    found = [
        Signal(role.value, TRACKER, role.value, f"pose of the {role.value.replace('_', ' ')}")
        for role in TrackerRole
    ]
    for side in HAND_SIDES:
        found.append(Signal(f"{side}_fingers", HAND_INPUT, side, f"angles of the {side} fingers"))
        found.append(Signal(f"{side}_tips", HAND_INPUT, side, f"tips of the {side} fingers"))
    return {signal.name: signal for signal in found}


def _waist_from_head(head: Pose6D) -> Pose6D:
    """Return the waist of a person who stands upright below their head."""
    x, y, z, w = head.orientation.tolist()
    half = 0.5 * math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    return Pose6D(
        head.position - (0.0, 0.0, WAIST_BELOW_HEAD),
        np.array([0.0, 0.0, math.sin(half), math.cos(half)]),
        head.timestamp,
        head.valid,
    )


def _tips_from_fingers(fingers: HandJointState) -> HandJointState:
    """Return the state with the tips that a hand of average size has at these angles."""
    if fingers.finger_tip_positions is not None:
        return fingers
    tips = finger_tips(fingers.joint_angles, fingers.side)
    return HandJointState(
        fingers.joint_angles, tips, fingers.timestamp, fingers.side, fingers.valid
    )


SIGNALS: Mapping[str, Signal] = _signals()
"""All signals by name."""

DERIVATIONS: Mapping[str, Derivation] = {
    derivation.signal: derivation
    for derivation in (
        Derivation("waist", ("head",), _waist_from_head, "below the head, facing its way"),
        *(
            Derivation(
                f"{side}_tips",
                (f"{side}_fingers",),
                _tips_from_fingers,
                "from the finger angles, for a hand of average size",
            )
            for side in HAND_SIDES
        ),
    )
}
"""How signals that no device measures follow from others."""
