# SPDX-License-Identifier: Apache-2.0
"""What all tests share."""

import os

# Small matrices are slower, not faster, on several threads; it must be said before NumPy loads.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest

pytest.register_assert_rewrite("teleop_system.testing")
