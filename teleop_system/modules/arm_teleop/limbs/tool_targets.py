# SPDX-License-Identifier: Apache-2.0
"""Where the end effectors of all chains should be."""

from collections.abc import Callable

from teleop_system.utils.poses import PoseTuple


class ToolTargets:
    """The targets of all chains in the base frame, whether a limb moves them or not.

    Args:
        tool_pose: Returns the present pose of a chain's end effector.
    """

    def __init__(self, tool_pose: Callable[[str], PoseTuple]) -> None:
        self._tool_pose = tool_pose
        self._poses: dict[str, PoseTuple] = {}

    def __getitem__(self, chain: str) -> PoseTuple:
        pose = self._poses.get(chain)
        if pose is None:
            # A chain without a target keeps the first pose that was asked for: others may take it
            # along, but it has to come back.
            pose = self._poses[chain] = self._tool_pose(chain)
        return pose

    def __setitem__(self, chain: str, target: PoseTuple) -> None:
        self._poses[chain] = target

    def discard(self, chain: str) -> None:
        """Forget the target of a chain."""
        self._poses.pop(chain, None)

    def clear(self) -> None:
        """Forget all targets."""
        self._poses.clear()
