# SPDX-License-Identifier: Apache-2.0
import subprocess
import sys
from pathlib import Path

import pytest

from teleop_system.utils.compiled import kernel

KERNELS = """
from teleop_system.utils.compiled import kernel

@kernel("f8(f8)")
def twice(number):
    return 2.0 * number
"""
CALLING = """
from teleop_system.utils.compiled import kernel
from {module} import {called}

@kernel("f8(f8)")
def {name}(number):
    return {called}(number)
"""
USER = "import some_kernels as k; print(k.twice(2.0), k.twice.stats.cache_misses.total())"


def run_together(folder: Path, count: int) -> list[tuple[str, str]]:
    """Import the kernels in several processes at once; return what each prints."""
    users = [
        subprocess.Popen(
            [sys.executable, "-c", USER],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(count)
    ]
    return [user.communicate(timeout=60.0) for user in users]


def test_of_several_processes_one_compiles_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "some_kernels.py").write_text(KERNELS)
    first = run_together(tmp_path, 3)
    assert sorted(out for out, _ in first) == ["4.0 0\n", "4.0 0\n", "4.0 1\n"], first
    assert sum("compiling kernels" in error for _, error in first) == 1
    assert run_together(tmp_path, 1) == [("4.0 0\n", "")]


def test_a_kernel_is_compiled_anew_when_one_that_it_calls_has_changed(tmp_path: Path) -> None:
    inner, middle = tmp_path / "inner_kernels.py", tmp_path / "middle_kernels.py"
    inner.write_text(KERNELS)
    middle.write_text(CALLING.format(module="inner_kernels", name="same", called="twice"))
    outer = CALLING.format(module="middle_kernels", name="twice", called="same")
    (tmp_path / "some_kernels.py").write_text(outer)
    assert run_together(tmp_path, 1)[0][0] == "4.0 1\n"
    assert run_together(tmp_path, 1) == [("4.0 0\n", "")]
    inner.write_text(KERNELS.replace("2.0", "3.0"))
    assert run_together(tmp_path, 1)[0][0] == "6.0 1\n"
    assert run_together(tmp_path, 1) == [("6.0 0\n", "")]


def test_a_kernel_refuses_other_types_than_its_own() -> None:
    @kernel("f8(f8)")
    def half(number: float) -> float:
        return 0.5 * number

    assert half(3.0) == 1.5
    with pytest.raises(TypeError):
        half("three")  # type: ignore[arg-type]
