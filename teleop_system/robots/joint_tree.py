# SPDX-License-Identifier: Apache-2.0
"""The driven joints of a model as a kinematic tree."""

import math
import re
from collections.abc import Iterable, Iterator

from teleop_system.robots.mjcf import MjcfJoint, MjcfModel

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


def words(name: str) -> frozenset[str]:
    """Return the words of a name in lower case: `LeftArm_joint2` gives left, arm, joint, 2."""
    return frozenset(word.lower() for word in _WORD.findall(name))


class JointTree:
    """Driven hinge and slide joints of a model, each below the closest driven joint before it."""

    def __init__(self, model: MjcfModel, joints: Iterable[str]) -> None:
        self._model = model
        names = set(joints)
        nodes = [joint for joint in model.joints if joint.name in names]
        self._joints = {joint.name: joint for joint in nodes}
        self._parents = {joint.name: self._parent(joint, nodes) for joint in nodes}

    def __getitem__(self, joint: str) -> MjcfJoint:
        return self._joints[joint]

    def roots(self) -> tuple[str, ...]:
        """Return the joints without a parent joint."""
        return tuple(name for name, parent in self._parents.items() if parent is None)

    def children(self, joint: str) -> tuple[str, ...]:
        """Return the child joints of a joint."""
        return tuple(name for name, parent in self._parents.items() if parent == joint)

    def run(self, joint: str) -> tuple[str, ...]:
        """Return a joint and those in series after it, up to a branching or the end."""
        run = [joint]
        while len(following := self.children(run[-1])) == 1:
            run.append(following[0])
        return tuple(run)

    def below(self, joint: str) -> tuple[str, ...]:
        """Return a joint and all its descendants, in the order of the model."""
        inside = {joint}
        for name, parent in self._parents.items():
            if parent in inside:
                inside.add(name)
        return tuple(name for name in self._parents if name in inside)

    def names_along(self, joints: Iterable[str]) -> Iterator[frozenset[str]]:
        """Yield, for each joint, the words in its name and in the name of its body."""
        for joint in joints:
            body = self._model.bodies[self._joints[joint].body].name
            yield words(joint) | words(body)

    def reach(self, joint: str) -> float:
        """Return the stretched length in [m] of everything after a joint, including shapes."""
        model = self._model
        root = self._joints[joint].body
        lengths = {root: 0.0}
        for index in model.subtree(root)[1:]:
            body = model.bodies[index]
            offset = math.dist(body.position, model.bodies[body.parent].position)
            lengths[index] = lengths[body.parent] + offset
        return max(length + model.bodies[index].extent for index, length in lengths.items())

    def _parent(self, joint: MjcfJoint, nodes: list[MjcfJoint]) -> str | None:
        """Return the closest joint before a joint, on the same body or on one of its ancestors."""
        for body in self._model.ancestors(joint.body):
            before = [
                node.name
                for node in nodes[: nodes.index(joint)]
                if node.body == body and node is not joint
            ]
            if before:
                return before[-1]
        return None
