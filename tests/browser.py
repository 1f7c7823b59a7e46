# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven through its debugging protocol."""

import base64
import contextlib
import itertools
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from websockets.sync.client import connect

from tests.waiting import PATIENCE, wait_for

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
"""Path of the browser; None without one."""


class Page:
    """One open page."""

    def __init__(self, socket: Any) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self.complaints: list[str] = []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.command(f"{domain}.enable")

    def command(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command to the browser, and return its answer."""
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self._socket.recv(timeout=PATIENCE))
            self._listen(answer)
            if answer.get("id") == number:
                assert "error" not in answer, answer["error"]
                result: dict[str, Any] = answer["result"]
                return result

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression in the page."""
        answer = self.command(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait_for(self, expression: str) -> None:
        """Wait until an expression is true."""
        wait_for(lambda: self.evaluate(expression), f"never true: {expression}")

    def open(self, url: str) -> None:
        """Open an address."""
        self.command("Page.navigate", url=url)
        self.wait_for(f"document.readyState === 'complete' && location.href.startsWith({url!r})")

    def screenshot(self, path: Path) -> Path:
        """Save a picture of the page."""
        data = self.command("Page.captureScreenshot", format="png")["data"]
        path.write_bytes(base64.b64decode(data))
        return path

    def _listen(self, event: dict[str, Any]) -> None:
        if event.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(str(event["params"]["exceptionDetails"]))
        elif event.get("method") == "Log.entryAdded":
            entry = event["params"]["entry"]
            if entry["level"] == "error":
                self.complaints.append(f"{entry['text']} {entry.get('url', '')}")


@contextlib.contextmanager
def open_browser(width: int = 1280, height: int = 800, *flags: str) -> Iterator[Page]:
    """Yield an empty page; the browser can reach this machine only."""
    assert CHROMIUM is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        process = subprocess.Popen(
            [
                CHROMIUM,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--remote-debugging-port=0",
                "--remote-allow-origins=*",
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
                f"--user-data-dir={folder}",
                f"--window-size={width},{height}",
                "--no-first-run",
                *flags,
                "about:blank",
            ],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        )
        try:
            with connect(_page_address(process), max_size=None) as socket:
                yield Page(socket)
        finally:
            process.terminate()
            try:
                process.wait(20.0)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _page_address(process: "subprocess.Popen[str]") -> str:
    assert process.stderr is not None
    for line in process.stderr:
        if found := re.search(r"ws://([\d.:]+)/", line):
            break
    else:
        raise AssertionError("Chromium did not start")
    browser = line[line.index("ws://") :].strip()
    with connect(browser, max_size=None) as socket:
        socket.send(json.dumps({"id": 1, "method": "Target.getTargets"}))
        while (answer := json.loads(socket.recv(timeout=PATIENCE))).get("id") != 1:
            pass
    pages = [t for t in answer["result"]["targetInfos"] if t["type"] == "page"]
    return f"ws://{found.group(1)}/devtools/page/{pages[0]['targetId']}"
