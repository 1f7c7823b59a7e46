# SPDX-License-Identifier: Apache-2.0
"""Writes pictures and videos to files."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import MissingExtraError

Image = NDArray[np.uint8]


def save_picture(picture: Image, path: Path) -> Path:
    """Write a picture, shape (H, W, 3), in the format of the file extension."""
    try:
        from PIL import Image as PillowImage
    except ImportError as error:
        raise MissingExtraError("pillow", "sim") from error
    path.parent.mkdir(parents=True, exist_ok=True)
    PillowImage.fromarray(picture).save(path)
    return path


def save_video(frames: Sequence[Image], path: Path, rate: float) -> Path:
    """Write frames of equal shape (H, W, 3) as an MP4 that any browser plays, `rate` in [Hz]."""
    try:
        import imageio_ffmpeg
    except ImportError as error:
        raise MissingExtraError("imageio-ffmpeg", "sim") from error
    path.parent.mkdir(parents=True, exist_ok=True)
    height, width = frames[0].shape[:2]
    writer = imageio_ffmpeg.write_frames(
        str(path), (width, height), fps=rate, macro_block_size=2, quality=6
    )
    writer.send(None)  # Starts the encoder.
    try:
        for frame in frames:
            writer.send(np.ascontiguousarray(frame))
    finally:
        writer.close()
    return path
