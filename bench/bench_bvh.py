# SPDX-License-Identifier: Apache-2.0
"""Time from a BVH file to tracker poses of all frames, against bvhio frame by frame.

Both read the file and compute positions and orientations of the six tracked joints in every frame.
Ours also maps them to trackers, which bvhio cannot. Processor times are compared; both alternate,
so that disturbances of the machine affect both. `TELEOP_BVH_DIR` is a folder with other
recordings; without it, the motions of the package are read.
"""

import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import bvhio
import numpy as np

from teleop_system.interfaces import TrackerRole
from teleop_system.mocap import bvh_loader
from teleop_system.mocap.bvh_motion import motions_dir
from teleop_system.mocap.bvh_syntax import read_names
from teleop_system.mocap.joint_mapping import JointMapping, choose_mapping
from teleop_system.mocap.skeleton_mapper import SkeletonMapper

LEAST_RATIO = 10.0
REPETITIONS = 3


def rows() -> list[dict[str, object]]:
    """Return one row per recording."""
    folder = Path(os.environ.get("TELEOP_BVH_DIR") or motions_dir())
    return [_row(path) for path in sorted(folder.glob("*.bvh"))]


def _row(path: Path) -> dict[str, object]:
    mapping = choose_mapping(read_names(path), path)
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(REPETITIONS):
        ours.append(_time(lambda: _ours(path, mapping)))
        theirs.append(_time(lambda: _theirs(path, mapping)))
    ratio = statistics.median(theirs) / statistics.median(ours)
    frames = bvh_loader.load_bvh(path).frame_count
    return {
        "recording": path.stem,
        "frames": frames,
        "ours [ms]": f"{1e3 * statistics.median(ours):.0f}",
        "bvhio [ms]": f"{1e3 * statistics.median(theirs):.0f}",
        "times faster": f"{ratio:.1f}",
        "ok": ratio >= LEAST_RATIO,
    }


def _ours(path: Path, mapping: JointMapping) -> object:
    bvh_loader._load_file.cache_clear()
    data = bvh_loader.load_bvh(path, unit=mapping.unit, rest_frame=mapping.rest_frame)
    return SkeletonMapper(mapping=mapping).map(data)


def _theirs(path: Path, mapping: JointMapping) -> object:
    root = bvhio.readAsHierarchy(str(path))
    joints = {joint.Name.rpartition(":")[2]: joint for joint, _, _ in root.layout()}
    worn = [joints[mapping.roles[role]] for role in TrackerRole]
    first, last = root.getKeyframeRange()
    poses = np.empty((last - first + 1, len(worn), 7))
    for frame in range(first, last + 1):
        root.loadPose(frame)
        for column, joint in enumerate(worn):
            poses[frame - first, column, :3] = joint.PositionWorld
            poses[frame - first, column, 3:] = joint.RotationWorld
    return poses


def _time(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin
