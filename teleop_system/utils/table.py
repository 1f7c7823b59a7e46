# SPDX-License-Identifier: Apache-2.0
"""Values of every tick, kept in memory while the loop runs and written at its end."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import InvalidValueError, UnknownNameError

Array = NDArray[np.float64]

CHUNK_ROWS = 2048


class Table:
    """Rows of numbers with named columns, each one or more numbers wide.

    A row is filled in place, so recording costs little more than a copy. Memory grows in chunks;
    beyond `limit` rows the oldest chunk is dropped.

    Args:
        columns: Width of every column by name.
        limit: Largest number of rows to keep.

    Attributes:
        slices: Slice of a row by column name.
        dropped: Number of dropped rows.
    """

    def __init__(self, columns: Mapping[str, int], limit: int | None = None) -> None:
        if not columns or any(width < 1 for width in columns.values()):
            raise InvalidValueError(f"columns need names and widths above 0, got {columns}")
        self.slices: dict[str, slice] = {}
        start = 0
        for name, width in columns.items():
            self.slices[name] = slice(start, start + width)
            start += width
        self._width = start
        self._limit = limit
        self._chunks: list[Array] = []
        self._used = CHUNK_ROWS
        self.dropped = 0

    def __len__(self) -> int:
        return max(0, len(self._chunks) - 1) * CHUNK_ROWS + (self._used if self._chunks else 0)

    def new_row(self) -> Array:
        """Return the next row to fill in, full of NaN, shape (W,)."""
        if self._used == CHUNK_ROWS:
            self._begin_chunk()
        row: Array = self._chunks[-1][self._used]
        self._used += 1
        return row

    def column(self, name: str) -> Array:
        """Return a column, shape (rows,), or (rows, width) if it is wider than one."""
        if name not in self.slices:
            raise UnknownNameError("column", name, self.slices)
        column = self.slices[name]
        if not self._chunks:
            values = np.empty((0, column.stop - column.start))
        else:
            last = self._chunks[-1][: self._used]
            values = np.concatenate([chunk[:, column] for chunk in (*self._chunks[:-1], last)])
        return values[:, 0] if values.shape[1] == 1 else values

    def columns(self) -> dict[str, Array]:
        """Return all columns by name."""
        return {name: self.column(name) for name in self.slices}

    def save(self, path: Path, **extra: NDArray[np.generic]) -> Path:
        """Write all columns, and further arrays, as a compressed `.npz` file."""
        np.savez_compressed(path, allow_pickle=False, **self.columns(), **extra)
        return path

    def _begin_chunk(self) -> None:
        if self._limit is not None and len(self) >= self._limit and self._chunks:
            del self._chunks[0]
            self.dropped += CHUNK_ROWS
        self._chunks.append(np.full((CHUNK_ROWS, self._width), np.nan))
        self._used = 0
