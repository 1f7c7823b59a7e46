# SPDX-License-Identifier: Apache-2.0
"""Compiles the few functions that do arithmetic joint by joint, in every cycle.

NumPy needs a call, and memory, for every operation on a handful of numbers; a loop in machine code
does all of them at once. Such functions are called *kernels* and live in files named
`*kernels.py`. A kernel calls kernels of its own file only, because a compiled function is kept on
disk until *its own* file changes.

Numba compiles exactly what is written: no reordering of sums and no threads, so results are those
of the same Python code to the last bit. Without Numba the kernels run as that Python code, only
slower.
"""

import importlib
from collections.abc import Callable
from typing import Any, TypeVar

try:
    # By name, so that nothing here depends on whether its types are known.
    _numba: Any = importlib.import_module("numba")
except ImportError:  # Slower, not different.
    _numba = None

F = TypeVar("F", bound=Callable[..., Any])

IS_COMPILED = _numba is not None
"""Whether kernels run as machine code."""


def kernel(signature: str) -> Callable[[F], F]:
    """Return a decorator that compiles a function for the types of its signature.

    It is compiled when its module is imported, or loaded from disk where that was done before, so
    that no cycle ever waits for a compiler.

    Args:
        signature: Types in Numba's notation: `f8` a number, `f8[::1]` a vector.
    """

    def compile_function(function: F) -> F:
        if _numba is None:
            return function
        compiled: F = _numba.njit(signature, cache=True)(function)
        return compiled

    return compile_function
