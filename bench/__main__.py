# SPDX-License-Identifier: Apache-2.0
"""Runs all measurements, or selected ones: `python -m bench ik jitter`."""

import os

# Small matrices are slower with several threads; must be set before NumPy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import importlib
import sys
import time
from pathlib import Path

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

Row = dict[str, object]

NAMES = sorted(path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*"))


def main() -> int:
    """Run measurements, show tables, and return 1 if a budget is missed."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "names", nargs="*", help=f"measurements: {', '.join(NAMES)} (default: all)"
    )
    names = parser.parse_args().names or NAMES
    for name in names:
        if name not in NAMES:
            parser.error(f"no measurement {name!r}; valid names: {', '.join(NAMES)}")
    console = Console()
    missed = [name for name in names if not _measure(name, console)]
    if missed:
        console.print(f"[red]budget missed:[/] {', '.join(missed)}")
        return 1
    console.print("[green]every budget met[/]")
    return 0


def _measure(name: str, console: Console) -> bool:
    module = importlib.import_module(f"bench.bench_{name}")
    begin = time.perf_counter()
    with console.status(f"measuring [bold]{name}[/] …"):
        rows: list[Row] = module.rows()
    console.print(_table(name, rows, time.perf_counter() - begin))
    return all(row["ok"] for row in rows if "ok" in row)


def _table(name: str, rows: list[Row], seconds: float) -> Table:
    """Return the table, transposed so that many figures fit a terminal."""
    heads = list(dict.fromkeys(head for row in rows for head in row))
    table = Table(title=f"{name} ({seconds:.0f} s)", box=box.SIMPLE_HEAD, title_justify="left")
    table.add_column(escape(heads[0]))
    for row in rows:
        table.add_column(escape(str(row[heads[0]])), justify="right")
    for head in heads[1:]:
        table.add_row(escape(head), *(_cell(row.get(head)) for row in rows))
    return table


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "[green]met[/]" if value else "[red]missed[/]"
    return escape(str(value))


if __name__ == "__main__":
    sys.exit(main())
