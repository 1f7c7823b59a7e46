# SPDX-License-Identifier: Apache-2.0
"""The depth kernels against the same steps in NumPy."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from teleop_system.modules.camera.image_kernels import join_depth, split_depth


def split_and_join(depth: np.ndarray) -> np.ndarray:
    planes = np.empty((2, *depth.shape), np.uint8)
    split_depth(depth, planes)
    found = np.empty_like(depth)
    join_depth(planes, found)
    return found


def split_with_numpy(depth: np.ndarray) -> np.ndarray:
    scaled = depth * np.float32(1000.0) + np.float32(0.5)
    with np.errstate(invalid="ignore"):
        scaled[~((depth > 0.0) & (scaled < 65536.0))] = 0.0
    millimetres = scaled.astype(np.uint16)
    difference = millimetres + np.uint16(128)
    difference[1:] -= millimetres[:-1]
    return np.stack([difference & 255, difference >> 8]).astype(np.uint8)


def join_with_numpy(planes: np.ndarray) -> np.ndarray:
    difference = planes[1].astype(np.uint16) * 256 + planes[0] - np.uint16(128)
    millimetres = np.add.accumulate(difference, axis=0, dtype=np.uint16)
    return millimetres * np.float32(0.001)


def test_every_number_of_millimetres_is_restored_exactly() -> None:
    millimetres = np.arange(65536, dtype=np.float64).reshape(256, 256)
    depth = (millimetres / 1000.0).astype(np.float32)
    found = split_and_join(depth)
    np.testing.assert_array_equal(np.rint(found.astype(np.float64) * 1000.0), millimetres)
    np.testing.assert_array_equal(split_and_join(found), found)


def test_depth_is_rounded_to_the_nearest_millimetre() -> None:
    depth = np.random.default_rng(0).uniform(0.001, 65.5, (64, 64)).astype(np.float32)
    assert np.abs(split_and_join(depth) - depth).max() <= 0.0005 + 1e-5


def test_invalid_depths_count_as_not_measured() -> None:
    depth = np.array([[np.nan, np.inf, -np.inf, -1.0, 65.536, 1e9, 0.0, 1.0]], np.float32)
    np.testing.assert_allclose(split_and_join(depth), [[0, 0, 0, 0, 0, 0, 0, 1.0]], atol=1e-6)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**31), height=st.integers(1, 40), width=st.integers(1, 40))
def test_kernels_give_the_same_bytes_as_numpy(seed: int, height: int, width: int) -> None:
    depth = np.random.default_rng(seed).normal(20.0, 30.0, (height, width)).astype(np.float32)
    planes = np.empty((2, height, width), np.uint8)
    split_depth(depth, planes)
    np.testing.assert_array_equal(planes, split_with_numpy(depth))
    found = np.empty_like(depth)
    join_depth(planes, found)
    np.testing.assert_array_equal(found, join_with_numpy(planes))
