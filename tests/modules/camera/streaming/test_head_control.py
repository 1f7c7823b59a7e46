# SPDX-License-Identifier: Apache-2.0

from teleop_system.modules.camera.streaming.head_control import HeadControl, HeadRequest


def request(client: int) -> HeadRequest:
    return HeadRequest(client, None, (0.1, 0.2), 0.0)


def test_the_first_client_has_the_head_until_it_is_silent() -> None:
    received: list[int] = []
    control = HeadControl(lambda item: received.append(item.client), release=1.0)
    assert control.submit(request(1), now=0.0)
    assert not control.submit(request(2), now=0.9)
    assert control.submit(request(1), now=0.95)
    assert not control.submit(request(2), now=1.9)
    assert control.submit(request(2), now=2.0)
    assert not control.submit(request(1), now=2.1)
    assert received == [1, 1, 2]


def test_a_client_that_leaves_frees_the_head_at_once() -> None:
    control = HeadControl(lambda item: None, release=1.0)
    control.submit(request(1), now=0.0)
    control.release(2)
    assert control.owner == 1
    control.release(1)
    assert control.submit(request(2), now=0.1)


def test_without_a_head_every_request_is_dropped() -> None:
    control = HeadControl(None, release=1.0)
    assert not control.submit(request(1), now=0.0)
    assert control.owner is None
