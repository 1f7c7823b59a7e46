# SPDX-License-Identifier: Apache-2.0
"""Load the models of this repository and read poses from either library."""

from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

MODELS = Path(__file__).resolve().parents[2] / "models"

MJCF = {
    "rby1": MODELS / "rby1" / "model_teleop.xml",
    "rby1_dg5f": MODELS / "rby1_dg5f" / "rby1_dg5f.xml",
    "dg5f_right": MODELS / "dg5f" / "dg5f_right.xml",
    "dg5f_left": MODELS / "dg5f" / "dg5f_left.xml",
}
URDF = {
    "rby1": MODELS / "rby1" / "rby1.urdf",
    "rby1_dg5f": MODELS / "rby1_dg5f" / "rby1_dg5f.urdf",
    "dg5f_right": MODELS / "dg5f" / "dg5f_right.urdf",
    "dg5f_left": MODELS / "dg5f" / "dg5f_left.urdf",
}

TORSO = tuple(f"torso_{i}" for i in range(6))
RIGHT_ARM = tuple(f"right_arm_{i}" for i in range(7))
LEFT_ARM = tuple(f"left_arm_{i}" for i in range(7))
HEAD = ("head_0", "head_1")
BODY = TORSO + RIGHT_ARM + LEFT_ARM + HEAD


def hand_joints(side: str) -> tuple[str, ...]:
    """Return the 20 joints of a DG-5F, thumb to pinky, palm to tip."""
    return tuple(f"{side[0]}j_dg_{f}_{k}" for f in range(1, 6) for k in range(1, 5))


class MuJoCoRobot:
    """An MJCF with its data, addressed by joint and body names."""

    def __init__(self, name: str) -> None:
        self.model = mujoco.MjModel.from_xml_path(str(MJCF[name]))
        self.data = mujoco.MjData(self.model)

    def names(self, kind: mujoco.mjtObj, count: int) -> list[str]:
        """Return the names of all objects of a kind, in model order."""
        return [mujoco.mj_id2name(self.model, kind, i) for i in range(count)]

    def reset(self, key: str | None = None) -> None:
        """Return to a keyframe, or to the model's own zero."""
        if key is None:
            mujoco.mj_resetData(self.model, self.data)
        else:
            mujoco.mj_resetDataKeyframe(self.model, self.data, self.model.key(key).id)
        mujoco.mj_forward(self.model, self.data)

    def set_joints(self, joints: dict[str, float]) -> None:
        """Set joints, with all others at zero, and update every frame."""
        mujoco.mj_resetData(self.model, self.data)
        for name, angle in joints.items():
            self.data.joint(name).qpos[0] = angle
        mujoco.mj_forward(self.model, self.data)

    def pose(self, frame: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return position [m] and rotation matrix of a body, or else of a site."""
        body = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, frame)
        found = self.data.body(frame) if body >= 0 else self.data.site(frame)
        return found.xpos.copy(), found.xmat.reshape(3, 3).copy()

    def step(self, seconds: float) -> None:
        """Advance the simulation."""
        count = round(seconds / self.model.opt.timestep)
        mujoco.mj_step(self.model, self.data, nstep=count)

    def warnings(self) -> int:
        """Return how many warnings MuJoCo has counted since the last reset."""
        return int(sum(warning.number for warning in self.data.warning))


class PinocchioRobot:
    """A URDF with its data, addressed by joint and frame names."""

    def __init__(self, name: str) -> None:
        self.model = pin.buildModelFromUrdf(str(URDF[name]))
        self.data = self.model.createData()

    def configuration(self, joints: dict[str, float]) -> NDArray[np.float64]:
        """Return the configuration with these joints, all others at zero."""
        q = pin.neutral(self.model)
        for name, angle in joints.items():
            joint = self.model.joints[self.model.getJointId(name)]
            # Continuous joints are stored as a point of the unit circle.
            q[joint.idx_q : joint.idx_q + joint.nq] = (
                [angle] if joint.nq == 1 else [np.cos(angle), np.sin(angle)]
            )
        return np.asarray(q)

    def set_joints(self, joints: dict[str, float]) -> None:
        """Set joints, with all others at zero, and update every frame."""
        pin.framesForwardKinematics(self.model, self.data, self.configuration(joints))

    def pose(self, frame: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return position [m] and rotation matrix of a frame."""
        placement = self.data.oMf[self.model.getFrameId(frame)]
        return placement.translation, placement.rotation


def rotation_angle(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Return the angle [rad] between two rotation matrices, exact for small ones."""
    skew = first.T @ second - second.T @ first
    sine = np.linalg.norm([skew[2, 1], skew[0, 2], skew[1, 0]]) / 2.0
    cosine = (np.trace(first.T @ second) - 1.0) / 2.0
    return float(np.arctan2(sine, cosine))


def matrix_of(xyzw: tuple[float, ...]) -> NDArray[np.float64]:
    """Return the rotation matrix of a quaternion xyzw, normalised first."""
    x, y, z, w = np.asarray(xyzw) / np.linalg.norm(xyzw)
    out = np.empty(9)
    mujoco.mju_quat2Mat(out, np.array([w, x, y, z]))
    return out.reshape(3, 3)
