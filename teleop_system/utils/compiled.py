# SPDX-License-Identifier: Apache-2.0
"""Compiles the few functions that do arithmetic joint by joint, in every cycle.

NumPy needs a call, and memory, for every operation on a handful of numbers; a loop in machine code
does all of them at once. Such functions are called *kernels* and live in files named
`*kernels.py`. A kernel may use kernels, constants, data types and named tuples of any file that
it imports them from by name. The machine code is kept on disk until the kernel or anything it
uses changes.

Numba compiles exactly what is written: no reordering of sums and no threads, so results are those
of the same Python code to the last bit. Without Numba the kernels run as that Python code, only
slower.
"""

import contextlib
import hashlib
import importlib
import logging
import math
import platform
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType
from typing import Any, TypeVar

import numpy as np

try:
    # By name, so that type checks do not depend on whether Numba is installed.
    _numba: Any = importlib.import_module("numba")
except ImportError:  # The kernels are slower, with equal results.
    _numba = None

logger = logging.getLogger(__name__)

F = TypeVar("F", bound=Callable[..., Any])

IS_COMPILED = _numba is not None and not _numba.config.DISABLE_JIT
"""Whether kernels run as machine code."""

_MODULES = (math, np)
"""The modules that a kernel may use as a whole."""
_announced: set[Path] = set()
_digests: dict[Any, str] = {}
"""Digest of the sources of each kernel."""


def kernel(signature: str) -> Callable[[F], F]:
    """Return a decorator that compiles a function for the types of its signature.

    It is compiled when its module is first imported, and loaded from disk after that, so that no
    cycle waits for the compiler.

    Args:
        signature: Types in Numba's notation: `f8` a number, `f8[::1]` a vector. A NumPy data type
            of the function's module may be used by its name; `JOINT[::1]` is an array of it.
            Without a result, as in `(f8, f8)`, the type of the result follows from the function.

    Raises:
        TypeError: On import, if the function uses something that is not tracked for changes.
    """

    def compile_function(function: F) -> F:
        if not IS_COMPILED:
            return function
        types = _types(function, signature)
        digest = _digest(function, types)
        compiled = _numba.njit(cache=True)(function)
        _digests[compiled] = digest
        entry = _CacheEntry(function, Path(compiled.stats.cache_path), digest)
        if entry.is_current():
            compiled.compile(types)
        else:
            with _exclusive(entry.folder):
                if not entry.is_current():
                    _announce(entry.folder)
                    entry.discard()
                    compiled.compile(types)
                    entry.mark_current()
                else:
                    compiled.compile(types)
        compiled.disable_compile()
        result: F = compiled
        return result

    return compile_function


def _types(function: Callable[..., Any], signature: str) -> Any:
    """Return the signature as Numba's types."""
    names = {
        name: _numba.from_dtype(value)
        for name, value in function.__globals__.items()
        if isinstance(value, np.dtype)
    }
    return eval(signature, {}, vars(_numba.types) | names)  # As Numba does with such a string.


def _digest(function: Callable[..., Any], types: Any) -> str:
    """Return a digest of the function, its types, and everything that it uses."""
    code = function.__code__
    parts = [platform.python_version(), _numba.__version__, str(types), *_code_parts(code)]
    for name in sorted(_global_names(code) & function.__globals__.keys()):
        parts += [name, _content(function, name, function.__globals__[name])]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _code_parts(code: CodeType) -> Iterator[str]:
    yield code.co_code.hex()
    yield repr((code.co_names, code.co_varnames))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code_parts(constant)
        else:
            yield repr(constant)


def _global_names(code: CodeType) -> set[str]:
    inner = [_global_names(each) for each in code.co_consts if isinstance(each, CodeType)]
    return set(code.co_names).union(*inner)


def _content(function: Callable[..., Any], name: str, value: object) -> str:
    """Return the contribution to the digest of a global that a kernel uses."""
    if isinstance(value, _numba.core.registry.CPUDispatcher) and value in _digests:
        return _digests[value]
    if isinstance(value, int | float | str | np.number | np.dtype):
        return repr(value)
    if isinstance(value, np.ndarray):
        return repr((value.dtype, value.shape, value.tobytes()))
    if isinstance(value, tuple) and all(isinstance(item, int | float | str) for item in value):
        return repr(value)
    if isinstance(value, type) and hasattr(value, "_fields"):  # A named tuple.
        return repr((value.__qualname__, value._fields))
    if any(value is module for module in _MODULES) or value is getattr(math, name, None):
        return name
    raise TypeError(
        f"the kernel {function.__qualname__!r} uses {name!r}; it may use a kernel, a "
        "number, a string, a tuple of these, an array, a data type, a named tuple, math or numpy"
    )


class _CacheEntry:
    """The files on disk of one compiled kernel, and the digest of their sources."""

    def __init__(self, function: Callable[..., Any], folder: Path, digest: str) -> None:
        source = Path(function.__code__.co_filename)
        stamp = source.stat()
        self.folder = folder
        self._name = f"{source.stem}.{function.__qualname__}"
        # Numba compares the time and size of the file itself, so they are part of the key.
        self._key = f"{digest} {stamp.st_mtime_ns} {stamp.st_size}"
        self._mark = folder / f"{self._name}.key"

    def is_current(self) -> bool:
        """Return whether the files match the present sources."""
        try:
            return self._mark.read_text() == self._key
        except OSError:
            return False

    def discard(self) -> None:
        """Remove the files."""
        for file in [self._mark, *self.folder.glob(f"{self._name}-*.nbi")]:
            file.unlink(missing_ok=True)

    def mark_current(self) -> None:
        """Store the digest of the sources."""
        with contextlib.suppress(OSError):  # The next process compiles again.
            self._mark.write_text(self._key)


@contextlib.contextmanager
def _exclusive(folder: Path) -> Iterator[None]:
    """Compile in one process; others that need the same kernels wait."""
    try:
        fcntl = importlib.import_module("fcntl")  # Missing on some systems.
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / "compiling.lock").open("w")
    except (ImportError, OSError):  # Then each process compiles.
        yield
        return
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _announce(folder: Path) -> None:
    if folder not in _announced:
        _announced.add(folder)
        logger.warning("compiling kernels of %s, once (some seconds)", folder.parent.name)
