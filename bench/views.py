# SPDX-License-Identifier: Apache-2.0
"""Images of the simulated head camera, clean and with the noise of a real camera."""

import dataclasses

import numpy as np

from teleop_system.interfaces import RGBDFrame
from teleop_system.robots import load_robot
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator


def rendered_frame() -> RGBDFrame:
    """Return a rendered frame of 640 x 480 pixels: arms, a table with objects, and a floor."""
    robot = load_robot("rby1")
    simulator = MuJoCoSimulator()
    simulator.initialize({"mjcf_path": robot.mjcf, "keyframe": "ready", "scene": "table"})
    try:
        simulator.set_joint_targets(["head_0", "head_1"], [0.1, 0.5])
        simulator.step(1.0)
        return simulator.get_camera_rgbd("head_camera")
    finally:
        simulator.shutdown()


def noisy(frame: RGBDFrame, seed: int = 0) -> RGBDFrame:
    """Return the frame with the noise of a stereo camera: 2 mm at 1 m, quadratic in depth.

    Two percent of the pixels have no depth, as at the edges of objects, and colours have noise of
    three steps out of 256.
    """
    rng = np.random.default_rng(seed)
    error = 0.002 * frame.depth**2 * rng.normal(size=frame.depth.shape)
    depth = np.maximum(frame.depth + error, 0.0).astype(np.float32)
    depth[(rng.random(depth.shape) < 0.02) | (frame.depth == 0.0)] = 0.0
    rgb = np.clip(frame.rgb + 3.0 * rng.normal(size=frame.rgb.shape), 0.0, 255.0)
    return dataclasses.replace(frame, depth=depth, rgb=rgb.astype(np.uint8))
