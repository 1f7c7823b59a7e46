# SPDX-License-Identifier: Apache-2.0
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from teleop_system.exceptions import ConfigError
from teleop_system.utils import logger as module
from teleop_system.utils.logger import ThrottledLogger, get_logger, setup_logging


@pytest.fixture(autouse=True)
def _restore() -> Iterator[None]:
    root = logging.getLogger("teleop_system")
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:], root.level = handlers, level
    module._installed.clear()


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("arm", "teleop_system.arm"),
        ("teleop_system.arm", "teleop_system.arm"),
        ("teleop_system", "teleop_system"),
        ("", "teleop_system"),
        ("teleop_systematic", "teleop_system.teleop_systematic"),
    ],
)
def test_logger_is_below_the_root_of_the_package(name: str, full: str) -> None:
    assert get_logger(name).name == full


def test_import_attaches_no_handler() -> None:
    script = (
        "import logging; from teleop_system.utils.logger import get_logger; get_logger('arm');"
        "print(*(len(logging.getLogger(name).handlers) for name in ('', 'teleop_system')))"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == ["0", "0"]


def test_terminal_gets_plain_lines_when_captured(capsys: pytest.CaptureFixture[str]) -> None:
    setup_logging("INFO")
    get_logger("arm").info("ready")
    get_logger("arm").debug("detail")
    captured = capsys.readouterr().err
    assert "INFO     arm: ready" in captured
    assert "detail" not in captured


def test_file_gets_every_line_and_its_folder_is_created(tmp_path: Path) -> None:
    file = tmp_path / "runs/one/log.txt"
    setup_logging(logging.DEBUG, file)
    get_logger("arm").debug("detail")
    assert "DEBUG    arm: detail" in file.read_text(encoding="utf-8")


def test_second_setup_replaces_the_first(capsys: pytest.CaptureFixture[str]) -> None:
    setup_logging("INFO")
    setup_logging("WARNING")
    get_logger().info("quiet")
    get_logger().warning("loud")
    captured = capsys.readouterr().err
    assert "quiet" not in captured
    assert captured.count("loud") == 1


def test_console_of_a_live_display_is_used(tmp_path: Path) -> None:
    with (tmp_path / "screen.txt").open("w", encoding="utf-8") as screen:
        setup_logging("INFO", console=Console(file=screen, width=80))
        get_logger("arm").warning("held [bold]")
    shown = (tmp_path / "screen.txt").read_text(encoding="utf-8")
    assert "WARNING" in shown
    assert "arm: held [bold]" in shown


def test_unknown_level_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(ConfigError, match="did you mean 'WARNING'"):
        setup_logging("warnin")


def test_failed_setup_keeps_the_previous_one(capsys: pytest.CaptureFixture[str]) -> None:
    setup_logging("INFO")
    with pytest.raises(ConfigError, match="cannot write the log file"):
        setup_logging("INFO", "/dev/null/log.txt")
    get_logger().info("still here")
    assert "still here" in capsys.readouterr().err


def test_repeated_message_is_logged_once_a_period_with_its_count(
    caplog: pytest.LogCaptureFixture,
) -> None:
    throttled = ThrottledLogger(get_logger("arm"), period=1.0)
    with caplog.at_level(logging.WARNING, logger="teleop_system"):
        logged = [throttled.warning("stale", "stale", now=0.25 * tick) for tick in range(6)]
    assert logged == [True, False, False, False, True, False]
    assert caplog.messages == ["stale", "stale (3 similar)"]


def test_different_keys_do_not_throttle_each_other(caplog: pytest.LogCaptureFixture) -> None:
    throttled = ThrottledLogger(get_logger("arm"))
    with caplog.at_level(logging.WARNING, logger="teleop_system"):
        throttled.warning("left", "left is stale", now=0.0)
        throttled.warning("right", "right is stale", now=0.0)
    assert caplog.messages == ["left is stale", "right is stale"]


def test_a_clock_that_restarts_does_not_suppress_messages(
    caplog: pytest.LogCaptureFixture,
) -> None:
    throttled = ThrottledLogger(get_logger("arm"), period=1.0)
    with caplog.at_level(logging.WARNING, logger="teleop_system"):
        throttled.warning("stale", "before", now=100.0)
        throttled.warning("stale", "after", now=0.0)
    assert caplog.messages == ["before", "after"]


def test_percent_sign_in_a_message_is_kept(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="teleop_system"):
        ThrottledLogger(get_logger()).warning("load", "load 100%d", now=0.0)
    assert caplog.messages == ["load 100%d"]
