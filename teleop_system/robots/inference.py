# SPDX-License-Identifier: Apache-2.0
"""Infers the parts of a robot from its MJCF alone: chains, end effectors, hands, head, base.

The rules, in the order in which they apply to the tree of driven joints:

1. Unlimited hinges with a velocity actuator, or with a name such as `wheel`, are wheels.
2. Joints in series form a run. At a branching, the run before it is the torso, those after it are
   limbs.
3. A short branch with a camera, or with a name such as `head`, is the head.
4. Small branches at the end of a limb, and a last slide joint of short travel, are its fingers.
5. The end effector is a site or body after the last joint of a limb with a name such as `tcp`, or
   else the last body.

`robot.yaml` overrides every result.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from teleop_system.robots.description import Base, Chain, Hand, Head
from teleop_system.robots.joint_tree import JointTree, words
from teleop_system.robots.mjcf import MjcfJoint, MjcfModel

FINGER_WORDS = frozenset({"finger", "fingers", "thumb", "gripper", "grip", "jaw", "knuckle"})
HEAD_WORDS = frozenset({"head", "neck", "pan", "tilt", "camera"})
LEG_WORDS = frozenset({"leg", "hip", "knee", "ankle", "foot", "calf", "thigh"})
WHEEL_WORDS = frozenset({"wheel", "wheels"})
SIDE_WORDS = {"left": frozenset({"left", "l"}), "right": frozenset({"right", "r"})}

# Names of tools, the most specific first.
SURE_TOOL_WORDS = ("tcp", "pinch", "grasp", "ee", "eef", "effector", "tool")
TOOL_WORDS = (*SURE_TOOL_WORDS, "attachment", "flange", "tip", "hand")

SHORT_TRAVEL = 0.15
"""Longest travel in [m] of a slide joint that counts as a finger."""
SMALL_BRANCH = 0.25
"""Longest stretched length in [m] of a branch that counts as a finger."""
HEAD_JOINTS = 3
"""Largest number of joints of a neck."""


@dataclass(slots=True)
class InferredParts:
    """Inferred parts of a model.

    Attributes:
        chains: Chains by name.
        hands: Hands by name.
        head: The neck, or None.
        base: The mobile base, or None.
        notes: Uncertain results, as the part ("hands") and one sentence.
    """

    chains: dict[str, Chain] = field(default_factory=dict)
    hands: dict[str, Hand] = field(default_factory=dict)
    head: Head | None = None
    base: Base | None = None
    notes: list[tuple[str, str]] = field(default_factory=list)


def infer_parts(model: MjcfModel, frames: frozenset[str] | None = None) -> InferredParts:
    """Return the parts of a robot by the rules above.

    Args:
        model: The compiled model.
        frames: Allowed names of end effectors, such as the links of a URDF; None for any.
    """
    wheels = find_wheels(model)
    driven = [joint for joint in model.driven if joint and joint not in wheels]
    return _Inference(model, JointTree(model, driven), frames).run(wheels)


def find_wheels(model: MjcfModel) -> tuple[str, ...]:
    """Return the driven wheels of a model."""
    kinds = {actuator.joint: actuator.kind for actuator in model.actuators}
    hinges = (j for j in model.joints if j.kind == "hinge" and j.name in model.driven)
    return tuple(
        joint.name
        for joint in hinges
        if joint.upper == float("inf")
        and (kinds.get(joint.name) == "velocity" or words(joint.name) & WHEEL_WORDS)
    )


def find_end_effector(
    model: MjcfModel, last_joint: str, frames: frozenset[str] | None = None
) -> str:
    """Return the tool after a joint: a site or body with a tool's name, or else the joint's body.

    Bodies after the next driven joint, such as fingers, are not considered.
    """
    joint = next(joint for joint in model.joints if joint.name == last_joint)
    moved = {other.body for other in model.joints if other.name != last_joint}
    rigid = {joint.body}
    for index in model.subtree(joint.body)[1:]:
        if model.bodies[index].parent in rigid and index not in moved:
            rigid.add(index)
    sites = [name for name, body in model.sites.items() if body in rigid]
    bodies = [model.bodies[index].name for index in sorted(rigid)]
    allowed = [name for name in (*sites, *bodies) if name and (frames is None or name in frames)]
    for tool in TOOL_WORDS:
        named = [name for name in allowed if tool in words(name)]
        if named:
            return named[0]
    return next(
        name
        for index in model.ancestors(joint.body)
        if (name := model.bodies[index].name) and (frames is None or name in frames or index == 0)
    )


def side_of(name: str) -> str | None:
    """Return "left" or "right" if a name contains it, else None."""
    sides = [side for side, marks in SIDE_WORDS.items() if words(name) & marks]
    return sides[0] if len(sides) == 1 else None


def hand_positions(joints: Iterable[MjcfJoint]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the assumed joint positions of an open and of a closed hand.

    Of the two ends of its range, a slide joint is closed and a hinge is open at the one closer to
    zero, as in most parallel grippers and finger hands.
    """
    opened, closed = [], []
    for joint in joints:
        near, far = sorted((joint.lower, joint.upper), key=abs)
        if joint.upper == float("inf"):
            near = far = 0.0
        if joint.lower < 0.0 < joint.upper and joint.kind == "hinge":
            near = 0.0  # A finger that also bends backwards is open when straight.
        opened.append(near if joint.kind == "hinge" else far)
        closed.append(far if joint.kind == "hinge" else near)
    return tuple(opened), tuple(closed)


class _Inference:
    """Applies the rules to one model."""

    def __init__(self, model: MjcfModel, tree: JointTree, frames: frozenset[str] | None) -> None:
        self._model = model
        self._tree = tree
        self._frames = frames
        self._limbs: list[Chain] = []
        self._fingers: list[tuple[Chain | None, tuple[str, ...]]] = []
        self._parts = InferredParts()

    def run(self, wheels: tuple[str, ...]) -> InferredParts:
        roots = self._tree.roots()
        if len(roots) > 1 and all(self._is_finger(root) for root in roots):
            self._add_lone_hand(roots)
        else:
            for root in roots:
                self._visit(root)
        self._name_limbs()
        self._parts.base = self._base(wheels)
        return self._parts

    def _visit(self, joint: str) -> None:
        # A single short run with a camera is an arm, not a head.
        if self._is_head(joint) and self._tree.roots() != (joint,):
            self._parts.head = self._head(joint)
            return
        run = self._tree.run(joint)
        branches = self._tree.children(run[-1])
        heads = [branch for branch in branches if self._is_head(branch)]
        others = [branch for branch in branches if branch not in heads]
        fingers = [branch for branch in others if self._is_finger(branch)]
        if len(fingers) == len(others):
            run, last = self._split_fingers(run)
            kind = "torso" if heads else self._limb_kind(run)
            limb = self._add_limb(run, kind)
            below = (name for branch in fingers for name in self._tree.below(branch))
            if held := (*last, *below):
                self._fingers.append((limb, held))
            others = []
        else:
            self._add_limb(run, "torso")
        for branch in (*heads, *others):
            self._visit(branch)

    def _is_head(self, joint: str) -> bool:
        joints = self._tree.below(joint)
        if len(joints) > HEAD_JOINTS or len(self._tree.run(joint)) != len(joints):
            return False
        if any(found & FINGER_WORDS for found in self._tree.names_along(joints)):
            return False
        named = any(found & HEAD_WORDS for found in self._tree.names_along(joints))
        return named or self._camera(joint) is not None

    def _is_finger(self, joint: str) -> bool:
        joints = self._tree.below(joint)
        named = all(found & FINGER_WORDS for found in self._tree.names_along(joints))
        return named or self._tree.reach(joint) < SMALL_BRANCH

    def _split_fingers(self, run: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Split a gripper in series with the wrist from its arm."""
        count = len(run)
        while count > 1 and self._is_last_finger(run[:count]):
            count -= 1
        return run[:count], run[count:]

    def _is_last_finger(self, run: tuple[str, ...]) -> bool:
        joint = self._tree[run[-1]]
        if words(joint.name) & FINGER_WORDS:
            return True
        after_wrist = any(self._tree[name].kind == "hinge" for name in run[:-1])
        return joint.kind == "slide" and after_wrist and joint.upper - joint.lower <= SHORT_TRAVEL

    def _limb_kind(self, run: tuple[str, ...]) -> str:
        return "leg" if any(found & LEG_WORDS for found in self._tree.names_along(run)) else "arm"

    def _add_limb(self, run: tuple[str, ...], kind: str) -> Chain:
        end_effector = find_end_effector(self._model, run[-1], self._frames)
        sides = {side_of(joint) for joint in run}
        limb = Chain("", kind, sides.pop() if len(sides) == 1 else None, run, end_effector)
        self._limbs.append(limb)
        return limb

    def _add_lone_hand(self, roots: tuple[str, ...]) -> None:
        for root in roots:
            self._add_limb(self._tree.run(root), "finger")
        self._fingers.append((None, tuple(j for root in roots for j in self._tree.below(root))))

    def _name_limbs(self) -> None:
        """Give every limb its side and a unique name, and add its hand."""
        arms = [limb for limb in self._limbs if limb.kind == "arm"]
        if len(arms) == 2 and all(arm.side is None for arm in arms):
            left, right = sorted(arms, key=self._sideways, reverse=True)
            sides = {left: "left", right: "right"}
        else:
            sides = {}
        for limb in self._limbs:
            side = sides.get(limb, limb.side)
            stem = f"{side}_{limb.kind}" if side else limb.kind
            alike = sum(1 for other in self._limbs if (other.kind, other.side) == _key(limb))
            name = stem if alike == 1 or limb in sides else _unique_name(stem, self._parts.chains)
            chain = replace(limb, name=name, side=side)
            self._parts.chains[name] = chain
            for owner, joints in self._fingers:
                if owner is limb:
                    self._add_hand(joints, chain.side)
        for owner, joints in self._fingers:
            if owner is None:
                stated = {chain.side for chain in self._parts.chains.values()}
                self._add_hand(joints, stated.pop() if len(stated) == 1 else None)

    def _add_hand(self, joints: tuple[str, ...], side: str | None) -> None:
        nodes = [self._tree[joint] for joint in joints]
        slides = all(node.kind == "slide" for node in nodes)
        kind = "gripper" if slides or len(joints) <= 2 else "hand"
        name = side or kind
        if name in self._parts.hands:
            name = _unique_name(name, self._parts.hands)
        if kind == "hand":
            note = (
                f"open and closed positions of hand {name!r} are assumed; set them in robot.yaml"
            )
            self._parts.notes.append(("hands", note))
        opened, closed = hand_positions(nodes)
        self._parts.hands[name] = Hand(name, kind, side, joints, opened, closed)

    def _sideways(self, limb: Chain) -> float:
        return self._model.bodies[self._tree[limb.joints[-1]].body].position[1]

    def _head(self, joint: str) -> Head:
        joints = [self._tree[name] for name in self._tree.below(joint)]
        upright = [node.name for node in joints if abs(node.axis[2]) > 0.7]
        level = [node.name for node in joints if abs(node.axis[2]) <= 0.7]
        first = (*upright, None)[0]
        return Head(first, (*level, None)[0], self._camera(joint))

    def _camera(self, joint: str) -> str | None:
        inside = self._model.subtree(self._tree[joint].body)
        return next((name for name, body in self._model.cameras.items() if body in inside), None)

    def _base(self, wheels: tuple[str, ...]) -> Base | None:
        model = self._model
        floating = any(
            joint.kind == "free" and self._carries(joint, wheels) for joint in model.joints
        )
        if len(wheels) == 2:
            return self._differential(wheels)
        if wheels:
            found = f"{len(wheels)} wheels ({', '.join(wheels)}) are not a differential drive"
            self._parts.notes.append(("base", f"{found}; describe the base in robot.yaml"))
        return Base("floating") if floating else None

    def _carries(self, joint: MjcfJoint, wheels: tuple[str, ...]) -> bool:
        inside = set(self._model.subtree(joint.body))
        driven = {*self._model.driven, *wheels}
        return any(other.body in inside for other in self._model.joints if other.name in driven)

    def _differential(self, wheels: tuple[str, ...]) -> Base:
        model = self._model
        pair = [joint for joint in model.joints if joint.name in wheels]
        left, right = sorted(
            pair, key=lambda joint: model.bodies[joint.body].position[1], reverse=True
        )
        body = model.bodies[left.body]
        other = model.bodies[right.body]
        root = list(model.ancestors(left.body))[-2]
        radius = body.radius or abs(body.position[2]) or 0.1
        speeds = [joint.velocity for joint in pair if joint.velocity]
        return Base(
            "differential",
            left.name,
            right.name,
            wheel_radius=radius,
            track=abs(body.position[1] - other.position[1]) or 0.5,
            axle_offset=body.position[0] - model.bodies[root].position[0],
            wheel_sign=1 if left.axis[1] >= 0.0 else -1,
            max_linear=min([speed * radius for speed in speeds] + [0.5]),
        )


def _key(limb: Chain) -> tuple[str, str | None]:
    return limb.kind, limb.side


def _unique_name(stem: str, taken: Iterable[str]) -> str:
    used = set(taken)
    return next(name for index in range(1, 1000) if (name := f"{stem}_{index}") not in used)
