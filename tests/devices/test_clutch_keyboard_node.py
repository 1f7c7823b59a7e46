# SPDX-License-Identifier: Apache-2.0
"""The clutch on a terminal's keys, with a real terminal."""

import os
import pty
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames
from tests.ros2.harness import Bench
from tests.waiting import end_of, run_to_end

MODULE = "teleop_system.devices.clutch_keyboard_node"


class Terminal:
    """A terminal with the node in it."""

    def __init__(self) -> None:
        self._master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", MODULE], stdin=slave, stdout=slave, stderr=slave
        )
        os.close(slave)
        self.shown = ""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def press(self, key: str) -> None:
        os.write(self._master, key.encode())

    def _read(self) -> None:
        try:
            while data := os.read(self._master, 1024):
                self.shown += data.decode(errors="replace")
        except OSError:
            pass  # The terminal ends with the node.

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._thread.join(2.0)
        os.close(self._master)


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    made = Terminal()
    yield made
    made.close()


def test_keys_switch_the_clutch_and_call_services_of_the_robot(terminal: Terminal) -> None:
    requests: list[str] = []

    def answer(_: object, response: Trigger.Response) -> Trigger.Response:
        requests.append("engage")
        response.message = "no fresh inputs"
        return response

    with Bench() as bench:
        bench.node.create_service(Trigger, TopicNames.ENGAGE, answer)
        clutch = bench.listen(Bool, TopicNames.CLUTCH, QoSPreset.COMMAND)
        bench.wait(lambda: "space: clutch" in terminal.shown, lambda: terminal.shown)
        bench.wait(lambda: clutch.count > 3)
        assert not clutch.last.data  # The clutch is open before a key is pressed.
        pressed = time.monotonic()
        terminal.press(" ")
        bench.wait(lambda: clutch.last.data)
        closed = next(t for t, m in zip(clutch.times, clutch.messages, strict=False) if m.data)
        assert closed - pressed < 1.0
        clutch.clear()
        bench.wait(lambda: clutch.count >= 12)
        assert clutch.rate() == pytest.approx(10.0, rel=0.3)
        terminal.press("e")
        bench.wait(lambda: "refused, no fresh inputs" in terminal.shown, lambda: terminal.shown)
        assert requests == ["engage"]
        terminal.press("x")
        bench.wait(lambda: "service /teleop/estop is not available" in terminal.shown)
        terminal.press("q")
        assert end_of(terminal.process) == 0
        bench.wait(lambda: not clutch.last.data)


def test_without_a_terminal_it_fails_with_the_reason() -> None:
    ended = run_to_end([sys.executable, "-m", MODULE], stdin=subprocess.DEVNULL)
    assert ended.returncode == 1
    assert "stdin is not one" in ended.stderr
    assert "Traceback" not in ended.stderr
