# SPDX-License-Identifier: Apache-2.0
"""Finds links of a simulated robot that touch each other and must not."""

from teleop_system.robots import RobotDescription
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator

INTERVAL = 0.05
"""Time between two checks in [s]."""

Pair = tuple[str, str]


class ContactMonitor:
    """Collects the pairs of the robot's links that touched.

    Fingers of one hand may touch each other and the palm: a pinch is not a collision.

    Args:
        simulator: The simulation.
        robot: The robot.
    """

    def __init__(self, simulator: MuJoCoSimulator, robot: RobotDescription) -> None:
        self._simulator = simulator
        self._hands = [_bodies_of(simulator, hand.joints) for hand in robot.hands.values()]
        self._touched: set[Pair] = set()
        self._next = 0.0

    @property
    def pairs(self) -> list[Pair]:
        """The links that touched, by name."""
        return sorted(self._touched)

    def check(self, time: float) -> None:
        """Check for contacts if a check is due at simulated time `time` [s]."""
        if time < self._next:
            return
        self._next = time + INTERVAL
        for pair in self._simulator.self_contacts():
            if not any(hand.issuperset(pair) for hand in self._hands):
                self._touched.add(pair)


def _bodies_of(simulator: MuJoCoSimulator, joints: tuple[str, ...]) -> frozenset[str]:
    """Return the bodies of a hand: its palm and all bodies attached to it."""
    model = simulator.model
    palms = {int(model.body_parentid[model.joint(joint).bodyid[0]]) for joint in joints}
    found = set(palms)
    # MuJoCo numbers parents before children.
    for body in range(model.nbody):
        if int(model.body_parentid[body]) in found:
            found.add(body)
    return frozenset(str(model.body(body).name) for body in found)
