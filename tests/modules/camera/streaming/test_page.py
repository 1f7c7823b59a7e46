# SPDX-License-Identifier: Apache-2.0
"""The viewer page in a real browser, against a real server."""

import dataclasses
import os
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from teleop_system.modules.camera.rgbd_streaming import (
    CodecConfig,
    HeadRequest,
    RGBDStreamServer,
    StreamingConfig,
)
from tests.browser import CHROMIUM, Page, open_browser
from tests.modules.camera.streaming.scenes import TOKEN, FakeCamera, quick_config, scene
from tests.waiting import wait_for

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")

SCREENSHOTS = os.environ.get("TELEOP_SCREENSHOTS")
"""Folder to keep screenshots in, to look at."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Page]:
    with open_browser() as page:
        yield page


@pytest.fixture
def page(browser: Page) -> Iterator[Page]:
    browser.complaints.clear()
    yield browser
    browser.command("Page.navigate", url="about:blank")


def config(**changes: object) -> StreamingConfig:
    return quick_config(silence=20.0, **changes)


def keep(page: Page, name: str, folder: Path) -> Path:
    return page.screenshot(Path(SCREENSHOTS or folder) / f"{name}.png")


PIXEL = (
    "Array.from(document.getElementById('{0}').getContext('2d').getImageData({1},{2},1,1).data)"
)


def pixel_of(page: Page) -> list[int]:
    """Return the colour that the page shows in the middle of the picture."""
    found: list[int] = page.evaluate(PIXEL.format("color", 320, 240))[:3]
    return found


def test_the_page_shows_colour_depth_and_latency(page: Page, tmp_path: Path) -> None:
    camera = FakeCamera(fps=30.0, size=(640, 480))
    with RGBDStreamServer(camera, config(), token=TOKEN) as server:
        page.open(f"{server.url}#token={TOKEN.replace(' ', '%20')}")
        page.wait_for("document.getElementById('state').className === 'live'")
        page.wait_for("/^\\d+ ms$/.test(document.getElementById('latency').textContent)")
        page.wait_for("parseInt(document.getElementById('fps').textContent) > 3")
        keep(page, "page", tmp_path)
        shown = camera.show(scene(640, 480))
        camera._stopping.set()
        page.wait_for("stream.depth && stream.width === 640")
        wait_for(lambda: np.allclose(pixel_of(page), shown.rgb[240, 320], atol=12))
        for row, column in [(240, 320), (470, 10), (5, 5), (100, 600)]:
            depth = page.evaluate(f"stream.depth[{row} * 640 + {column}]")
            # Half a millimetre may be rounded up or down.
            assert abs(depth - 1000.0 * shown.depth[row, column]) <= 0.51
        near = page.evaluate(PIXEL.format("depth", 320, 240))
        far = page.evaluate(PIXEL.format("depth", 10, 60))
        assert near[0] > near[2], "what is near is red"
        assert far[2] > far[0], "what is far is blue"
        assert int(re.findall(r"\d+", page.evaluate("latency.textContent"))[0]) < 2000
    assert not page.complaints
    camera.shutdown()


def test_the_page_asks_for_the_token_and_refuses_a_wrong_one(page: Page, tmp_path: Path) -> None:
    camera = FakeCamera(fps=30.0)
    with RGBDStreamServer(camera, config(), token=TOKEN) as server:
        page.open(server.url)
        page.wait_for("!document.getElementById('login').hidden")
        keep(page, "login", tmp_path)
        submit = "token.value = '{}'; login.requestSubmit()"
        page.evaluate(submit.format("something wrong"))
        page.wait_for("refusal.textContent === 'its token is wrong'")
        assert server.stats().clients == 0
        page.evaluate(submit.format(TOKEN))
        page.wait_for("document.getElementById('state').className === 'live'")
        assert page.evaluate("login.hidden")
    camera.shutdown()


def test_dragging_the_picture_rotates_the_head(page: Page) -> None:
    camera = FakeCamera(fps=30.0)
    requests: list[HeadRequest] = []
    with RGBDStreamServer(camera, config(), on_head=requests.append) as server:
        page.open(server.url)
        page.wait_for("document.getElementById('state').className === 'live'")
        box = page.evaluate("JSON.parse(JSON.stringify(color.getBoundingClientRect()))")
        x, y = box["left"] + box["width"] / 2, box["top"] + box["height"] / 2
        mouse = {"button": "left", "clickCount": 1}
        page.command("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, **mouse)
        page.command("Input.dispatchMouseEvent", type="mouseMoved", x=x + 100, y=y - 40, **mouse)
        wait_for(lambda: bool(requests))
        page.command("Input.dispatchMouseEvent", type="mouseReleased", x=x, y=y, **mouse)
        pan, tilt = requests[-1].angles or (0.0, 0.0)
        # The scene follows the mouse: dragged to the right, the head rotates to the left.
        assert pan == pytest.approx(120.0 / box["width"], rel=0.05)
        assert tilt == pytest.approx(48.0 / box["width"], rel=0.05)
    camera.shutdown()


@pytest.mark.parametrize("color", ["jpeg", "lossless"])
def test_the_page_shows_any_coding_and_a_camera_without_depth(page: Page, color: str) -> None:
    camera = FakeCamera()
    shown = camera.show(dataclasses.replace(scene(), depth=np.zeros((120, 160), np.float32)))
    coding = config(codec=CodecConfig(color=color))  # type: ignore[arg-type]
    with RGBDStreamServer(camera, coding) as server:
        page.open(server.url)
        page.wait_for("state.textContent === 'live, without depth'")
        pixel = page.evaluate(PIXEL.format("color", 20, 100))
        atol = 0 if color == "lossless" else 12
        np.testing.assert_allclose(pixel[:3], shown.rgb[100, 20], atol=atol)
    camera.shutdown()


def test_the_page_reconnects_when_the_server_returns(page: Page) -> None:
    camera = FakeCamera(fps=30.0)
    with RGBDStreamServer(camera, config()) as server:
        page.open(server.url)
        page.wait_for("document.getElementById('state').className === 'live'")
        port = server.address[1]
    page.wait_for("document.getElementById('state').className === 'waiting'")
    with RGBDStreamServer(camera, config(port=port)):
        page.wait_for("document.getElementById('state').className === 'live'")
    camera.shutdown()
