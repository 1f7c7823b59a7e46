# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teleop_system.modules.camera.streaming.depth_planes import BEST, NUMPY, DepthPlanes

KERNELS = [pytest.param(NUMPY, id="numpy"), pytest.param(BEST, id="best")]


def there_and_back(kernels: DepthPlanes, depth: np.ndarray) -> np.ndarray:
    planes = np.empty((2, *depth.shape), np.uint8)
    kernels.split(depth, planes)
    found = np.empty_like(depth)
    kernels.join(planes, found)
    return found


@pytest.mark.parametrize("kernels", KERNELS)
def test_every_number_of_millimetres_comes_back_exactly(kernels: DepthPlanes) -> None:
    millimetres = np.arange(65536, dtype=np.float64).reshape(256, 256)
    depth = (millimetres / 1000.0).astype(np.float32)
    found = there_and_back(kernels, depth)
    np.testing.assert_array_equal(np.rint(found.astype(np.float64) * 1000.0), millimetres)
    np.testing.assert_array_equal(there_and_back(kernels, found), found)


@pytest.mark.parametrize("kernels", KERNELS)
def test_depth_is_rounded_to_the_nearest_millimetre(kernels: DepthPlanes) -> None:
    depth = np.random.default_rng(0).uniform(0.001, 65.5, (64, 64)).astype(np.float32)
    assert np.abs(there_and_back(kernels, depth) - depth).max() <= 0.0005 + 1e-5


@pytest.mark.parametrize("kernels", KERNELS)
def test_what_is_no_distance_counts_as_not_measured(kernels: DepthPlanes) -> None:
    depth = np.array([[np.nan, np.inf, -np.inf, -1.0, 65.536, 1e9, 0.0, 1.0]], np.float32)
    np.testing.assert_allclose(
        there_and_back(kernels, depth), [[0, 0, 0, 0, 0, 0, 0, 1.0]], atol=1e-6
    )


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**31), height=st.integers(1, 40), width=st.integers(1, 40))
def test_compiled_loops_give_the_same_bytes_as_numpy(seed: int, height: int, width: int) -> None:
    depth = np.random.default_rng(seed).normal(20.0, 30.0, (height, width)).astype(np.float32)
    ours, theirs = (np.empty((2, height, width), np.uint8) for _ in range(2))
    BEST.split(depth, ours)
    NUMPY.split(depth, theirs)
    np.testing.assert_array_equal(ours, theirs)
    found, expected = np.empty_like(depth), np.empty_like(depth)
    BEST.join(ours, found)
    NUMPY.join(ours, expected)
    np.testing.assert_array_equal(found, expected)
