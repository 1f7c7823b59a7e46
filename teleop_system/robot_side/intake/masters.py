# SPDX-License-Identifier: Apache-2.0
"""Which of the operator's modules are there, and whether their inputs are fresh."""

from dataclasses import dataclass

GONE_AFTER = 1.0
"""Silence of a module in [s] after which it is no longer there."""


@dataclass(frozen=True, slots=True)
class _Word:
    """What a module last said, and when."""

    fresh: bool
    detail: str
    time: float


class MasterWatch:
    """What the operator's modules say of their inputs.

    Args:
        gone_after: Silence in [s] after which a module is no longer there.
    """

    def __init__(self, gone_after: float = GONE_AFTER) -> None:
        self._gone_after = gone_after
        self._words: dict[str, _Word] = {}

    def hear(self, module: str, *, fresh: bool, detail: str, now: float) -> None:
        """Take what a module says at time `now` [s].

        Args:
            module: Its name.
            fresh: Whether all inputs it needs are fresh.
            detail: Which are not, in words.
            now: When it said so.
        """
        self._words[module] = _Word(fresh, detail, now)

    def present(self, now: float) -> tuple[str, ...]:
        """Return the modules that are there at time `now` [s], in the order they came."""
        return tuple(
            name for name, word in self._words.items() if now - word.time <= self._gone_after
        )

    def are_fresh(self, now: float) -> bool:
        """Tell whether some module is there, and none lacks an input."""
        present = self.present(now)
        return bool(present) and all(self._words[name].fresh for name in present)

    def some_are_fresh(self, now: float) -> bool:
        """Tell whether some module that is there lacks no input."""
        return any(self._words[name].fresh for name in self.present(now))

    def missing(self, now: float) -> str:
        """Return which modules lack which inputs, in words; empty where none does."""
        lacking = [name for name in self.present(now) if not self._words[name].fresh]
        return "; ".join(f"{name}: {self._words[name].detail}" for name in lacking)
