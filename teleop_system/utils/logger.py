# SPDX-License-Identifier: Apache-2.0
"""Logging: all loggers are below one root; the program's entry point calls `setup_logging`.

Modules call `get_logger` or `logging.getLogger(__name__)`; neither adds a handler.
"""

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from teleop_system.exceptions import ConfigError, suggestion

if TYPE_CHECKING:
    from rich.console import Console

ROOT = "teleop_system"
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
PLAIN_FORMAT = "%(asctime)s %(levelname)-8s %(source)s: %(message)s"

_installed: list[logging.Handler] = []


def get_logger(name: str = "") -> logging.Logger:
    """Return the logger `name` below the package's root; the prefix of the root is optional."""
    if name in ("", ROOT):
        return logging.getLogger(ROOT)
    return logging.getLogger(name if name.startswith(f"{ROOT}.") else f"{ROOT}.{name}")


def setup_logging(
    level: str | int = "INFO",
    file: Path | str | None = None,
    *,
    console: "Console | None" = None,
) -> None:
    """Send the package's log to the terminal and optionally to a file; a new call replaces both.

    Args:
        level: Lowest level to show, by name or number.
        file: File to append the log to as plain text; its folder is created.
        console: The rich console of a live display, so that log lines appear above it.

    Raises:
        ConfigError: The level does not exist or the file cannot be written.
    """
    number = _level_number(level)
    handlers = [_terminal_handler(console)]
    if file is not None:
        handlers.append(_file_handler(Path(file)))
    root = logging.getLogger(ROOT)
    while _installed:
        previous = _installed.pop()
        root.removeHandler(previous)
        previous.close()
    for handler in handlers:
        handler.addFilter(_name_source)
        root.addHandler(handler)
        _installed.append(handler)
    root.setLevel(number)


class ThrottledLogger:
    """Logs messages of one key at most once per period, and counts the suppressed ones.

    The caller passes the time, so simulated and replayed time work too.
    """

    def __init__(self, logger: logging.Logger, period: float = 1.0) -> None:
        """Wrap `logger`; `period` is the shortest time between messages of one key in [s]."""
        self._logger = logger
        self._period = period
        self._last: dict[str, float] = {}
        self._suppressed: dict[str, int] = {}

    def log(self, level: int, key: str, message: str, *, now: float) -> bool:
        """Log `message` unless one with this `key` was logged within a period before `now` [s].

        Returns:
            Whether it was logged.
        """
        last = self._last.get(key)
        # Time that runs backwards is a restarted clock: log again.
        if last is not None and 0.0 <= now - last < self._period:
            self._suppressed[key] = self._suppressed.get(key, 0) + 1
            return False
        self._last[key] = now
        suppressed = self._suppressed.pop(key, 0)
        self._logger.log(
            level, "%s", f"{message} ({suppressed} similar)" if suppressed else message
        )
        return True

    def warning(self, key: str, message: str, *, now: float) -> bool:
        """Log a warning, throttled by its key."""
        return self.log(logging.WARNING, key, message, now=now)


def _name_source(record: logging.LogRecord) -> bool:
    """Add the logger's name without the common root to a record."""
    record.source = record.name.removeprefix(f"{ROOT}.")
    return True


def _level_number(level: str | int) -> int:
    if isinstance(level, int):
        return level
    if level.upper() not in LEVELS:
        raise ConfigError(f"no log level named {level!r}{suggestion(level.upper(), LEVELS)}")
    number: int = getattr(logging, level.upper())
    return number


def _terminal_handler(console: "Console | None") -> logging.Handler:
    """Return a rich handler for a terminal, or a plain one if the output is captured."""
    if console is not None or sys.stderr.isatty():
        try:
            from rich.console import Console
            from rich.logging import RichHandler
        except ImportError:
            pass
        else:
            handler: logging.Handler = RichHandler(
                console=console or Console(stderr=True),
                show_path=False,
                log_time_format="%H:%M:%S",
                omit_repeated_times=False,
            )
            handler.setFormatter(logging.Formatter("%(source)s: %(message)s"))
            return handler
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter(PLAIN_FORMAT))
    return handler


def _file_handler(file: Path) -> logging.Handler:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handler = logging.FileHandler(file, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot write the log file {file}: {error.strerror}") from error
    handler.setFormatter(logging.Formatter(PLAIN_FORMAT))
    return handler
