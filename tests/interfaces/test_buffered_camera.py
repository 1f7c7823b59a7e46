# SPDX-License-Identifier: Apache-2.0
"""A camera that keeps its newest frame, and wakes the threads that wait for one."""

import math
import threading
import time

import numpy as np
import pytest

from teleop_system.exceptions import DeviceNotConnectedError
from teleop_system.interfaces import BufferedCamera, RGBDFrame

PATIENCE = 10.0


class Film(BufferedCamera):
    """Returns the frame that a test sets."""

    def __init__(self) -> None:
        super().__init__("film")

    def initialize(self) -> bool:
        return True

    def show(self, stamp: float) -> RGBDFrame:
        rgb, depth = np.zeros((2, 3, 3), np.uint8), np.zeros((2, 3), np.float32)
        frame = RGBDFrame(rgb, depth, stamp * np.eye(3), np.eye(4), stamp, width=3, height=2)
        self.put_frame(frame)
        return frame

    def set_orientation(self, pan: float, tilt: float) -> None: ...

    def get_orientation(self) -> tuple[float, float]:
        return (0.0, 0.0)

    def is_connected(self) -> bool:
        return self.has_frame

    def shutdown(self) -> None:
        self.clear_frame()


def test_the_newest_frame_is_returned_until_the_camera_is_closed() -> None:
    film = Film()
    for use in (film.get_rgbd, film.get_intrinsics):
        with pytest.raises(DeviceNotConnectedError, match="film"):
            use()
    film.show(1.0)
    newest = film.show(2.0)
    assert film.get_rgbd() is newest
    np.testing.assert_array_equal(film.get_intrinsics(), 2.0 * np.eye(3))
    film.shutdown()
    with pytest.raises(DeviceNotConnectedError, match="film"):
        film.get_rgbd()


def test_waiting_ends_with_a_frame_whose_stamp_is_older() -> None:
    film = Film()
    film.show(1.0)
    threading.Timer(0.05, film.show, [0.5]).start()
    begun = time.monotonic()
    found = film.wait_rgbd(1.0, PATIENCE)
    assert found is not None, "a clock that was set back does not block"
    assert found.timestamp == 0.5
    assert time.monotonic() - begun < 2.0


def test_a_frame_wakes_a_waiting_thread() -> None:
    film, seen = Film(), []
    assert film.wait_rgbd(math.nan, 0.0) is None
    film.show(1.0)
    assert film.wait_rgbd(1.0, 0.0) is None
    waiting = threading.Thread(target=lambda: seen.append(film.wait_rgbd(1.0, PATIENCE)))
    waiting.start()
    newest = film.show(2.0)
    waiting.join(PATIENCE)
    assert seen == [newest]
