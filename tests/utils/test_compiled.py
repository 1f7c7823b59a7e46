# SPDX-License-Identifier: Apache-2.0
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from teleop_system.utils.compiled import IS_COMPILED, kernel
from tests.waiting import LIMIT

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
IMPORTING = """
from figures import FACTOR
from teleop_system.utils.compiled import kernel

@kernel("f8(f8)")
def twice(number):
    return FACTOR * number
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
    return [user.communicate(timeout=LIMIT) for user in users]


def test_only_one_of_several_processes_compiles_and_logs_it(tmp_path: Path) -> None:
    (tmp_path / "some_kernels.py").write_text(KERNELS)
    first = run_together(tmp_path, 3)
    assert sorted(out for out, _ in first) == ["4.0 0\n", "4.0 0\n", "4.0 1\n"], first
    assert sum("compiling kernels" in error for _, error in first) == 1
    assert run_together(tmp_path, 1) == [("4.0 0\n", "")]


def test_a_kernel_is_compiled_again_when_a_kernel_that_it_calls_has_changed(
    tmp_path: Path,
) -> None:
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


def test_a_kernel_is_compiled_again_when_an_imported_constant_has_changed(
    tmp_path: Path,
) -> None:
    (tmp_path / "figures.py").write_text("FACTOR = 2.0\nUNUSED = 1.0\n")
    (tmp_path / "some_kernels.py").write_text(IMPORTING)
    assert run_together(tmp_path, 1)[0][0] == "4.0 1\n"
    (tmp_path / "figures.py").write_text("FACTOR = 2.0\nUNUSED = 5.0\n")
    assert run_together(tmp_path, 1) == [("4.0 0\n", "")]
    (tmp_path / "figures.py").write_text("FACTOR = 3.0\nUNUSED = 5.0\n")
    assert run_together(tmp_path, 1)[0][0] == "6.0 1\n"
    assert run_together(tmp_path, 1) == [("6.0 0\n", "")]


def test_a_changed_constant_of_a_called_kernel_counts_as_well(tmp_path: Path) -> None:
    (tmp_path / "figures.py").write_text("FACTOR = 2.0\n")
    (tmp_path / "inner_kernels.py").write_text(IMPORTING)
    outer = CALLING.format(module="inner_kernels", name="same", called="twice")
    (tmp_path / "some_kernels.py").write_text(outer + "\n\ntwice = same\n")
    assert run_together(tmp_path, 1)[0][0] == "4.0 1\n"
    (tmp_path / "figures.py").write_text("FACTOR = 3.0\n")
    assert run_together(tmp_path, 1)[0][0] == "6.0 1\n"


ROW = np.dtype([("numbers", np.float64, 3), ("total", np.float64)])


class Extent(NamedTuple):
    """The named result of a kernel."""

    least: float
    greatest: float


def test_kernels_take_rows_with_named_fields_and_return_named_results() -> None:
    @kernel("(ROW[::1],)")
    def sum_up(rows: Any) -> Extent:
        least, greatest = np.inf, -np.inf
        for n in range(rows.size):
            row = rows[n]
            row["total"] = row["numbers"].sum()
            least, greatest = min(least, row["total"]), max(greatest, row["total"])
        return Extent(least, greatest)

    rows = np.zeros(2, ROW)
    rows["numbers"] = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    assert sum_up(rows) == Extent(least=6.0, greatest=15.0)
    assert rows["total"].tolist() == [6.0, 15.0]


@pytest.mark.skipif(not IS_COMPILED, reason="Numba is not in use")
def test_a_kernel_may_use_only_what_is_tracked_for_changes() -> None:
    with pytest.raises(TypeError, match="uses 'Path'"):

        @kernel("f8(f8)")
        def bad(number: float) -> float:
            return float(len(Path(str(number)).name))


def test_a_kernel_refuses_other_types_than_declared() -> None:
    @kernel("f8(f8)")
    def half(number: float) -> float:
        return 0.5 * number

    assert half(3.0) == 1.5
    with pytest.raises(TypeError):
        half("three")  # type: ignore[arg-type]
