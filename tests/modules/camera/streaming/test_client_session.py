# SPDX-License-Identifier: Apache-2.0

from teleop_system.modules.camera.rgbd_streaming import RGBDStreamServer
from teleop_system.modules.camera.streaming import wire
from teleop_system.modules.camera.streaming.client_session import IN_FLIGHT
from teleop_system.modules.camera.streaming.wire import MessageType
from tests.modules.camera.streaming.raw_client import RawClient
from tests.modules.camera.streaming.scenes import TOKEN, FakeCamera, quick_config
from tests.waiting import wait_for


def frames_of(raw: RawClient, count: int) -> list[int]:
    found: list[int] = []
    while len(found) < count:
        message = raw.receive()
        if message.header.type is MessageType.FRAME:
            found.append(message.header.sequence)
    return found


def test_a_client_without_acknowledgements_gets_only_the_newest_frame_later() -> None:
    camera = FakeCamera(fps=60.0)
    config = quick_config(fps=60.0, silence=30.0, stall=30.0)
    with RGBDStreamServer(camera, config, token=TOKEN) as server:
        raw = RawClient(server.address[1])
        raw.greet(TOKEN)
        first = frames_of(raw, IN_FLIGHT)
        wait_for(lambda: server.stats().frames > first[-1] + 20)
        assert server.stats().sent == IN_FLIGHT
        # What is shown now must not be the twenty frames that were missed, but the newest.
        raw.send(wire.pack(MessageType.ACK, sequence=first[-1]))
        assert frames_of(raw, 1)[0] > first[-1] + 15
        raw.close()
    camera.shutdown()
