# SPDX-License-Identifier: Apache-2.0
"""Compiles the few functions that do arithmetic joint by joint, in every cycle.

NumPy needs a call, and memory, for every operation on a handful of numbers; a loop in machine code
does all of them at once. Such functions are called *kernels* and live in files named
`*kernels.py`. What was compiled is kept on disk until its file changes, or that of a kernel which
it has imported by name and calls. Constants of other files are not looked after.

Numba compiles exactly what is written: no reordering of sums and no threads, so results are those
of the same Python code to the last bit. Without Numba the kernels run as that Python code, only
slower.
"""

import contextlib
import importlib
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

try:
    # By name, so that nothing here depends on whether its types are known.
    _numba: Any = importlib.import_module("numba")
except ImportError:  # Slower, not different.
    _numba = None

logger = logging.getLogger(__name__)

F = TypeVar("F", bound=Callable[..., Any])

IS_COMPILED = _numba is not None and not _numba.config.DISABLE_JIT
"""Whether kernels run as machine code."""
_told: set[Path] = set()
_sources: dict[Any, frozenset[Path]] = {}
"""The files that each kernel was compiled from: its own, and those of all that it calls."""


def kernel(signature: str) -> Callable[[F], F]:
    """Return a decorator that compiles a function for the types of its signature.

    It is compiled when its module is imported, or loaded from disk where that was done before, so
    that no cycle ever waits for a compiler.

    Args:
        signature: Types in Numba's notation: `f8` a number, `f8[::1]` a vector.
    """

    def compile_function(function: F) -> F:
        if not IS_COMPILED:
            return function
        compiled = _numba.njit(cache=True)(function)
        folder = Path(compiled.stats.cache_path)
        _sources[compiled] = sources = _sources_of(function)
        if _is_kept(function, sources, folder):
            compiled.compile(signature)
        else:
            with _alone(folder):
                if not _is_kept(function, sources, folder):
                    _tell_once(folder)
                    _forget(function, folder)
                compiled.compile(signature)
        compiled.disable_compile()
        found: F = compiled
        return found

    return compile_function


def _sources_of(function: Callable[..., Any]) -> frozenset[Path]:
    """Return the files of a function and of all kernels that it calls."""
    names, known = function.__code__.co_names, function.__globals__
    called = [_sources[known[name]] for name in names if _is_kernel(known.get(name))]
    return frozenset({Path(function.__code__.co_filename)}.union(*called))


def _is_kernel(value: object) -> bool:
    return isinstance(value, _numba.core.registry.CPUDispatcher) and value in _sources


def _kept_files(function: Callable[..., Any], folder: Path) -> list[Path]:
    source = Path(function.__code__.co_filename)
    return list(folder.glob(f"{source.stem}.{function.__qualname__}-*.nbi"))


def _is_kept(function: Callable[..., Any], sources: frozenset[Path], folder: Path) -> bool:
    """Tell whether a compiled function is on disk, and its sources have not changed since."""
    changed = max(source.stat().st_mtime for source in sources)
    return any(file.stat().st_mtime >= changed for file in _kept_files(function, folder))


def _forget(function: Callable[..., Any], folder: Path) -> None:
    """Remove what is on disk: Numba itself looks at the function's own file only."""
    for file in _kept_files(function, folder):
        file.unlink(missing_ok=True)


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let one process compile, while those that were started with it wait for what it keeps."""
    try:
        # Only here, for some systems have none.
        fcntl = importlib.import_module("fcntl")
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / "compiling.lock").open("w")
    except (ImportError, OSError):  # Then each compiles for itself.
        yield
        return
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _tell_once(folder: Path) -> None:
    if folder not in _told:
        _told.add(folder)
        logger.warning("compiling kernels of %s, once (some seconds)", folder.parent.name)
