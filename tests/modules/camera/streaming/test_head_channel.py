# SPDX-License-Identifier: Apache-2.0

from teleop_system.modules.camera.streaming.head_channel import HeadChannel, HeadWish


def wish(client: int) -> HeadWish:
    return HeadWish(client, None, (0.1, 0.2), 0.0)


def test_the_first_client_to_move_has_the_head_until_it_is_silent() -> None:
    taken: list[int] = []
    channel = HeadChannel(lambda item: taken.append(item.client), release=1.0)
    assert channel.offer(wish(1), now=0.0)
    assert not channel.offer(wish(2), now=0.9)
    assert channel.offer(wish(1), now=0.95)
    assert not channel.offer(wish(2), now=1.9)
    assert channel.offer(wish(2), now=2.0)
    assert not channel.offer(wish(1), now=2.1)
    assert taken == [1, 1, 2]


def test_a_client_that_leaves_lets_the_head_go_at_once() -> None:
    channel = HeadChannel(lambda item: None, release=1.0)
    channel.offer(wish(1), now=0.0)
    channel.leave(2)
    assert channel.owner == 1
    channel.leave(1)
    assert channel.offer(wish(2), now=0.1)


def test_without_a_head_to_turn_every_wish_is_dropped() -> None:
    channel = HeadChannel(None, release=1.0)
    assert not channel.offer(wish(1), now=0.0)
    assert channel.owner is None
