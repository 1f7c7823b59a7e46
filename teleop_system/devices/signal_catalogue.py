# SPDX-License-Identifier: Apache-2.0
"""All signals: the kind of device that measures each, and how to derive it from others."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from teleop_system.interfaces import HandJointState, Pose6D, TrackerRole
from teleop_system.interfaces.master_device import HAND_SIDES
from teleop_system.simulators.human.hand_model import finger_tips
from teleop_system.utils.transforms import euler_to_quat, quat_to_euler

OperatorSample = Pose6D | HandJointState
"""Value of a signal: the pose of a body part, or the state of a hand."""

TRACKER = "tracker"
HAND_INPUT = "hand_input"

WAIST_BELOW_HEAD = 0.7
"""Height of the head above the waist of a standing person in [m]."""


@dataclass(frozen=True, slots=True)
class Signal:
    """One signal.

    Attributes:
        name: Its name in configuration and messages.
        kind: Kind of device that measures it, as registered.
        worn_at: Where the device is worn: role of a tracker, or side of a hand.
        meaning: Description for people.
    """

    name: str
    kind: str
    worn_at: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Derivation:
    """Computes one signal from others.

    Attributes:
        signal: The computed signal.
        requires: The required signals, in the order of the arguments of `compute`.
        compute: The function.
        how: Description for the table of signals.
    """

    signal: str
    requires: tuple[str, ...]
    compute: Callable[..., OperatorSample]
    how: str


def _signals() -> Mapping[str, Signal]:
    signals = [
        Signal(role.value, TRACKER, role.value, f"pose of the {role.value.replace('_', ' ')}")
        for role in TrackerRole
    ]
    for side in HAND_SIDES:
        signals.append(
            Signal(f"{side}_fingers", HAND_INPUT, side, f"angles of the {side} fingers")
        )
        signals.append(Signal(f"{side}_tips", HAND_INPUT, side, f"tips of the {side} fingers"))
    return {signal.name: signal for signal in signals}


def _waist_from_head(head: Pose6D) -> Pose6D:
    """Return the waist of a person who stands upright."""
    yaw = quat_to_euler(head.orientation)[2]
    return Pose6D(
        head.position - (0.0, 0.0, WAIST_BELOW_HEAD),
        euler_to_quat(0.0, 0.0, yaw),
        head.timestamp,
        head.valid,
    )


def _tips_from_fingers(fingers: HandJointState) -> HandJointState:
    """Add finger tips for a hand of average size."""
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
        Derivation("waist", ("head",), _waist_from_head, "below the head, with its heading"),
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
"""Derivations of signals that no device measures."""
